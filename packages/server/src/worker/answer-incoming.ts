import type { Incoming } from '../carriers/carrier.ts';
import { stopOutcome } from '../dial/dial.ts';
import type { EndFacts, Outcome } from '../dial/outcome.ts';
import type { InboundCall } from '../inbound/admit.ts';
import { recordAnswer } from '../storage/attempts.ts';
import type { Lease } from '../storage/jobs.ts';
import { persist } from '../storage/persist.ts';
import { endRun } from './end-run.ts';
import { converseOn, logCall, type ExecutionDependencies } from './execute-run.ts';

/**
 * Answers a call that was taken in, lets the agent talk, and stores how it ended. Writes one log line for the call.
 *
 * Nothing is answered once the lease may be gone: whoever has it then ends the run (I6).
 * Ends with the run ended, or left to whoever holds its lease now. Throws: as `executeRun`.
 */
export async function answerIncoming(
  deps: ExecutionDependencies & { readonly onPublished: () => void },
  call: InboundCall,
  incoming: Incoming,
  lease: Lease,
): Promise<void> {
  const startedAt = deps.clock.monotonic();
  incoming.ring();
  if (!lease.holds() && !lease.signal.aborted) {
    incoming.reject({ reason: 'unavailable', retryAfterSeconds: null });
    return;
  }
  const { facts, turns } = await carryThrough(deps, call, incoming, lease);
  const run = { callId: null, inbound: true };
  const stored = await endRun(deps, lease, run, facts);
  if (stored) deps.onPublished();
  logCall(deps, { ...call, call_id: null, direction: 'inbound' }, { facts, turns, startedAt, stored });
}

async function carryThrough(
  deps: ExecutionDependencies,
  call: InboundCall,
  incoming: Incoming,
  lease: Lease,
): Promise<{ facts: EndFacts; turns: number }> {
  const { attemptId, content } = call;
  const accepted = await incoming.accept(
    {
      attemptId,
      locale: content.locale,
      ...(content.record === true && { recordMs: content.limits.call_seconds * 1_000 }),
      simulation: { resultSchema: content.result_schema, callees: content.callees ?? [] },
    },
    lease.signal,
  );
  if (accepted.kind === 'gave_up') return { facts: gaveUp, turns: 0 };
  if (accepted.kind === 'failed') {
    const { ending } = accepted;
    const outcome = ending.outcome === 'canceled' ? stopOutcome(lease) : ending.outcome;
    return { facts: { ...ending, outcome }, turns: 0 };
  }
  const { leg } = accepted;
  // The caller does not wait for that.
  const stored = persist(deps.db, deps.clock, lease, recordAnswer, [
    attemptId,
    leg.providerCallId,
    deps.ids.next('evt'),
  ]);
  stored.catch(() => undefined);
  // Who calls us is always told what answers.
  const talk = { direction: 'inbound', announcement: call.announcement, disclosure: true } as const;
  const { facts, turns } = await converseOn(deps, { ...call, ...talk }, lease, { attemptId, leg, stored });
  return { facts: { ...facts, outcome: outcomeOf(facts.outcome, call) }, turns };
}

const gaveUp: EndFacts = {
  outcome: 'caller_gave_up',
  endedBy: 'callee',
  sipStatus: null,
  q850: null,
  note: null,
};

/** Who was told the opening hours has held no conversation, however it ended. */
function outcomeOf(outcome: Outcome, { announcement }: InboundCall): Outcome {
  return announcement !== null && outcome === 'conversation' ? 'outside_hours' : outcome;
}
