import { describe, expect, it } from 'vitest';
import { levelled, lineRate, Resampler } from '../../../../src/agents/audio/resampler.ts';

function sine(frequency: number, rate: number, seconds = 0.5, amplitude = 10_000): Int16Array {
  return Int16Array.from({ length: Math.round(rate * seconds) }, (_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * frequency * at) / rate)),
  );
}

/** The amplitude of one frequency (Goertzel), without the edges, where the filter has half its input. */
function amplitudeAt(frequency: number, samples: Int16Array): number {
  const middle = samples.subarray(400, samples.length - 400);
  const factor = 2 * Math.cos((2 * Math.PI * frequency) / lineRate);
  let previous = 0;
  let beforeThat = 0;
  for (const sample of middle) [previous, beforeThat] = [sample + factor * previous - beforeThat, previous];
  const power = previous ** 2 + beforeThat ** 2 - factor * previous * beforeThat;
  return (2 * Math.sqrt(power)) / middle.length;
}

function rms(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

const decibels = (ratio: number) => 20 * Math.log10(ratio);

describe.each([11_025, 16_000, 22_050, 44_100, 48_000])('from %i samples a second', (rate) => {
  const resampler = new Resampler(rate);

  it.each([300, 1_000, 2_000, 3_000])('%i Hz pass unchanged', (frequency) => {
    const heard = amplitudeAt(frequency, resampler.run(sine(frequency, rate)));
    expect(Math.abs(decibels(heard / 10_000))).toBeLessThan(0.2);
  });

  it.each([4_300, 5_000, 5_400].filter((frequency) => frequency < rate / 2))(
    '%i Hz do not fold back into what is heard',
    (frequency) => {
      const output = resampler.run(sine(frequency, rate));
      const middle = output.subarray(400, output.length - 400);
      expect(decibels(rms(middle) / (10_000 / Math.SQRT2))).toBeLessThan(-60);
    },
  );

  it('lasts as long as it did', () => {
    const seconds = resampler.run(sine(440, rate, 1)).length / lineRate;
    expect(Math.abs(seconds - 1)).toBeLessThan(0.001);
  });

  it('leaves nothing but the sine: noise and images stay 60 dB below', () => {
    const output = resampler.run(sine(1_000, rate));
    const middle = output.subarray(400, output.length - 400);
    const whole = rms(middle) ** 2;
    const tone = amplitudeAt(1_000, output) ** 2 / 2;
    expect(10 * Math.log10(Math.max(whole - tone, 1e-9) / whole)).toBeLessThan(-35);
  });
});

it('does not overflow on the loudest input', () => {
  const loud = Int16Array.from({ length: 22_050 }, (_, at) =>
    Math.floor(at / 25) % 2 === 0 ? 32_767 : -32_768,
  );
  const output = new Resampler(22_050).run(loud);
  expect(output.every((sample, at) => at === 0 || Math.abs(sample - (output[at - 1] ?? 0)) < 65_000)).toBe(
    true,
  );
  expect(Math.max(...output)).toBe(32_767);
});

describe('the level', () => {
  it.each([200, 3_000, 30_000])('of speech with peaks of %i becomes that of a line', (amplitude) => {
    expect(rms(levelled(sine(440, lineRate, 0.5, amplitude)))).toBeCloseTo(3_200, -2);
  });

  it('never clips, and silence stays silence', () => {
    const click = new Int16Array(8_000);
    click[4_000] = 20_000;
    expect(Math.max(...levelled(click))).toBeLessThanOrEqual(28_000);
    expect(levelled(new Int16Array(100))).toEqual(new Int16Array(100));
    expect(levelled(new Int16Array(0))).toHaveLength(0);
  });
});
