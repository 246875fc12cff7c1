/**
 * The answer to a test of a Goal: NDJSON, one line per callee as its call is over, then the summary. What can be refused is
 * refused before the first line. When the client goes away or does not read, or the service stops, the calls that are left
 * are given up.
 */
import { PassThrough } from 'node:stream';
import { agentKinds, type AgentKind, type GoalFile, type GoalTestLine } from '@trunkcall/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseGoalFile } from '../authoring/goal-file.ts';
import { invalidGoal } from '../authoring/goals.ts';
import type { Clock } from '../platform/clock.ts';
import { Refusal } from '../platform/refusal.ts';
import type { GoalTester, ReadyGoalTest } from '../rehearsal/test-goal.ts';
import { queryParameters } from './query.ts';

export interface GoalTestOf {
  /** A Goal file. */
  readonly text: string;
  /** For whom the agent says that it calls. */
  readonly callerName: string;
  /** Who asks for it: a person, or a credential. */
  readonly by: string;
}

/** Answers with the test of a Goal file; `agent` in the query lets another agent speak. */
export type AnswerGoalTest = (
  request: FastifyRequest,
  reply: FastifyReply,
  order: GoalTestOf,
) => FastifyReply;

/** At once; half of what a process holds. */
const maxTestsOfOne = 2;
/** How long lines that have come wait to be read. */
export const readWithinMs = 60_000;

export function goalTestAnswers(
  app: FastifyInstance,
  { goalTester, clock }: { readonly goalTester: GoalTester; readonly clock: Clock },
): AnswerGoalTest {
  /** Who has tests under way, one entry for each. */
  const testing: string[] = [];
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());

  /** Ends when all lines are read, or nobody reads them any more. */
  async function tell(ready: ReadyGoalTest, { raw }: FastifyReply, lines: PassThrough): Promise<void> {
    const gone = new AbortController();
    raw.once('close', () => gone.abort());
    // It may have gone before anybody listened.
    if (raw.destroyed) gone.abort();
    // The calls wait with their lines, so that these do not pile up.
    const write = async (line: GoalTestLine, stop: AbortSignal) => {
      if (lines.destroyed || lines.write(`${JSON.stringify(line)}\n`)) return;
      const read = new AbortController();
      lines.once('drain', () => read.abort());
      if (await clock.sleep(readWithinMs, AbortSignal.any([read.signal, stop]))) raw.destroy();
    };
    const summary = await goalTester.run(ready, write, AbortSignal.any([gone.signal, closing.signal]));
    lines.end(`${JSON.stringify(summary)}\n`);
    if (await clock.sleep(readWithinMs, gone.signal)) raw.destroy();
  }

  return (request, reply, { text, callerName, by }) => {
    const agent = readAgent(request);
    const ready = goalTester.prepare({ goal: readGoal(text), agent, callerName });
    if (testing.filter((one) => one === by).length >= maxTestsOfOne) {
      throw new Refusal('rate_limit_exceeded', `${maxTestsOfOne} of your tests are under way already`, {
        headers: { 'retry-after': '5' },
      });
    }
    testing.push(by);
    const lines = new PassThrough();
    void tell(ready, reply, lines).finally(() => testing.splice(testing.indexOf(by), 1));
    reply.header('content-type', 'application/x-ndjson; charset=utf-8');
    // Some proxies would hold lines back.
    reply.header('x-accel-buffering', 'no');
    return reply.send(lines);
  };
}

function readGoal(text: string): GoalFile {
  const parsed = parseGoalFile(text);
  if (!parsed.ok) throw invalidGoal('the Goal file is not valid', parsed.problems);
  return parsed.file;
}

function readAgent(request: FastifyRequest): AgentKind | undefined {
  const { agent } = queryParameters(request, ['agent']);
  if (agent === undefined) return undefined;
  const kind = agentKinds.find((known) => known === agent);
  if (kind === undefined) {
    throw new Refusal('invalid_request', `agent must be one of: ${agentKinds.join(', ')}`);
  }
  return kind;
}
