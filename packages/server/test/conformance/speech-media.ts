/** What a leg that carries speech must do, beside what every carrier must (`carrier.ts`). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Heard, Leg, SpeechMedia } from '../../src/carriers/carrier.ts';
import type { Phones } from './carrier.ts';
import { placingOn, type Build, type CarrierUnderTest, type Placing } from './placing.ts';

export interface SpeechPhones extends Phones {
  /** Answers, greets, and replies to a question. */
  readonly answers: string;
  /** Answers, and hangs up while we speak our second sentence at the latest. */
  readonly hangsUp: string;
  /** Answers and begins to speak while we do. */
  readonly interrupts: string;
  /** Plays a greeting and then a beep. */
  readonly voicemail: string;
  /** Announces a menu and goes on after the key 2. */
  readonly menu: string;
}

const long =
  'This is a rather long sentence, so that somebody who wants to interrupt it or to hang up in the middle of it finds the time for that.';

export function speechConformance(name: string, build: Build<SpeechMedia, SpeechPhones>): void {
  describe(`speech over the carrier ${name}`, () => {
    let underTest: CarrierUnderTest<SpeechMedia, SpeechPhones>;
    let placing: Placing<SpeechMedia>;

    beforeEach(async () => {
      underTest = await build();
      placing = placingOn(underTest);
    });
    afterEach(async () => {
      await underTest.carrier.close();
      await underTest.close?.();
    });

    it('C3: giving up ends a wait for words', async () => {
      const giveUp = new AbortController();
      const leg = await placing.answered(underTest.phones.silent, giveUp.signal);
      const hearing = leg.media.hear(60_000);
      giveUp.abort();
      expect(await hearing).toEqual({ kind: 'left' });
    });

    it('C4: a callee who hangs up ends the leg and our sentence', async () => {
      const leg = await placing.answered(underTest.phones.hangsUp);
      await leg.media.hear(5_000);
      let spoken = await leg.media.say(long);
      if (!spoken.interrupted) spoken = await leg.media.say(long);
      expect(spoken.interrupted).toBe(true);
      expect(await leg.ended).toMatchObject({ reason: 'hung_up', endedBy: 'callee' });
      expect(await leg.hangUp()).toMatchObject({ endedBy: 'callee' });
    });

    it('C4: after the end nothing is said or heard any more', async () => {
      const leg = await placing.answered(underTest.phones.silent);
      await leg.hangUp();
      expect(await leg.media.hear(60_000)).toEqual({ kind: 'left' });
      expect(await leg.media.say('Hello?')).toMatchObject({ heard: '', interrupted: true });
      await leg.media.sendDigits('1');
    });

    it('C5: what is heard and said has its times on the clock of the leg', async () => {
      const leg = await placing.answered(underTest.phones.answers);
      const greeting = await heard(leg);
      expect(greeting.endedAtMs).toBeGreaterThanOrEqual(greeting.startedAtMs);
      const spoken = await leg.media.say('Are you well?');
      expect(spoken.startedAtMs).toBeGreaterThanOrEqual(greeting.endedAtMs);
      expect(spoken.endedAtMs).toBeGreaterThan(spoken.startedAtMs);
      expect(leg.clock.now()).toBeGreaterThanOrEqual(spoken.endedAtMs);
    });

    it('a person greets, hears us to the end and replies', async () => {
      const leg = await placing.answered(underTest.phones.answers);
      expect((await heard(leg)).text).not.toBe('');
      const spoken = await leg.media.say('Are you well?');
      expect(spoken).toMatchObject({ heard: 'Are you well?', interrupted: false });
      expect((await heard(leg)).text).not.toBe('');
    });

    it('a wait for words ends after its time when nobody speaks', async () => {
      const leg = await placing.answered(underTest.phones.silent);
      const before = leg.clock.now();
      expect(await leg.media.hear(50)).toEqual({ kind: 'silence' });
      expect(leg.clock.now() - before).toBeGreaterThanOrEqual(50);
    });

    it('an interruption cuts our sentence where the callee began to speak', async () => {
      const leg = await placing.answered(underTest.phones.interrupts);
      await heard(leg);
      const spoken = await leg.media.say(long);
      expect(spoken.interrupted).toBe(true);
      expect(spoken.heard.length).toBeLessThan(long.length);
      expect(long.startsWith(spoken.heard)).toBe(true);
      expect((await heard(leg)).text).not.toBe('');
    });

    it('a machine is heard with its beep', async () => {
      const leg = await placing.answered(underTest.phones.voicemail);
      await heard(leg);
      expect(await leg.media.hear(10_000)).toMatchObject({ kind: 'beep' });
    });

    it('a menu goes on when its key is pressed', async () => {
      const leg = await placing.answered(underTest.phones.menu);
      const menu = await heard(leg);
      await leg.media.sendDigits('2');
      expect((await heard(leg)).text).not.toBe(menu.text);
    });
  });
}

async function heard(leg: Leg<SpeechMedia>): Promise<Extract<Heard, { kind: 'utterance' }>> {
  const sound = await leg.media.hear(20_000);
  if (sound.kind !== 'utterance') throw new Error(`heard ${sound.kind}`);
  return sound;
}
