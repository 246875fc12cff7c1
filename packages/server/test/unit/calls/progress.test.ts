import { detailCodes, type DetailCode } from '@trunkcall/contract';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { taskEnd } from '../../../src/calls/ending.ts';
import { nextMoves } from '../../../src/calls/progress.ts';
import type { CallRunState, RecipientState } from '../../../src/storage/calls.ts';

const run = (over: Partial<CallRunState>): CallRunState => ({
  id: 'run_1',
  recipient_id: 'a',
  phone: '+12025550100',
  status: 'failed',
  error_code: 'no_answer',
  error_detail_code: 'busy',
  answered: false,
  rang: false,
  ...over,
});
const recipient = (over: Partial<RecipientState> = {}): RecipientState => ({
  id: 'a',
  phones: ['+12025550100', '+12025550101'],
  status: 'in_progress',
  ...over,
});
const call = { status: 'in_progress', parallel: 1, cancel: false } as const;

describe('how a call goes on', () => {
  const after = (end: Partial<CallRunState>, cancel = false) =>
    nextMoves({ ...call, cancel }, [recipient()], [run(end)]);
  const dialsNext = [{ kind: 'dial', recipientId: 'a', phone: '+12025550101' }];
  const settles = (status: string) => [{ kind: 'settle', recipientId: 'a', status }, { kind: 'conclude' }];

  it.each<DetailCode>(['ring_timeout', 'unreachable', 'busy', 'invalid_number', 'carrier_error'])(
    'tries the next number after %s',
    (detail) => {
      expect(after({ error_detail_code: detail })).toEqual(dialsNext);
    },
  );

  it('tries the next number after a machine, and not after anything else that was answered', () => {
    for (const detail of Object.keys(detailCodes) as DetailCode[]) {
      const moves = after({ error_detail_code: detail, answered: true });
      expect(moves).toEqual(detail === 'voicemail' ? dialsNext : settles('failed'));
    }
  });

  it.each<DetailCode>(['declined', 'worker_lost', 'do_not_call', 'call_limit', 'operator'])(
    'rings no other phone of the person after %s',
    (detail) => {
      expect(after({ error_detail_code: detail })).toEqual(settles('failed'));
    },
  );

  it('rings no other phone after a carrier that failed behind the ringing', () => {
    expect(after({ error_detail_code: 'carrier_error', rang: true })).toEqual(settles('failed'));
    expect(after({ error_detail_code: 'busy', rang: true })).toEqual(dialsNext);
  });

  it('ends with the person who was reached', () => {
    expect(after({ status: 'completed', error_code: null, error_detail_code: null })).toEqual(
      settles('completed'),
    );
  });

  it('dials nobody else once it is to be stopped', () => {
    expect(after({}, true)).toEqual(settles('failed'));
    expect(nextMoves({ ...call, cancel: true }, [recipient({ status: 'pending' })], [])).toEqual(
      settles('skipped'),
    );
  });
});

/** Carries a call out in the abstract: every dialled number ends as `ends` says, in the order that `order` picks. */
function carryOut(
  recipients: readonly (readonly string[])[],
  parallel: number,
  ends: readonly Partial<CallRunState>[],
  picks: readonly number[],
  cancelAfter: number,
) {
  const states = recipients.map((phones, at) => ({
    id: `r${at}`,
    phones,
    status: 'pending' as RecipientState['status'],
  }));
  const runs: CallRunState[] = [];
  const live: CallRunState[] = [];
  const faults: string[] = [];
  let concluded = 0;
  let most = 0;
  for (let round = 0; round < 200; round += 1) {
    const cancel = round >= cancelAfter;
    for (const move of nextMoves({ status: 'in_progress', parallel, cancel }, states, runs)) {
      const state = move.kind === 'conclude' ? undefined : states.find(({ id }) => id === move.recipientId);
      if (move.kind === 'conclude') concluded += 1;
      else if (state !== undefined && move.kind === 'settle') {
        if (state.status !== 'pending' && state.status !== 'in_progress') faults.push('settled twice');
        state.status = move.status;
      } else if (state !== undefined && move.kind === 'dial') {
        if (cancel) faults.push('dialled when it was to be stopped');
        if (!state.phones.includes(move.phone)) faults.push('dialled a number of somebody else');
        state.status = 'in_progress';
        const started = run({
          id: `run_${runs.length}`,
          recipient_id: state.id,
          phone: move.phone,
          status: 'in_progress',
        });
        runs.push(started);
        live.push(started);
      }
    }
    most = Math.max(most, live.length);
    if (concluded > 0) return { states, runs, live, most, faults };
    const pick = (picks[round % picks.length] ?? 0) % live.length;
    const [ended] = live.splice(pick, 1);
    const at = runs.findIndex(({ id }) => id === ended?.id);
    if (ended !== undefined) runs[at] = { ...ended, status: 'failed', ...ends[at % ends.length] };
  }
  throw new Error('it did not come to an end');
}

const phone = fc.integer({ min: 0, max: 8 }).map((digit) => `+1202555010${digit}`);
const recipientPhones = fc.uniqueArray(phone, { minLength: 1, maxLength: 4 });
const anEnd = fc.oneof(
  fc.constant<Partial<CallRunState>>({
    status: 'completed',
    error_code: null,
    error_detail_code: null,
    answered: true,
  }),
  fc.record({
    status: fc.constant('failed' as const),
    error_code: fc.constant('no_answer'),
    error_detail_code: fc.constantFrom(...Object.keys(detailCodes)),
    answered: fc.boolean(),
    rang: fc.boolean(),
  }),
);

describe('every call', () => {
  it('comes to one end, within its limit, and calls no number twice', () => {
    fc.assert(
      fc.property(
        fc.array(recipientPhones, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(anEnd, { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(10), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 30 }),
        (recipients, parallel, ends, picks, cancelAfter) => {
          const { states, runs, live, most, faults } = carryOut(
            recipients,
            parallel,
            ends,
            picks,
            cancelAfter,
          );
          expect(faults).toEqual([]);
          expect(live).toEqual([]);
          expect(most).toBeLessThanOrEqual(parallel);
          expect(new Set(runs.map((one) => one.phone)).size).toBe(runs.length);
          for (const { id, status, phones } of states) {
            const own = runs.filter((one) => one.recipient_id === id);
            expect(['completed', 'failed', 'skipped']).toContain(status);
            expect(status === 'skipped').toBe(own.length === 0);
            expect(status === 'completed').toBe(own.at(-1)?.status === 'completed');
            // In the order in which they were given.
            const places = own.map((one) => phones.indexOf(one.phone));
            expect(places).toEqual(places.toSorted((a, b) => a - b));
            // Behind somebody who may have been on the line nothing more was dialled.
            const spoke = own.findIndex((one) => one.answered && one.error_detail_code !== 'voicemail');
            expect([-1, own.length - 1]).toContain(spoke);
          }
          const end = taskEnd(cancelAfter < 3, states, runs);
          expect(end.failure === null).toBe(end.status !== 'failed');
        },
      ),
      { numRuns: 500, seed: 20_260_101 },
    );
  });
});
