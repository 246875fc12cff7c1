import type { Agent, Brief, ConversationEnd } from '../agents/agent.ts';
import type { Leg, LegEnd } from '../carriers/carrier.ts';
import type { Lease } from '../storage/jobs.ts';
import type { Transcript } from './transcript.ts';

export interface ConversationOptions {
  readonly agent: Agent;
  readonly brief: Brief;
  readonly leg: Leg;
  readonly lease: Lease;
  readonly transcript: Transcript;
  /** Leg time at which the call is cut off, milliseconds. */
  readonly callLimitMs: number;
}

export type ConversationOutcome =
  | 'conversation'
  | 'message_left'
  | 'machine'
  | 'call_limit'
  | 'media_failed'
  | 'carrier_error'
  | 'agent_failed'
  /** The lease was stopped; its signal says why. */
  | 'stopped';

export interface Conversed {
  readonly outcome: ConversationOutcome;
  readonly legEnd: LegEnd;
  readonly note: string | null;
}

/**
 * Lets an agent speak on an answered leg until the conversation, the leg, the call limit or the lease ends,
 * whichever is first; then hangs up. The leg is always over when this resolves (I9).
 */
export async function converse(options: ConversationOptions): Promise<Conversed> {
  const { agent, brief, leg, lease, transcript, callLimitMs } = options;
  const over = new AbortController();
  const stopped = onAbort(lease.signal, over.signal);

  const first = await Promise.race([
    agent.converse(brief, leg, transcript, over.signal).then(
      (end) => ({ kind: 'agent', end }) as const,
      (error: unknown) => ({ kind: 'agent', end: failure(error) }) as const,
    ),
    // `false`: the leg ended before the limit; the agent reports that itself, so this never resolves then.
    leg.clock
      .sleep(callLimitMs - leg.clock.now(), over.signal)
      .then((reached) => (reached ? ({ kind: 'call_limit' } as const) : new Promise<never>(() => undefined))),
    stopped.then(() => ({ kind: 'stopped' }) as const),
  ]);

  const legEnd = await leg.hangUp();
  over.abort();
  await transcript.flush();
  if (first.kind !== 'agent') return { outcome: first.kind, legEnd, note: null };
  return { ...agentOutcome(first.end, legEnd), legEnd };
}

function agentOutcome(
  end: ConversationEnd,
  legEnd: LegEnd,
): { outcome: ConversationOutcome; note: string | null } {
  if (legEnd.reason !== 'hung_up') return { outcome: legEnd.reason, note: null };
  switch (end.kind) {
    case 'finished':
    case 'callee_left':
    case 'opted_out':
      return { outcome: 'conversation', note: null };
    case 'machine':
      return { outcome: end.did === 'hang_up' ? 'machine' : 'message_left', note: null };
    case 'failed':
      return { outcome: 'agent_failed', note: end.note };
  }
}

/** An agent that throws has a fault; its words stay out of the record (they may quote the callee). */
function failure(error: unknown): ConversationEnd {
  return { kind: 'failed', note: error instanceof Error ? error.name : 'unknown fault' };
}

/** Resolves when `signal` aborts; listens no longer than until `done`. */
function onAbort(signal: AbortSignal, done: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: done });
  });
}
