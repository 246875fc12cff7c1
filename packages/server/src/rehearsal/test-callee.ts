import type { CalleeTest, GoalFile, ScriptedCallee, TestEnd, TestTurn, Variables } from '@trunkcall/contract';
import type { Agent, Turn } from '../agents/agent.ts';
import type { Carrier } from '../carriers/carrier.ts';
import { rehearseTransfer } from '../conversation/transfer.ts';
import { orderFor } from '../dial/order.ts';
import { settlements, type Outcome } from '../dial/outcome.ts';
import type { Clock } from '../platform/clock.ts';
import { cut } from '../platform/cut.ts';
import { dayOf, drawResultInTime, type DrawnResult } from '../result/draw-result.ts';
import type { Extractor } from '../result/extractor.ts';
import { judge } from './judge.ts';
import { converseUnstored } from './unstored.ts';

export interface CalleeTestParts {
  readonly clock: Clock;
  readonly network: Carrier;
  readonly agent: Agent;
  readonly extractor: Extractor;
}

export interface TestCall {
  readonly content: GoalFile;
  readonly callee: ScriptedCallee;
  readonly index: number;
  /** With their defaults. */
  readonly variables: Variables;
  readonly callerName: string;
}

/** One call with its extraction takes no longer on the wall's clock, milliseconds. */
export const calleeLimitMs = 180_000;
/** An extraction that failed is tried once more. */
const drawTries = 2;
const drawPauseMs = 1_000;

const maxShownTurns = 200;
const maxShownLength = 2_000;

/** What came of a call. */
interface Held {
  /** Null: it was given up. */
  readonly end: TestEnd | null;
  readonly note: string | null;
  readonly callMs: number | null;
}

/**
 * Holds one call with a scripted callee on the simulated network, as the worker would hold it, draws the result and
 * compares. Nothing is stored.
 *
 * Ends within `calleeLimitMs`, or as soon as the signal aborts, whatever the agent's provider does. Throws: never.
 */
export async function testCallee(
  parts: CalleeTestParts,
  call: TestCall,
  signal: AbortSignal,
): Promise<CalleeTest> {
  const startedAt = parts.clock.monotonic();
  const { callee, index } = call;
  const turns: Turn[] = [];
  const { end, note, callMs } = await holdInTime(parts, call, turns, signal);
  const { verdict, differences } =
    end === null ? ({ verdict: 'not_run', differences: [] } as const) : judge(callee.expect, end);
  return {
    object: 'callee_test',
    index,
    name: nameOf(callee, index),
    verdict,
    expected: callee.expect ?? null,
    actual: end,
    differences,
    note,
    transcript: turns.slice(0, maxShownTurns).map(shown),
    call_seconds: callMs === null ? null : Math.round(callMs) / 1_000,
    took_seconds: Math.round(parts.clock.monotonic() - startedAt) / 1_000,
  };
}

/** How a callee is called in reports: never by the number (I10). */
export const nameOf = ({ name }: ScriptedCallee, index: number): string =>
  name === undefined || name.trim() === '' ? `callee ${index + 1}` : name;

const shown = ({ speaker, text, offsetMs, interrupted }: Turn): TestTurn => ({
  speaker,
  text: cut(text, maxShownLength),
  offset_seconds: Math.round(offsetMs) / 1_000,
  interrupted,
});

const stopped: Held = { end: null, note: 'the test was stopped or ran out of time', callMs: null };

async function holdInTime(
  parts: CalleeTestParts,
  call: TestCall,
  turns: Turn[],
  signal: AbortSignal,
): Promise<Held> {
  if (signal.aborted) return stopped;
  const over = new AbortController();
  const late = new AbortController();
  const limit = parts.clock.sleep(calleeLimitMs, AbortSignal.any([over.signal, signal]));
  void limit.then((reached) => reached && late.abort());
  try {
    const held = await hold(parts, call, turns, AbortSignal.any([signal, late.signal]));
    const isLate = held.end === null && late.signal.aborted;
    return isLate ? { ...held, note: `the call took longer than ${calleeLimitMs / 1_000} s` } : held;
  } catch (error) {
    // A fault of the program; its words may quote the call.
    return { ...stopped, note: `the test failed: ${error instanceof Error ? error.name : 'unknown fault'}` };
  } finally {
    over.abort();
  }
}

async function hold(
  parts: CalleeTestParts,
  { content, callee, index, variables, callerName }: TestCall,
  turns: Turn[],
  signal: AbortSignal,
): Promise<Held> {
  const { clock, network, agent, extractor } = parts;
  const order = { attemptId: `test_${index + 1}`, to: callee.phone, from: null, ...orderFor(content) };
  const placed = await network.place(order, { progress: () => undefined }, signal);
  if (placed.kind === 'ended') {
    const { outcome, note } = placed.ending;
    return outcome === 'canceled' ? stopped : { end: endWithout(outcome), note, callMs: null };
  }
  const answeredAt = new Date(clock.now());
  const { leg } = placed;
  const { outcome, note } = await converseUnstored({
    agent,
    content,
    variables,
    callerName,
    leg,
    transfer: rehearseTransfer(content, leg, signal),
    onTurn: (turn) => turns.push(turn),
    signal,
  });
  const callMs = leg.clock.now();
  if (outcome === 'stopped') return { ...stopped, callMs };
  if (settlements[outcome].errorCode !== null) return { end: endWithout(outcome), note, callMs };
  const task = {
    resultSchema: content.result_schema,
    turns,
    heldOn: dayOf(answeredAt, content.calling_window?.timezone ?? null),
  };
  const drawn = await drawAgain(() => drawResultInTime(task, extractor, clock, signal), clock, signal);
  if (signal.aborted) return { ...stopped, callMs };
  return { end: endWith(outcome, drawn), note: drawn.kind === 'retry' ? drawn.note : note, callMs };
}

async function drawAgain(
  draw: () => Promise<DrawnResult>,
  clock: Clock,
  signal: AbortSignal,
): Promise<DrawnResult> {
  for (let tries = 1; ; tries += 1) {
    const drawn = await draw();
    if (drawn.kind !== 'retry' || tries === drawTries) return drawn;
    if (!(await clock.sleep(drawPauseMs, signal))) return drawn;
  }
}

/** The end of a call that gives no result. */
function endWithout(outcome: Outcome): TestEnd {
  const { errorCode, detailCode } = settlements[outcome];
  const error = errorCode === null ? null : { code: errorCode, detail_code: detailCode };
  return { outcome, result: null, error };
}

function endWith(outcome: Outcome, drawn: DrawnResult): TestEnd {
  switch (drawn.kind) {
    case 'result':
      return { outcome, result: drawn.result, error: null };
    case 'error':
      return { outcome, result: null, error: { code: drawn.code, detail_code: drawn.detailCode } };
    case 'retry':
      return { outcome, result: null, error: { code: 'result_failed', detail_code: 'extraction_failed' } };
  }
}
