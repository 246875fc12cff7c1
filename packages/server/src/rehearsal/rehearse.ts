/**
 * Holds a conversation on a leg that is there already, and draws its result, by the code that calls go through. Nobody
 * is dialled and nothing is stored: what comes of it belongs to whoever asked.
 */
import { goalRunErrors, type DetailCode, type GoalFile, type GoalRunErrorCode } from '@trunkcall/contract';
import type { Scalar, Variables } from '@trunkcall/contract';
import type { Agent, Turn } from '../agents/agent.ts';
import type { Leg, Media } from '../carriers/carrier.ts';
import type { ConversationOutcome } from '../conversation/converse.ts';
import { settlements } from '../dial/outcome.ts';
import type { Clock } from '../platform/clock.ts';
import { dayOf, drawResultInTime } from '../result/draw-result.ts';
import type { Extractor, FieldEvidence } from '../result/extractor.ts';
import { converseUnstored } from './unstored.ts';

export interface Rehearsal {
  /** Valid; its call limit is the limit of the conversation. */
  readonly content: GoalFile;
  /** Checked, with their defaults. */
  readonly variables: Variables;
  /** For whom we call. */
  readonly callerName: string;
  readonly leg: Leg;
  /** Told each turn as it happens. Must not throw. */
  readonly onTurn: (turn: Turn, index: number) => void;
  /** Ends the conversation as `stopped`. */
  readonly signal: AbortSignal;
}

export interface Rehearsed {
  readonly outcome: ConversationOutcome;
  readonly endedBy: 'callee' | 'us' | 'carrier';
  readonly note: string | null;
  readonly turns: readonly Turn[];
}

/** What a Run of the conversation would show. */
export interface RehearsedResult {
  readonly result: Readonly<Record<string, Scalar>> | null;
  readonly error: {
    readonly code: GoalRunErrorCode;
    readonly message: string;
    readonly detail_code: DetailCode | null;
  } | null;
  readonly evidence: Readonly<Record<string, FieldEvidence>>;
}

export interface Rehearsals {
  /** Why the Goal's agent could not speak here on legs of this kind; empty when it can. */
  problems(content: GoalFile, media: Media['kind']): readonly string[];
  /** Ends with the leg over. Throws: never. */
  converse(rehearsal: Rehearsal): Promise<Rehearsed>;
  /** Tries once, where a Run would try again. Throws: never. */
  draw(content: GoalFile, rehearsed: Rehearsed, signal: AbortSignal): Promise<RehearsedResult>;
}

export function createRehearsals(parts: {
  readonly clock: Clock;
  readonly agents: readonly Agent[];
  readonly extractor: Extractor;
}): Rehearsals {
  const { clock, extractor } = parts;
  const agents = new Map(parts.agents.map((agent) => [agent.kind, agent]));
  return {
    problems({ agent: { kind }, locale }, media) {
      const agent = agents.get(kind);
      return agent === undefined
        ? [`the agent kind ${kind} is not available here`]
        : agent.problems(locale, media);
    },

    async converse({ content, variables, callerName, leg, onTurn, signal }) {
      const agent = agents.get(content.agent.kind);
      const turns: Turn[] = [];
      if (agent === undefined) {
        const { endedBy } = await leg.hangUp();
        return { outcome: 'agent_failed', endedBy, note: 'no such agent here', turns };
      }
      const { outcome, legEnd, note } = await converseUnstored({
        agent,
        content,
        variables,
        callerName,
        leg,
        // There is nobody else to talk to.
        transfer: null,
        onTurn(turn, index) {
          turns.push(turn);
          onTurn(turn, index);
        },
        signal,
      });
      return { outcome, endedBy: legEnd.endedBy, note, turns };
    },

    async draw({ result_schema: resultSchema, calling_window: hours }, { outcome, turns }, signal) {
      const { errorCode, detailCode } = settlements[outcome === 'stopped' ? 'operator' : outcome];
      if (errorCode !== null) return without(errorCode, detailCode);
      const heldOn = dayOf(new Date(clock.now()), hours?.timezone ?? null);
      const drawn = await drawResultInTime({ resultSchema, turns, heldOn }, extractor, clock, signal);
      switch (drawn.kind) {
        case 'result':
          return { result: drawn.result, error: null, evidence: drawn.evidence };
        case 'error':
          return without(drawn.code, drawn.detailCode);
        case 'retry':
          return without('result_failed', 'extraction_failed');
      }
    },
  };
}

const without = (code: GoalRunErrorCode, detailCode: DetailCode | null): RehearsedResult => ({
  result: null,
  error: { code, message: goalRunErrors[code], detail_code: detailCode },
  evidence: {},
});
