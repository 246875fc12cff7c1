/**
 * What every carrier must do (`src/carriers/carrier.ts`, C1–C5). A carrier's own test builds the phones that
 * the suite calls: simulated people, or a SIP server in the test.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  CallOrder,
  Carrier,
  Ending,
  Heard,
  Leg,
  Placed,
  SpeechMedia,
} from '../../src/carriers/carrier.ts';

/** Numbers at which the carrier under test meets these people. */
export interface Phones {
  /** Answers, greets, and replies to a question. */
  readonly answers: string;
  readonly ringsOut: string;
  readonly busy: string;
  readonly declines: string;
  readonly unassigned: string;
  readonly carrierFails: string;
  /** Answers, and hangs up while we speak our second sentence at the latest. */
  readonly hangsUp: string;
  /** Answers and begins to speak while we do. */
  readonly interrupts: string;
  /** Answers and says nothing for a minute at least. */
  readonly silent: string;
  /** Plays a greeting and then a beep. */
  readonly voicemail: string;
  /** Announces a menu and goes on after the key 2. */
  readonly menu: string;
}

export interface CarrierUnderTest {
  readonly carrier: Carrier<SpeechMedia>;
  readonly phones: Phones;
}

const long =
  'This is a rather long sentence, so that somebody who wants to interrupt it or to hang up in the middle of it finds the time for that.';

export function carrierConformance(
  name: string,
  build: () => CarrierUnderTest | Promise<CarrierUnderTest>,
): void {
  describe(`the carrier ${name}`, () => {
    let underTest: CarrierUnderTest;
    let steps: string[];

    beforeEach(async () => {
      underTest = await build();
      steps = [];
    });
    afterEach(() => underTest.carrier.close());

    function place(
      to: string,
      over: Partial<CallOrder> & { signal?: AbortSignal } = {},
    ): Promise<Placed<SpeechMedia>> {
      const order: CallOrder = {
        attemptId: 'att_conformance',
        to,
        from: null,
        ringLimitMs: 5_000,
        locale: 'en-US',
        simulation: {
          resultSchema: {
            type: 'object',
            additionalProperties: false,
            properties: { well: { type: 'boolean', description: 'Are you well?' } },
            required: ['well'],
          },
          callees: [],
        },
        ...over,
      };
      const watcher = { progress: (step: string) => steps.push(step) };
      return underTest.carrier.place(order, watcher, over.signal ?? new AbortController().signal);
    }

    async function answered(to: string, over: { signal?: AbortSignal } = {}): Promise<Leg<SpeechMedia>> {
      const placed = await place(to, over);
      if (placed.kind === 'ended') throw new Error(`not answered: ${placed.ending.outcome}`);
      return placed.leg;
    }

    async function ended(to: string): Promise<Ending> {
      const placed = await place(to);
      if (placed.kind === 'answered') throw new Error('answered');
      return placed.ending;
    }

    const endings: [keyof Phones, Ending['outcome'], Ending['endedBy']][] = [
      ['ringsOut', 'ring_timeout', 'us'],
      ['busy', 'busy', 'callee'],
      ['declines', 'declined', 'callee'],
      ['unassigned', 'invalid_number', 'carrier'],
      ['carrierFails', 'carrier_error', 'carrier'],
    ];
    it.each(endings)('C1: a call to a phone that %s ends as %s', async (phone, outcome, endedBy) => {
      expect(await ended(underTest.phones[phone])).toMatchObject({ outcome, endedBy });
      expect(steps[0]).toBe('trying');
    });

    it('C1: reports trying and then ringing before the answer', async () => {
      await answered(underTest.phones.answers);
      expect(steps).toEqual(['trying', 'ringing']);
    });

    it('C3: an order that is already given up leaves no trace', async () => {
      const placed = await place(underTest.phones.answers, { signal: AbortSignal.abort() });
      expect(placed).toMatchObject({ kind: 'ended', ending: { outcome: 'canceled', endedBy: 'us' } });
      expect(steps).toEqual([]);
    });

    it('C3: giving up while it rings ends the call as canceled', async () => {
      const giveUp = new AbortController();
      const order = { signal: giveUp.signal };
      const placing = place(underTest.phones.ringsOut, order);
      giveUp.abort();
      expect(await placing).toMatchObject({ kind: 'ended', ending: { outcome: 'canceled' } });
    });

    it('C3: giving up hangs up an answered leg', async () => {
      const giveUp = new AbortController();
      const leg = await answered(underTest.phones.silent, { signal: giveUp.signal });
      const hearing = leg.media.hear(60_000);
      giveUp.abort();
      expect(await leg.ended).toMatchObject({ reason: 'hung_up', endedBy: 'us' });
      expect(await hearing).toEqual({ kind: 'left' });
    });

    it('C4: hanging up ends the leg once, and again changes nothing', async () => {
      const leg = await answered(underTest.phones.answers);
      const [first, second] = await Promise.all([leg.hangUp(), leg.hangUp()]);
      expect(first).toMatchObject({ reason: 'hung_up', endedBy: 'us' });
      expect(second).toEqual(first);
      expect(await leg.ended).toEqual(first);
      expect(await leg.hangUp()).toEqual(first);
    });

    it('C4: a callee who hangs up ends the leg and our sentence', async () => {
      const leg = await answered(underTest.phones.hangsUp);
      await leg.media.hear(5_000);
      let spoken = await leg.media.say(long);
      if (!spoken.interrupted) spoken = await leg.media.say(long);
      expect(spoken.interrupted).toBe(true);
      expect(await leg.ended).toMatchObject({ reason: 'hung_up', endedBy: 'callee' });
      expect(await leg.hangUp()).toMatchObject({ endedBy: 'callee' });
    });

    it('C4: after the end nothing waits any more', async () => {
      const leg = await answered(underTest.phones.silent);
      const sleeping = leg.clock.sleep(600_000);
      await leg.hangUp();
      expect(await sleeping).toBe(false);
      expect(await leg.clock.sleep(1_000)).toBe(false);
      expect(await leg.clock.sleep(1_000, new AbortController().signal)).toBe(false);
      expect(await leg.media.hear(60_000)).toEqual({ kind: 'left' });
      expect(await leg.media.say('Hello?')).toMatchObject({ heard: '', interrupted: true });
      await leg.media.sendDigits('1');
    });

    it('C4: closing the carrier ends its calls', async () => {
      const leg = await answered(underTest.phones.silent);
      await Promise.all([underTest.carrier.close(), underTest.carrier.close()]);
      expect(await leg.ended).toMatchObject({ reason: 'hung_up', endedBy: 'us' });
      expect(await place(underTest.phones.answers)).toMatchObject({ kind: 'ended' });
    });

    it('C5: the clock of a leg begins with the answer and never goes back', async () => {
      const leg = await answered(underTest.phones.answers);
      expect(leg.clock.now()).toBeLessThan(1_000);
      expect(await leg.clock.sleep(20)).toBe(true);
      const first = leg.clock.now();
      expect(first).toBeGreaterThanOrEqual(20);
      const greeting = await heard(leg);
      expect(greeting.endedAtMs).toBeGreaterThanOrEqual(greeting.startedAtMs);
      const spoken = await leg.media.say('Are you well?');
      expect(spoken.startedAtMs).toBeGreaterThanOrEqual(greeting.endedAtMs);
      expect(spoken.endedAtMs).toBeGreaterThan(spoken.startedAtMs);
      expect(leg.clock.now()).toBeGreaterThanOrEqual(spoken.endedAtMs);
    });

    it('a sleep on the leg stops when its signal aborts', async () => {
      const leg = await answered(underTest.phones.answers);
      const stop = new AbortController();
      const sleeping = leg.clock.sleep(600_000, stop.signal);
      stop.abort();
      expect(await sleeping).toBe(false);
      expect(await leg.clock.sleep(600_000, AbortSignal.abort())).toBe(false);
    });

    it('a person greets, hears us to the end and replies', async () => {
      const leg = await answered(underTest.phones.answers);
      expect((await heard(leg)).text).not.toBe('');
      const spoken = await leg.media.say('Are you well?');
      expect(spoken).toMatchObject({ heard: 'Are you well?', interrupted: false });
      expect((await heard(leg)).text).not.toBe('');
    });

    it('a wait for words ends after its time when nobody speaks', async () => {
      const leg = await answered(underTest.phones.silent);
      const before = leg.clock.now();
      expect(await leg.media.hear(50)).toEqual({ kind: 'silence' });
      expect(leg.clock.now() - before).toBeGreaterThanOrEqual(50);
    });

    it('an interruption cuts our sentence where the callee began to speak', async () => {
      const leg = await answered(underTest.phones.interrupts);
      await heard(leg);
      const spoken = await leg.media.say(long);
      expect(spoken.interrupted).toBe(true);
      expect(spoken.heard.length).toBeLessThan(long.length);
      expect(long.startsWith(spoken.heard)).toBe(true);
      expect((await heard(leg)).text).not.toBe('');
    });

    it('a machine is heard with its beep', async () => {
      const leg = await answered(underTest.phones.voicemail);
      await heard(leg);
      expect(await leg.media.hear(10_000)).toMatchObject({ kind: 'beep' });
    });

    it('a menu goes on when its key is pressed', async () => {
      const leg = await answered(underTest.phones.menu);
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
