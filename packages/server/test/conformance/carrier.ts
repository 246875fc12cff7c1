/**
 * What every carrier must do (`src/carriers/carrier.ts`, C1–C5), whatever its legs carry. What they carry has suites
 * of its own: `speech-media.ts` and `audio-media.ts`. A carrier's own test builds the phones that the suites call:
 * simulated people, or SIP servers in the test.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ending, Media } from '../../src/carriers/carrier.ts';
import { placingOn, type Build, type CarrierUnderTest, type Placing } from './placing.ts';

/** Numbers at which the carrier under test meets these people. */
export interface Phones {
  /** Answers, and stays until we hang up. */
  readonly answers: string;
  readonly ringsOut: string;
  readonly busy: string;
  readonly declines: string;
  readonly unassigned: string;
  readonly carrierFails: string;
  /** Answers and says nothing for a minute at least. */
  readonly silent: string;
}

export function carrierConformance<M extends Media>(name: string, build: Build<M, Phones>): void {
  describe(`the carrier ${name}`, () => {
    let underTest: CarrierUnderTest<M, Phones>;
    let placing: Placing<M>;

    beforeEach(async () => {
      underTest = await build();
      placing = placingOn(underTest);
    });
    afterEach(async () => {
      await underTest.carrier.close();
      await underTest.close?.();
    });

    const endings: [keyof Phones, Ending['outcome'], Ending['endedBy']][] = [
      ['ringsOut', 'ring_timeout', 'us'],
      ['busy', 'busy', 'callee'],
      ['declines', 'declined', 'callee'],
      ['unassigned', 'invalid_number', 'carrier'],
      ['carrierFails', 'carrier_error', 'carrier'],
    ];
    it.each(endings)('C1: a call to a phone that %s ends as %s', async (phone, outcome, endedBy) => {
      expect(await placing.ended(underTest.phones[phone])).toMatchObject({ outcome, endedBy });
      expect(placing.steps[0]).toBe('trying');
    });

    it('C1: reports trying and then ringing before the answer', async () => {
      await placing.answered(underTest.phones.answers);
      expect(placing.steps).toEqual(['trying', 'ringing']);
    });

    it('C1: a number that may be dialled is not forbidden, and room for it can be reserved', async () => {
      const { carrier, phones } = underTest;
      expect(carrier.forbids(phones.answers)).toBeNull();
      const wish = { attemptId: 'att_reserved', accountId: 'acc_test', to: phones.answers };
      const room = await carrier.reserve(wish, new AbortController().signal);
      if (room.kind !== 'ready') throw new Error(room.kind);
      await room.release();
      await room.release();
    });

    it('C3: an order that is already given up leaves no trace', async () => {
      const placed = await placing.place(underTest.phones.answers, AbortSignal.abort());
      expect(placed).toMatchObject({ kind: 'ended', ending: { outcome: 'canceled', endedBy: 'us' } });
      expect(placing.steps).toEqual([]);
    });

    it('C3: giving up while it rings ends the call as canceled', async () => {
      const giveUp = new AbortController();
      const placed = placing.place(underTest.phones.ringsOut, giveUp.signal);
      giveUp.abort();
      expect(await placed).toMatchObject({ kind: 'ended', ending: { outcome: 'canceled' } });
    });

    it('C3: giving up hangs up an answered leg', async () => {
      const giveUp = new AbortController();
      const leg = await placing.answered(underTest.phones.silent, giveUp.signal);
      giveUp.abort();
      expect(await leg.ended).toMatchObject({ reason: 'hung_up', endedBy: 'us' });
    });

    it('C4: hanging up ends the leg once, and again changes nothing', async () => {
      const leg = await placing.answered(underTest.phones.answers);
      const [first, second] = await Promise.all([leg.hangUp(), leg.hangUp()]);
      expect(first).toMatchObject({ reason: 'hung_up', endedBy: 'us' });
      expect(second).toEqual(first);
      expect(await leg.ended).toEqual(first);
      expect(await leg.hangUp()).toEqual(first);
    });

    it('C4: after the end nothing sleeps any more', async () => {
      const leg = await placing.answered(underTest.phones.silent);
      const sleeping = leg.clock.sleep(600_000);
      await leg.hangUp();
      expect(await sleeping).toBe(false);
      expect(await leg.clock.sleep(1_000)).toBe(false);
      expect(await leg.clock.sleep(1_000, new AbortController().signal)).toBe(false);
    });

    it('C4: closing the carrier ends its calls', async () => {
      const leg = await placing.answered(underTest.phones.silent);
      await Promise.all([underTest.carrier.close(), underTest.carrier.close()]);
      expect(await leg.ended).toMatchObject({ reason: 'hung_up', endedBy: 'us' });
      expect(await placing.place(underTest.phones.answers)).toMatchObject({ kind: 'ended' });
    });

    it('C5: the clock of a leg begins with the answer and never goes back', async () => {
      const leg = await placing.answered(underTest.phones.answers);
      expect(leg.clock.now()).toBeLessThan(1_000);
      expect(await leg.clock.sleep(20)).toBe(true);
      const first = leg.clock.now();
      expect(first).toBeGreaterThanOrEqual(20);
      expect(await leg.clock.sleep(20)).toBe(true);
      expect(leg.clock.now()).toBeGreaterThanOrEqual(first + 20);
    });

    it('a sleep on the leg stops when its signal aborts', async () => {
      const leg = await placing.answered(underTest.phones.answers);
      const stop = new AbortController();
      const sleeping = leg.clock.sleep(600_000, stop.signal);
      stop.abort();
      expect(await sleeping).toBe(false);
      expect(await leg.clock.sleep(600_000, AbortSignal.abort())).toBe(false);
    });
  });
}
