import type { Agent, Brief, ConversationEnd, TranscriptSink } from '../agents/agent.ts';
import type { Leg, LegEnd } from '../carriers/carrier.ts';

export interface ConversationOptions {
  readonly agent: Agent;
  readonly brief: Brief;
  readonly leg: Leg;
  /** Stops the conversation when it aborts. */
  readonly signal: AbortSignal;
  readonly transcript: TranscriptSink & { flush(): Promise<void> };
  /** Leg time at which the call is cut off, milliseconds. */
  readonly callLimitMs: number;
}

export type ConversationOutcome =
  | 'conversation'
  | 'transferred'
  | 'message_left'
  | 'machine'
  | 'call_limit'
  | 'media_failed'
  | 'carrier_error'
  | 'agent_failed'
  /** The signal was aborted; it says why. */
  | 'stopped';

export interface Conversed {
  readonly outcome: ConversationOutcome;
  readonly legEnd: LegEnd;
  readonly note: string | null;
}

/**
 * Lets an agent speak on an answered leg until the conversation, the leg, the call limit or the signal ends it,
 * whichever is first; then hangs up. Whom the agent has connected with somebody else talks on until the leg, the
 * limit or the signal ends it. The leg is always over when this resolves (I9).
 */
export async function converse(options: ConversationOptions): Promise<Conversed> {
  const { leg, transcript } = options;
  const over = new AbortController();
  let legEnd: LegEnd;
  let first: First;
  try {
    first = await firstToEnd(options, over.signal);
  } finally {
    // Whatever went wrong on our side, nobody is left on the line.
    legEnd = await leg.hangUp();
    over.abort();
  }
  await transcript.flush();
  if (first.kind === 'call_limit' && first.transferred)
    return { outcome: 'transferred', legEnd, note: 'the time limit ended it' };
  if (first.kind !== 'agent') return { outcome: first.kind, legEnd, note: null };
  return { ...agentOutcome(first.end, legEnd), legEnd };
}

type First =
  | { readonly kind: 'agent'; readonly end: ConversationEnd }
  | { readonly kind: 'call_limit'; readonly transferred: boolean }
  | { readonly kind: 'stopped' };

function firstToEnd(options: ConversationOptions, over: AbortSignal): Promise<First> {
  const { agent, brief, leg, signal, transcript, callLimitMs } = options;
  let transferred = false;
  /** The agent's part may be over long before the call is. */
  const untilOver = async (end: ConversationEnd): Promise<First> => {
    transferred = end.kind === 'transferred';
    if (transferred) await leg.ended;
    return { kind: 'agent', end };
  };
  return Promise.race([
    agent
      .converse(brief, leg, transcript, over)
      .then(untilOver, (error: unknown): First => ({ kind: 'agent', end: failure(error) })),
    // `false`: the leg ended before the limit; the agent reports that itself, so this never resolves then.
    leg.clock
      .sleep(callLimitMs - leg.clock.now(), over)
      .then((reached): First | Promise<never> =>
        reached ? { kind: 'call_limit', transferred } : new Promise<never>(() => undefined),
      ),
    onAbort(signal, over).then((): First => ({ kind: 'stopped' })),
  ]);
}

function agentOutcome(
  end: ConversationEnd,
  legEnd: LegEnd,
): { outcome: ConversationOutcome; note: string | null } {
  // How the talk of the two others ended is not our affair.
  if (end.kind === 'transferred') return { outcome: 'transferred', note: null };
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
