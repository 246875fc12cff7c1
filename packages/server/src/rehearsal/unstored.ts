/** The conversation of a rehearsal: as in a call, but of what is said nothing is stored. */
import type { GoalFile, Variables } from '@trunkcall/contract';
import type { Agent, Brief, Turn } from '../agents/agent.ts';
import type { Leg } from '../carriers/carrier.ts';
import { briefOf, callLimitOf } from '../conversation/brief.ts';
import { converse, type Conversed } from '../conversation/converse.ts';

/** Turns beyond these are not kept, as in a call. */
const maxTurns = 1_000;

export interface UnstoredConversation {
  readonly agent: Agent;
  readonly content: GoalFile;
  /** Checked, with their defaults. */
  readonly variables: Variables;
  readonly callerName: string;
  readonly leg: Leg;
  readonly transfer: Brief['transfer'];
  /** Told each turn as it happens. Must not throw. */
  readonly onTurn: (turn: Turn, index: number) => void;
  /** Ends the conversation as `stopped`. */
  readonly signal: AbortSignal;
}

/** Ends with the leg over. Nobody's wish not to be called is noted: the callee is an author, or simulated. */
export function converseUnstored({
  agent,
  content,
  variables,
  callerName,
  leg,
  transfer,
  onTurn,
  signal,
}: UnstoredConversation): Promise<Conversed> {
  let length = 0;
  return converse({
    agent,
    brief: briefOf(content, variables, {
      callerName,
      direction: 'outbound',
      announcement: null,
      disclosure: true,
      transfer,
    }),
    leg,
    signal,
    transcript: {
      turn(turn) {
        if (length >= maxTurns) return;
        length += 1;
        onTurn(turn, length - 1);
      },
      optedOut: () => undefined,
      answeredBy: () => undefined,
      flush: async () => undefined,
    },
    callLimitMs: callLimitOf(content),
  });
}
