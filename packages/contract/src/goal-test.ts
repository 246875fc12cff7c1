/**
 * The test of a Goal against its scripted callees: what `POST …/goals/test` answers, line by line (NDJSON). One line for
 * each callee as its call is over, then the summary. Nobody is phoned, and nothing of it is kept.
 */
import type { GoalRunErrorCode } from './errors.ts';
import type { AgentSettings, GoalFile, Scalar, ScriptedCallee } from './goal-file.ts';

export const agentKinds = ['scripted', 'realtime', 'cascade'] as const satisfies AgentSettings['kind'][];
export type AgentKind = AgentSettings['kind'];

export interface GoalTestOrder {
  /** Valid, published or not. */
  readonly goal: GoalFile;
  /** Speaks instead of the Goal’s own agent, with the settings of the deployment. */
  readonly agent?: AgentKind | undefined;
  /** For whom the agent says that it calls. */
  readonly callerName: string;
}

/**
 * What a test says of a callee: the call ended as `expect` says; it did not; there is nothing to compare with; or the test
 * was stopped, or ran out of time, before the call was over.
 */
export const testVerdicts = ['passed', 'failed', 'not_judged', 'not_run'] as const;
export type TestVerdict = (typeof testVerdicts)[number];

export interface TestTurn {
  readonly speaker: 'bot' | 'user' | 'unknown';
  readonly text: string;
  /** Since the answer. */
  readonly offset_seconds: number;
  readonly interrupted: boolean;
}

/** One place where a call ended otherwise than expected. */
export interface TestDifference {
  /** RFC 6901 JSON pointer: `/result/FIELD` or `/error`. */
  readonly pointer: string;
  /** Null: nothing was expected here. */
  readonly expected: Scalar | null;
  /** Null: there was nothing here. */
  readonly actual: Scalar | null;
}

/** How a test call ended, as a Run that ends so would show it. */
export interface TestEnd {
  /** How the telephone execution ended, such as `conversation` or `busy`. */
  readonly outcome: string;
  readonly result: Readonly<Record<string, Scalar>> | null;
  readonly error: { readonly code: GoalRunErrorCode; readonly detail_code: string | null } | null;
}

export interface CalleeTest {
  readonly object: 'callee_test';
  /** Place in `callees`, from 0. */
  readonly index: number;
  /** The callee’s name, or `callee 3` for the third when it has none; never its number. */
  readonly name: string;
  readonly verdict: TestVerdict;
  readonly expected: NonNullable<ScriptedCallee['expect']> | null;
  /** Null when the call did not come to an end. */
  readonly actual: TestEnd | null;
  readonly differences: readonly TestDifference[];
  /** For the author: why the call did not come to an end, or what the agent says of its own failure. */
  readonly note: string | null;
  /** The first 200 turns; of long ones the beginning. */
  readonly transcript: readonly TestTurn[];
  /** On the callee’s clock, since the answer; null when nobody answered. */
  readonly call_seconds: number | null;
  /** On the wall’s clock, with the drawing of the result. */
  readonly took_seconds: number;
}

/** The last line. Without it the test has broken off. */
export interface GoalTestSummary {
  readonly object: 'goal_test';
  /** Who spoke. */
  readonly agent: AgentKind;
  readonly passed: number;
  readonly failed: number;
  readonly not_judged: number;
  readonly not_run: number;
  readonly took_seconds: number;
}

export type GoalTestLine = CalleeTest | GoalTestSummary;
