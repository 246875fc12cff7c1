import { expect, test } from 'vitest';
import { createKeyWatch, createProviderKeys, rejectedKeys } from '../../../src/platform/key-watch.ts';
import { createManualClock } from '../../kit/manual-clock.ts';

const told = 'the provider rejected the key in TRUNKCALL_CHAT_API_KEY';

function start() {
  const clock = createManualClock(Infinity);
  return { clock, key: createKeyWatch(clock, 'TRUNKCALL_CHAT_API_KEY') };
}

test.each([401, 403])('a key that is refused with %i is rejected until the provider takes it', (status) => {
  const { clock, key } = start();
  expect(key.rejection()).toBeNull();
  key.saw(status);
  expect(key.rejection()).toBe(told);
  clock.advance(3_600_000);
  expect(key.rejection()).toBe(told);
  key.saw(200);
  expect(key.rejection()).toBeNull();
});

test('it holds up new calls for a minute after each rejection, then one may try', () => {
  const { clock, key } = start();
  key.saw(401);
  expect(key.obstacle()).toBe(told);
  clock.advance(60_000);
  expect(key.obstacle()).toBeNull();
  key.saw(401);
  expect(key.obstacle()).toBe(told);
  key.saw(101);
  expect(key.obstacle()).toBeNull();
});

test('of many calls one tries a rejected key, and each try that fails doubles the pause, up to ten minutes', () => {
  const { clock, key } = start();
  key.tries();
  expect(key.obstacle()).toBeNull();
  const minutes: number[] = [];
  for (let tries = 0; tries < 6; tries += 1) {
    // Of several calls that were under way all are rejected.
    for (let call = 0; call < 3; call += 1) key.saw(401);
    let waited = 0;
    for (; key.obstacle() !== null; waited += 1) clock.advance(60_000);
    minutes.push(waited);
    key.tries();
    expect(key.obstacle()).toBe(told);
  }
  expect(minutes).toEqual([1, 2, 4, 8, 10, 10]);
  // A try that shows nothing, such as a callee who does not answer, is followed by another after a minute.
  clock.advance(60_000);
  expect(key.obstacle()).toBeNull();
  key.saw(101);
  key.saw(401);
  clock.advance(60_000);
  expect(key.obstacle()).toBeNull();
});

test.each([400, 404, 429, 500])('a fault with %i says nothing of the key', (status) => {
  const { key } = start();
  key.saw(status);
  expect(key.rejection()).toBeNull();
  key.saw(401);
  key.saw(status);
  expect(key.rejection()).toBe(told);
});

test('the rejected ones of all keys are named', () => {
  const keys = createProviderKeys(createManualClock(Infinity));
  expect(rejectedKeys(keys)).toEqual([]);
  keys.speech.saw(403);
  expect(rejectedKeys(keys)).toEqual(['the provider rejected the key in TRUNKCALL_SPEECH_API_KEY']);
});
