/** Two calls of one engine that hear each other. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transcodeG711, type Codec, type MediaEngine } from '../../src/index.ts';
import { until } from '../kit/agents.ts';
import { join, type Line, mediaTo, noise, openEngine, openLine, passes } from './kit/lines.ts';

let ours: MediaEngine;
let theirs: MediaEngine;
beforeAll(() => {
  ours = openEngine();
  theirs = openEngine();
});
afterAll(async () => {
  await Promise.all([ours.close(), theirs.close()]);
});

interface Bridged {
  /** Our two legs. */
  readonly legs: readonly [Line, Line];
  /** Who is at their far ends. */
  readonly people: readonly [Line, Line];
}

const payloadTypes: Record<Codec, number> = { PCMU: 0, PCMA: 8 };

/** Two calls, each between our engine and somebody, bridged. */
async function bridged(codecs: readonly [Codec, Codec] = ['PCMU', 'PCMU']): Promise<Bridged> {
  const made = await Promise.all(
    codecs.map(async (codec) => {
      const [leg, person] = await Promise.all([openLine(ours), openLine(theirs)]);
      join(leg, person, { codec, payloadType: payloadTypes[codec] });
      return { leg, person };
    }),
  );
  const [a, b] = made as [(typeof made)[0], (typeof made)[0]];
  a.leg.call.bridge(b.leg.call);
  return { legs: [a.leg, b.leg], people: [a.person, b.person] };
}

/** Plays the audio until the other one heard it in the law of its own leg. */
async function reaches(from: Line, to: Line, audio: Buffer, heard: Buffer): Promise<boolean> {
  for (let turn = 0; turn < 5 && !to.heard().includes(heard); turn += 1) {
    from.call.play(audio);
    await from.call.mark();
    const ticks = to.kinds.length;
    await until(() => to.heard().includes(heard) || to.kinds.length > ticks + 20, 'the rest of it');
  }
  return to.heard().includes(heard);
}

describe('a bridge', () => {
  test('carries the sound of each to the other, to the bit', async () => {
    const { people } = await bridged();
    const [a, b] = people;
    expect(await passes(a, b, noise(600, 1))).toBe(true);
    expect(await passes(b, a, noise(600, 2))).toBe(true);
  });

  test('transcodes where the two legs speak different laws', async () => {
    const { people } = await bridged(['PCMU', 'PCMA']);
    const [a, b] = people;
    const audio = noise(400, 3);
    expect(await reaches(a, b, audio, Buffer.from(transcodeG711('PCMU', 'PCMA', audio)))).toBe(true);
    expect(await reaches(b, a, audio, Buffer.from(transcodeG711('PCMA', 'PCMU', audio)))).toBe(true);
  });

  test('passes key presses on, each once', async () => {
    const { people } = await bridged();
    const [a, b] = people;
    a.call.dial('42#');
    await until(() => b.events.filter(({ kind }) => kind === 'key').length === 3, 'the keys');
    expect(b.events.flatMap((event) => (event.kind === 'key' ? [event.key] : []))).toEqual(['4', '2', '#']);
    expect(a.events.some(({ kind }) => kind === 'key')).toBe(false);
  });

  test('our own words go first, and their account is not disturbed', async () => {
    const { legs, people } = await bridged();
    const [leg] = legs;
    const [a, b] = people;
    b.call.play(noise(2_000, 4));
    const words = noise(200, 5);
    expect(await passes(leg, a, words)).toBe(true);
    expect(leg.call.played() % 200).toBe(0);
    expect(leg.call.queued()).toBe(0);
  });

  test('ends with either call; the other one stays', async () => {
    const { legs, people } = await bridged();
    const [first, second] = legs;
    const [a, b] = people;
    expect(await passes(a, b, noise(200, 6))).toBe(true);
    await first.call.close();
    expect(await passes(second, b, noise(200, 7))).toBe(true);
    second.call.bridge(first.call);
    expect(await passes(b, second, noise(200, 8))).toBe(true);
  });

  test('delays little, also after a side did not want to hear for a while', async () => {
    const { legs, people } = await bridged();
    const [a, b] = people;
    // On hold: nothing is sent to it, and what is not sent must not pile up.
    legs[1].call.connect(mediaTo(b.call.port, { direction: 'inactive' }));
    a.call.play(noise(1_000, 9));
    await a.call.mark();
    legs[1].call.connect(mediaTo(b.call.port));
    const late = noise(100, 10);
    const before = b.heard().length;
    a.call.play(late);
    await until(() => b.heard().includes(late.subarray(160, 480)), 'what was said after the hold');
    // 100 ms of sound, two jitter buffers, the bridge: far from the second that was not heard.
    expect(b.heard().length - before).toBeLessThan(600 * 8);
  });
});
