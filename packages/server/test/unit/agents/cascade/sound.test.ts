import { array, assert as assertProperty, constantFrom, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Resampler } from '../../../../src/agents/audio/resampler.ts';
import { LineResampler } from '../../../../src/agents/cascade/line-resampler.ts';
import { openVoiceDetector } from '../../../../src/agents/cascade/voice-detector.ts';
import { espeakMissing, speakFixtures } from '../../../fakes/spoken-fixtures.ts';

describe('the resampler of sound that comes in pieces', () => {
  it('gives what it would give of the whole, however the pieces are cut', () => {
    const rate = constantFrom(8_000, 16_000, 22_050, 24_000, 44_100, 48_000);
    const cuts = array(integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 12 });
    assertProperty(
      property(rate, cuts, (rate, lengths) => {
        const total = lengths.reduce((sum, length) => sum + length, 0);
        const samples = Int16Array.from(
          { length: total },
          (_, at) => 8_000 * Math.sin(at / 9) + 3_000 * Math.sin(at / 2),
        );
        const pieces = new LineResampler(rate);
        const found: number[] = [];
        let at = 0;
        for (const length of lengths) found.push(...pieces.take(samples.subarray(at, (at += length))));
        found.push(...pieces.finish());
        expect(found).toEqual([...new Resampler(rate).run(samples)]);
      }),
      { numRuns: 40 },
    );
  });
});

const frameSize = 160;

async function changesIn(samples: Int16Array): Promise<{ what: 'began' | 'paused'; atMs: number }[]> {
  const detector = await openVoiceDetector();
  const changes: { what: 'began' | 'paused'; atMs: number }[] = [];
  for (let at = 0; at + frameSize <= samples.length; at += frameSize) {
    const what = detector.next(samples.slice(at, at + frameSize));
    if (what !== null) changes.push({ what, atMs: (at + frameSize) / 8 });
  }
  detector.close();
  return changes;
}

/** A second of quiet, the speech, a second of quiet; noise of this loudness on all of it. */
function onLine(speech: Int16Array, loudness: number): Int16Array {
  let state = 1;
  return Int16Array.from({ length: speech.length + 16_000 }, (_, at) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (speech[at - 8_000] ?? 0) + loudness * (state / 2_147_483_648 - 1);
  });
}

describe.skipIf(espeakMissing)('the voice detector', () => {
  it.each([0, 30, 300])('hears speech begin and end above noise of %i', async (loudness) => {
    const [speech] = (await speakFixtures(['The evening is best.'], 'en-US')).values();
    if (speech === undefined) throw new Error('no speech');
    const changes = await changesIn(onLine(speech, loudness));
    expect(changes.map(({ what }) => what)).toEqual(['began', 'paused']);
    const [began, paused] = changes;
    expect(began?.atMs).toBeGreaterThan(1_000);
    expect(began?.atMs).toBeLessThan(1_350);
    const endMs = 1_000 + speech.findLastIndex((sample) => Math.abs(sample) > 500) / 8;
    expect((paused?.atMs ?? 0) - endMs).toBeGreaterThan(150);
    expect((paused?.atMs ?? 0) - endMs).toBeLessThan(550);
  });

  it('takes noise, clicks and silence for no voice', async () => {
    expect(await changesIn(onLine(new Int16Array(32_000), 300))).toEqual([]);
    const clicks = Int16Array.from({ length: 32_000 }, (_, at) => (at % 4_000 < 40 ? 12_000 : 0));
    expect(await changesIn(onLine(clicks, 10))).toEqual([]);
  });
});
