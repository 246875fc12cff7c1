import type { GoalFile } from '@trunkcall/contract';
import type { Carrier, CallOrder, Ending, Leg } from '../carriers/carrier.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { nextOpening } from '../platform/calling-window.ts';
import { intendToDial, recordAnswer, recordRinging } from '../storage/attempts.ts';
import type { Database } from '../storage/database.ts';
import type { DialJob, Lease } from '../storage/jobs.ts';
import { persist } from '../storage/persist.ts';
import { nextAttemptState, type AttemptState } from './attempt-state.ts';
import { orderFor } from './order.ts';
import { ownEnd, type EndFacts } from './outcome.ts';

export interface DialDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly carrier: Carrier;
  /** Why nobody could speak on a call of this Goal now; empty: the call is about to be placed. */
  readonly whyMute: (goal: GoalFile) => readonly string[];
}

/** A run that could not be dialled for so long is given up. */
const longestWaitMs = 7 * 24 * 3_600_000;

/** A job whose intent was refused is looked at again after this long. */
const refusedIntentPauseMs = 500;

/** A job for which nobody can speak now is looked at again after this long, milliseconds. */
const mutePauseMs = 30_000;

export type Dialled =
  | {
      readonly kind: 'answered';
      readonly attemptId: string;
      readonly leg: Leg;
      /** Settles when the answer is stored; the callee does not wait for that. */
      readonly stored: Promise<unknown>;
    }
  | { readonly kind: 'ended'; readonly facts: EndFacts }
  /** Not now: the calling window is closed, nobody can speak, or the process is stopping. Nothing was dialled. */
  | { readonly kind: 'later'; readonly inMs: number }
  /** The lease or its right to dial is gone; somebody else decides. Nothing was dialled. */
  | { readonly kind: 'lost' };

/**
 * Dials a run's number, at most once ever (I4).
 *
 * Whatever forbids the call is asked before the intent is committed: the callee's own wish, the calling window,
 * an operator's stop, the carrier's guard, whether somebody can speak, the carrier's limits. After the commit the call
 * leaves at once or never: a worker that was paused between the two, for longer than its lease, does not dial (I6).
 */
export async function dial(deps: DialDependencies, run: DialJob, lease: Lease): Promise<Dialled> {
  if (run.cancel || lease.signal.reason === 'canceled') return { kind: 'ended', facts: ownEnd('operator') };
  if (lease.signal.reason === 'shutdown') return { kind: 'later', inMs: 0 };
  if (!lease.holds()) return { kind: 'lost' };
  if (run.do_not_call) return { kind: 'ended', facts: ownEnd('do_not_call') };
  const now = deps.clock.now();
  const opening = nextOpening(run.content.calling_window, now);
  if (run.age_ms > longestWaitMs) return { kind: 'ended', facts: ownEnd('waited_too_long') };
  if (opening !== null) return { kind: 'later', inMs: opening - now };
  if (run.ours || deps.carrier.forbids(run.phone) !== null)
    return { kind: 'ended', facts: ownEnd('not_allowed') };
  if (deps.whyMute(run.content).length > 0) return { kind: 'later', inMs: mutePauseMs };

  const attemptId = deps.ids.next('att');
  const wish = { attemptId, accountId: run.account_id, to: run.phone };
  const room = await deps.carrier.reserve(wish, lease.signal);
  if (room.kind === 'later') return { kind: 'later', inMs: room.inMs };
  if (room.kind === 'refused') return { kind: 'ended', facts: ownEnd(room.why) };
  try {
    const dialled = await intendAndPlace(deps, run, lease, attemptId);
    // Without the intent, or the lease, nothing was placed.
    if (dialled.kind === 'later' || dialled.kind === 'lost') await room.release();
    return dialled;
  } catch (error) {
    await room.release();
    throw error;
  }
}

async function intendAndPlace(
  deps: DialDependencies,
  run: DialJob,
  lease: Lease,
  attemptId: string,
): Promise<Dialled> {
  const [intent] = await deps.db.query(intendToDial, [
    lease.subjectId,
    lease.fence,
    attemptId,
    deps.carrier.name,
    deps.ids.next('evt'),
    run.disclosure,
  ]);
  // The run was stopped, or its callee opted out, a moment ago; or the lease is lost, and then putting back does nothing.
  if (intent === undefined) return { kind: 'later', inMs: refusedIntentPauseMs };
  if (!lease.holds()) return { kind: 'lost' };
  return place(deps, run, lease, attemptId);
}

async function place(
  deps: DialDependencies,
  run: DialJob,
  lease: Lease,
  attemptId: string,
): Promise<Dialled> {
  const { content } = run;
  const order: CallOrder = {
    attemptId,
    to: run.phone,
    from: run.from,
    mayLeave: () => lease.holds(),
    ...orderFor(content),
  };
  let state: AttemptState = 'dialing';
  let recorded: Promise<unknown> = Promise.resolve();
  /** Stores a step that moves the attempt on; a repeated or late one changes nothing. */
  const advance = (step: 'ringing' | 'answered', providerCallId: string | null) => {
    if (nextAttemptState(state, step) === state) return;
    state = nextAttemptState(state, step);
    const statement = step === 'ringing' ? recordRinging : recordAnswer;
    recorded = recorded.then(() =>
      persist(deps.db, deps.clock, lease, statement, [attemptId, providerCallId, deps.ids.next('evt')]),
    );
    // A failure is thrown where the records are awaited, not as an unhandled rejection meanwhile.
    recorded.catch(() => undefined);
  };

  const placed = await deps.carrier.place(
    order,
    {
      progress(step, providerCallId) {
        if (step === 'ringing') advance('ringing', providerCallId);
      },
    },
    lease.signal,
  );
  if (placed.kind === 'answered') {
    advance('answered', placed.leg.providerCallId);
    return { kind: 'answered', attemptId, leg: placed.leg, stored: recorded };
  }
  await recorded;
  return { kind: 'ended', facts: factsOf(placed.ending, lease) };
}

function factsOf(ending: Ending, lease: Lease): EndFacts {
  const outcome = ending.outcome === 'canceled' ? stopOutcome(lease) : ending.outcome;
  return { ...ending, outcome };
}

/** What it means for the run that its lease was stopped. */
export function stopOutcome(lease: Lease): 'operator' | 'worker_lost' {
  return lease.signal.reason === 'canceled' ? 'operator' : 'worker_lost';
}
