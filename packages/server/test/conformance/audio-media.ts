/** What a leg that carries sound must do, beside what every carrier must (`carrier.ts`). */
import { decodeG711 } from '@trunkcall/sip';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AudioMedia, Leg } from '../../src/carriers/carrier.ts';
import { assert } from '../../src/platform/assert.ts';
import { until } from '../kit/until.ts';
import type { Phones } from './carrier.ts';
import { placingOn, type Build, type CarrierUnderTest, type Placing } from './placing.ts';

export interface AudioPhones extends Phones {
  /** Answers, and hangs up soon after. */
  readonly hangsUp: string;
  /** Answers and sends back what it hears. */
  readonly echoes: string;
  /** Answers and at once presses 1, 2 and 3. */
  readonly presses: string;
  /** Answers, and presses 9 when it hears the key 2. */
  readonly menu: string;
  /** Answers, and plays the beep of an answering machine after a second. */
  readonly beeps: string;
  /** Answers, and plays the tones before an announcement after a second; null where no network is that has any. */
  readonly announces: string | null;
}

/** A sound that no line makes by itself: 160 bytes that are loud and never alike. */
function noise(milliseconds: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length: milliseconds * 8 }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (state >> 16) & 0x8f;
  });
}

interface Heard {
  readonly frames: Uint8Array[];
  readonly keys: string[];
  beeps: number;
  informationTones: number;
}

function hear(leg: Leg<AudioMedia>): Heard {
  const heard: Heard = { frames: [], keys: [], beeps: 0, informationTones: 0 };
  leg.media.listen({
    frame: (frame) => heard.frames.push(frame),
    key: (key) => heard.keys.push(key),
    beep: () => (heard.beeps += 1),
    informationTone: () => (heard.informationTones += 1),
  });
  return heard;
}

function loudness(law: 'mu' | 'a', frame: Uint8Array): number {
  const samples = decodeG711(law === 'mu' ? 'PCMU' : 'PCMA', frame);
  return Math.max(...samples.map((sample) => Math.abs(sample)));
}

/** `hasNetwork`: between the phones is a network that announces. */
export function audioConformance(
  name: string,
  build: Build<AudioMedia, AudioPhones>,
  { hasNetwork }: { readonly hasNetwork: boolean },
): void {
  describe(`sound over the carrier ${name}`, () => {
    let underTest: CarrierUnderTest<AudioMedia, AudioPhones>;
    let placing: Placing<AudioMedia>;

    beforeEach(async () => {
      underTest = await build();
      placing = placingOn(underTest);
    });
    afterEach(async () => {
      await underTest.carrier.close();
      await underTest.close?.();
    });

    it('C4: a callee who hangs up ends the leg', async () => {
      const leg = await placing.answered(underTest.phones.hangsUp);
      expect(await leg.ended).toMatchObject({ reason: 'hung_up', endedBy: 'callee' });
      expect(await leg.hangUp()).toMatchObject({ endedBy: 'callee' });
    });

    it('C4: after the end nothing is played and nothing waits', async () => {
      const leg = await placing.answered(underTest.phones.silent);
      leg.media.play(noise(5_000));
      const mark = leg.media.mark();
      await leg.hangUp();
      expect(await mark).toBe('cleared');
      expect(leg.media.play(noise(20))).toBe(false);
      expect(await leg.media.mark()).toBe('cleared');
      expect(await leg.media.clear()).toMatchObject({ droppedMs: 0 });
      await leg.media.sendDigits('1');
      leg.media.listen({
        frame: () => undefined,
        key: () => undefined,
        beep: () => undefined,
        informationTone: () => undefined,
      });
    });

    it('frames of 20 ms come, also while the callee is silent', async () => {
      const leg = await placing.answered(underTest.phones.silent);
      const { frames } = hear(leg);
      const from = leg.clock.now();
      await until(() => frames.length >= 25, 'half a second of frames');
      expect(frames.every((frame) => frame.length === 160)).toBe(true);
      expect(leg.clock.now() - from).toBeGreaterThan(300);
    });

    it('what is played reaches the callee, is counted, and passes its mark', async () => {
      const leg = await placing.answered(underTest.phones.echoes);
      const { frames } = hear(leg);
      expect(leg.media.play(noise(400))).toBe(true);
      expect(await leg.media.mark()).toBe('played');
      expect(leg.media.playedMs()).toBeGreaterThanOrEqual(400);
      await until(
        () => frames.some((frame) => loudness(leg.media.law, frame) > 4_000),
        'the echo of what was played',
      );
    });

    it('clearing drops what waits, and says how much was played', async () => {
      const leg = await placing.answered(underTest.phones.silent);
      leg.media.play(noise(10_000));
      const mark = leg.media.mark();
      await until(() => leg.media.playedMs() >= 100, 'a tenth of a second of sound');
      const { playedMs, droppedMs } = await leg.media.clear();
      expect(await mark).toBe('cleared');
      expect(playedMs).toBeGreaterThanOrEqual(100);
      expect(playedMs + droppedMs).toBe(10_000);
    });

    it('more than two minutes do not fit', async () => {
      const leg = await placing.answered(underTest.phones.silent);
      expect(leg.media.play(noise(119_000))).toBe(true);
      expect(leg.media.play(noise(2_000))).toBe(false);
    });

    it('keys are heard, also those pressed before somebody listened', async () => {
      const leg = await placing.answered(underTest.phones.presses);
      await leg.clock.sleep(1_000);
      const { keys } = hear(leg);
      await until(() => keys.length === 3, 'three keys');
      expect(keys).toEqual(['1', '2', '3']);
    });

    it('keys that we press reach the callee', async () => {
      const leg = await placing.answered(underTest.phones.menu);
      const { keys } = hear(leg);
      await leg.media.sendDigits('2');
      await until(() => keys.length > 0, 'the answer to the key');
      expect(keys).toEqual(['9']);
    });

    it('the beep of a machine is heard', async () => {
      const leg = await placing.answered(underTest.phones.beeps);
      const heard = hear(leg);
      await until(() => heard.beeps > 0, 'the beep');
      expect(heard.beeps).toBe(1);
    });

    if (!hasNetwork) return;
    it('the tones before an announcement are heard, and are no beep', async () => {
      const { announces } = underTest.phones;
      assert(announces !== null, 'a network announces');
      const leg = await placing.answered(announces);
      const heard = hear(leg);
      await until(() => heard.informationTones > 0, 'the tones');
      await leg.clock.sleep(500);
      expect(heard).toMatchObject({ informationTones: 1, beeps: 0 });
    });
  });
}
