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
