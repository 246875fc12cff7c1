import { describe, expect, test } from 'vitest';
import { encodeG711, FRAME_SAMPLES } from '../../src/media/g711.ts';
import { KEYS } from '../../src/media/telephone-events.ts';
import { keyTone } from '../../src/media/tones/key-tones.ts';
import { type ToneEvent, type ToneKind, ToneListener } from '../../src/media/tones/listener.ts';
import { sines } from '../../src/media/tones/synthesis.ts';
import { SeededRandom } from '../kit/seeded-random.ts';

const MS = 8;

function concat(parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

function tone(ms: number, ...frequencies: number[]): Int16Array {
  return sines(frequencies, ms * MS, frequencies.length === 0 ? 0 : 6_000 / frequencies.length);
}

function pause(ms: number): Int16Array {
  return new Int16Array(ms * MS);
}

/** Feeds audio as µ-law frames, beginning after a pause that decides how its edges fall on the frames. */
function hear(kinds: readonly ToneKind[], audio: Int16Array, noise = 0, leadMs = 53): ToneEvent[] {
  const listener = new ToneListener();
  listener.listen(kinds);
  const random = new SeededRandom(5);
  const whole = concat([pause(leadMs), audio, pause(400)]).map(
    (sample) => sample + (random.next() - 0.5) * noise,
  );
  const codes = encodeG711('PCMU', whole);
  const events: ToneEvent[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= codes.length; at += FRAME_SAMPLES) {
    events.push(...listener.hear('PCMU', codes.subarray(at, at + FRAME_SAMPLES)));
  }
  return events;
}

/** Something like speech: a gliding pitch with ten harmonics, syllables, and noise between them. */
function speech(ms: number, seed: number): Int16Array {
  const random = new SeededRandom(seed);
  let phase = 0;
  let pitch = 120;
  let weights = Array.from({ length: 12 }, () => random.next());
  return Int16Array.from({ length: ms * MS }, (_, at) => {
    if (at % 800 === 0) weights = weights.map(() => random.next() ** 2);
    pitch = Math.min(260, Math.max(90, pitch + (random.next() - 0.5) * 0.8));
    phase += (2 * Math.PI * pitch) / 8_000;
    const syllable = Math.max(0, Math.sin((2 * Math.PI * at) / 2_400));
    const voiced = weights.reduce((sum, weight, index) => sum + weight * Math.sin(phase * (index + 1)), 0);
    return Math.round(syllable * voiced * 1_500 + (random.next() - 0.5) * 400);
  });
}

describe('keys', () => {
  test.each(Array.from(KEYS))('key %s is heard once, clean and in noise', (key) => {
    const audio = keyTone(key, 100 * MS, 0);
    expect(hear(['keys'], audio)).toMatchObject([{ kind: 'key', key }]);
    expect(hear(['keys'], audio, 2_000)).toMatchObject([{ kind: 'key', key }]);
  });

  test('a number that is dialled quickly comes out in order', () => {
    const audio = concat(Array.from('18005550199').flatMap((key) => [keyTone(key, 70 * MS, 0), pause(60)]));
    const keys = hear(['keys'], audio).map((event) => event.kind === 'key' && event.key);
    expect(keys.join('')).toBe('18005550199');
  });

  test('single tones and ringing are no keys', () => {
    const audio = concat([tone(300, 697), pause(60), tone(300, 1_336), pause(60), tone(900, 440, 480)]);
    expect(hear(['keys'], audio)).toEqual([]);
  });
});

describe('progress', () => {
  test.each([
    ['North America', [tone(2_000, 440, 480), pause(4_000)]],
    ['continental Europe', [tone(1_000, 425), pause(4_000)]],
    ['Britain', [tone(400, 400, 450), pause(200), tone(400, 400, 450), pause(2_000)]],
  ])('the ringback of %s is told once per ring', (_, ring) => {
    for (let leadMs = 40; leadMs < 60; leadMs += 3) {
      const events = hear(['progress'], concat([...ring, ...ring, ...ring]), 0, leadMs);
      expect(events).toEqual(Array.from({ length: 3 }, () => ({ kind: 'progress', tone: 'ringback' })));
    }
  });

  test.each([
    ['busy of North America', 500, [480, 620]],
    ['congestion of North America', 250, [480, 620]],
    ['busy of Europe', 500, [425]],
    ['congestion of Europe', 240, [425]],
    ['busy of Britain', 375, [400]],
  ])('%s is busy', (_, ms, frequencies) => {
    const signal = concat(Array.from({ length: 5 }, () => [tone(ms, ...frequencies), pause(ms)]).flat());
    for (let leadMs = 40; leadMs < 60; leadMs += 3) {
      expect(hear(['progress'], signal, 0, leadMs)).toEqual([{ kind: 'progress', tone: 'busy' }]);
    }
  });

  test.each([
    [330, 330, 330],
    [274, 380, 380],
    [380, 274, 380],
  ])('a SIT of %i, %i and %i ms is special information', (first, second, third) => {
    const audio = concat([tone(first, 950), pause(20), tone(second, 1_400), tone(third, 1_800), pause(500)]);
    for (let leadMs = 40; leadMs < 60; leadMs += 3) {
      for (const kinds of [['progress'], ['information'], ['information', 'beep']] as const) {
        expect(hear(kinds, audio, 200, leadMs)).toEqual([{ kind: 'progress', tone: 'special_information' }]);
      }
    }
  });

  test('a beep as high as the first tone of a SIT is told as well, when no other tone follows', () => {
    for (const hertz of [950, 1_000, 1_400, 1_800]) {
      expect(hear(['information', 'beep'], tone(400, hertz), 200)).toMatchObject([{ kind: 'beep' }]);
    }
  });

  test('ringing and a busy signal are no information', () => {
    const busy = Array.from({ length: 5 }, () => [tone(500, 480, 620), pause(500)]).flat();
    const audio = concat([tone(2_000, 440, 480), pause(1_000), ...busy]);
    expect(hear(['information', 'beep'], audio)).toEqual([]);
  });
});

describe('beep', () => {
  test.each([
    [440, 200],
    [1_000, 500],
    [1_400, 150],
    [2_000, 1_000],
  ])('a beep of %i Hz and %i ms is heard when it is over', (frequency, ms) => {
    const events = hear(['beep'], tone(ms, frequency), 300);
    expect(events).toMatchObject([{ kind: 'beep' }]);
    const [beep] = events;
    if (beep?.kind !== 'beep') throw new Error('no beep');
    expect(Math.abs(beep.frequency / frequency - 1)).toBeLessThan(0.02);
    expect(Math.abs(beep.durationMs - ms)).toBeLessThanOrEqual(40);
  });

  test('a beep behind a greeting is the only one', () => {
    const audio = concat([speech(4_000, 11), pause(200), tone(400, 1_000), pause(300)]);
    expect(hear(['beep'], audio)).toMatchObject([{ kind: 'beep' }]);
  });

  test('short clicks, key tones and two-tone signals are no beep', () => {
    const audio = concat([
      tone(60, 1_000),
      pause(100),
      keyTone('5', 3_000, 0),
      pause(100),
      tone(800, 440, 620),
    ]);
    expect(hear(['beep'], audio)).toEqual([]);
  });
});

test('a minute of something like speech makes no event of any kind', () => {
  for (let seed = 1; seed <= 6; seed += 1) {
    expect(hear(['keys', 'progress', 'information', 'beep'], speech(10_000, seed))).toEqual([]);
  }
});

test('who asked for nothing is told nothing', () => {
  expect(hear([], keyTone('1', 800, 0))).toEqual([]);
});
