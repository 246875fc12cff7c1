import { expect, it } from 'vitest';
import { Line, saidAfter, speechMs } from '../../../src/carriers/simulated/line.ts';
import { VirtualTime } from '../../../src/carriers/simulated/virtual-time.ts';
import { systemClock } from '../../../src/platform/clock.ts';

const end = { reason: 'hung_up', endedBy: 'us', sipStatus: null, q850: 16 } as const;
const sentence = 'One two three four five six seven eight nine ten.';

function open() {
  const time = new VirtualTime(systemClock, Infinity);
  const line = new Line(time);
  const wait = (ms: number) => time.whileWaiting(time.sleep(ms));
  return { time, line, wait };
}

it('a sentence takes the time of its length and is heard when it is over', async () => {
  const { line, wait } = open();
  const spoken = line.us.say('Hello.');
  const hearing = line.callee.hear(5_000);
  await wait(2_000);
  expect(await spoken).toEqual({
    heard: 'Hello.',
    startedAtMs: 0,
    endedAtMs: speechMs('Hello.'),
    interrupted: false,
  });
  expect(await hearing).toMatchObject({ kind: 'utterance', text: 'Hello.' });
});

it('L1, L2: who starts to speak cuts the other short, at a whole word', async () => {
  const { line, wait } = open();
  const spoken = line.us.say(sentence);
  await wait(1_500);
  const interruption = line.callee.say('Stop.');
  expect(await spoken).toMatchObject({ heard: 'One two three', interrupted: true, endedAtMs: 1_500 });
  await wait(2_000);
  expect(await interruption).toMatchObject({ heard: 'Stop.', interrupted: false });
});

it('L1: our side never starts over a speaking person', async () => {
  const { line, wait } = open();
  const theirs = line.callee.say(sentence);
  expect(await line.us.say('Hello.')).toMatchObject({ heard: '', interrupted: true });
  await wait(10_000);
  expect(await theirs).toMatchObject({ interrupted: false });
});

it('L3: who began to speak in time is heard out', async () => {
  const { line, wait } = open();
  const hearing = line.us.hear(100);
  await wait(99);
  void line.callee.say(sentence);
  await wait(10_000);
  expect(await hearing).toMatchObject({ kind: 'utterance', text: sentence });
});

it('L3: a wait ends when the sentence that it waited for comes to nothing', async () => {
  const { line, wait } = open();
  const hearing = line.callee.hear(100);
  await wait(99);
  void line.us.say(sentence);
  await wait(2);
  void line.callee.say('No.');
  expect(await hearing).toEqual({ kind: 'silence' });
});

it('L4: what was heard before the end can be fetched after it, the cut sentence too', async () => {
  const { line, wait } = open();
  void line.callee.say('Never call me again.');
  await wait(5_000);
  void line.callee.say(sentence);
  await wait(1_500);
  line.end(end);
  expect(await line.us.hear(1_000)).toMatchObject({ text: 'Never call me again.' });
  expect(await line.us.hear(1_000)).toMatchObject({ text: 'One two three' });
  expect(await line.us.hear(1_000)).toEqual({ kind: 'left' });
});

it('keeps the last 32 sounds that nobody listened to', async () => {
  const { line } = open();
  for (let atMs = 0; atMs < 40; atMs += 1) line.callee.emit({ kind: 'beep', atMs });
  const kept: unknown[] = [];
  for (let index = 0; index < 32; index += 1) kept.push(await line.us.hear(0));
  expect(kept[0]).toEqual({ kind: 'beep', atMs: 8 });
  expect(kept[31]).toEqual({ kind: 'beep', atMs: 39 });
});

it('saidAfter never cuts a word', () => {
  expect(saidAfter(sentence, 0)).toBe('');
  expect(saidAfter(sentence, 100_000)).toBe(sentence);
  for (let ms = 0; ms < 5_000; ms += 37) {
    const said = saidAfter(sentence, ms);
    expect(sentence.startsWith(said)).toBe(true);
    expect(['', ' ', undefined]).toContain(said === '' ? '' : sentence[said.length]);
  }
});
