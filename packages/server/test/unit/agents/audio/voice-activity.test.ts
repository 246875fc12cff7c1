import { describe, expect, it } from 'vitest';
import { hangOverMs, VoiceActivity } from '../../../../src/agents/audio/voice-activity.ts';

const frameMs = 20;

/** One part of what is on the line: so long, so loud (decibels of full scale; null for digital silence). */
type Part = readonly [ms: number, levelDb: number | null];

/** Noise of a level: repeatable, between ±√3 times the root mean square. */
function createNoise(): (levelDb: number | null) => Int16Array {
  let state = 3;
  return (levelDb) => {
    const peak = levelDb === null ? 0 : Math.sqrt(3) * 32_768 * 10 ** (levelDb / 20);
    return Int16Array.from({ length: 160 }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.max(-32_768, Math.min(32_767, peak * (state / 1_073_741_824 - 1)));
    });
  };
}

/** When voices began and ended, milliseconds. */
function listen(parts: readonly Part[], voice = new VoiceActivity()): string[] {
  const noise = createNoise();
  const found: string[] = [];
  let now = 0;
  for (const [ms, levelDb] of parts) {
    for (let passed = 0; passed < ms; passed += frameMs) {
      now += frameMs;
      const change = voice.next(noise(levelDb));
      if (change === 'began') found.push(`from ${now - voice.lastingMs}`);
      if (change === 'ended') found.push(`to ${now - hangOverMs}`);
    }
  }
  return found;
}

/** Syllables with short gaps, as speech has. */
function speech(ms: number, levelDb: number, noiseDb: number | null): Part[] {
  return Array.from({ length: ms / 200 }, () => [[160, levelDb] as const, [40, noiseDb] as const]).flat();
}

describe('a voice', () => {
  it.each([null, -70, -60, -50, -40])('is told from noise of %s dB, with its times', (noiseDb) => {
    const found = listen([[1_000, noiseDb], ...speech(1_000, -22, noiseDb), [1_500, noiseDb]]);
    expect(found).toEqual(['from 1000', 'to 1960']);
  });

  it('is found from the first moment of the line on', () => {
    expect(listen([...speech(1_200, -20, -55), [1_000, -55]])).toEqual(['from 0', 'to 1160']);
  });

  it('goes on over pauses up to the hang-over, and is two beyond it', () => {
    const quiet = (ms: number): Part => [ms, -60];
    const words = speech(600, -20, -60);
    expect(listen([quiet(500), ...words, quiet(600), ...words, quiet(1_000)])).toEqual([
      'from 500',
      'to 2260',
    ]);
    expect(listen([quiet(500), ...words, quiet(760), ...words, quiet(1_000)])).toHaveLength(4);
  });

  it('is not what is shorter than 200 ms', () => {
    expect(
      listen([
        [1_000, -60],
        [160, -15],
        [1_500, -60],
        [100, -15],
        [1_000, -60],
      ]),
    ).toEqual([]);
  });
});

describe('no voice', () => {
  it.each([-60, -45, -35, -25])('is a steady noise of %i dB, however long', (noiseDb) => {
    expect(listen([[20_000, noiseDb]])).toEqual([]);
  });

  it('is what is fainter than any speaker', () => {
    expect(listen([[1_000, -75], ...speech(2_000, -50, -75), [1_000, -75]])).toEqual([]);
  });

  it('is noise that becomes louder, for longer than two seconds', () => {
    const found = listen([
      [3_000, -60],
      [20_000, -35],
    ]);
    expect(found).toHaveLength(2);
    expect(Number(found[1]?.slice(3))).toBeLessThan(5_100);
  });

  it('is left after a reset, and the noise is still known', () => {
    const voice = new VoiceActivity();
    listen([[1_000, -40], ...speech(600, -20, -40)], voice);
    expect(voice.speaking).toBe(true);
    voice.reset();
    expect(voice).toMatchObject({ speaking: false, lastingMs: 0 });
    expect(listen([[5_000, -40]], voice)).toEqual([]);
  });
});
