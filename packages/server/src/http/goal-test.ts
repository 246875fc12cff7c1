/**
 * The answer to a test of a Goal: NDJSON, one line per callee as its call is over, then the summary. What can be refused is
 * refused before the first line. When the client goes away, or the service stops, the calls that are left are given up.
 */
import { PassThrough } from 'node:stream';
import { agentKinds, type AgentKind, type GoalFile, type GoalTestLine } from '@trunkcall/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseGoalFile } from '../authoring/goal-file.ts';
import { invalidGoal } from '../authoring/goals.ts';
import { Refusal } from '../platform/refusal.ts';
import type { GoalTester } from '../rehearsal/test-goal.ts';
import { queryParameters } from './query.ts';

export interface GoalTestOf {
  /** A Goal file. */
  readonly text: string;
  /** For whom the agent says that it calls. */
  readonly callerName: string;
}

/** Answers with the test of a Goal file; `agent` in the query lets another agent speak. */
export type AnswerGoalTest = (
  request: FastifyRequest,
  reply: FastifyReply,
  order: GoalTestOf,
) => FastifyReply;

export function goalTestAnswers(app: FastifyInstance, tester: GoalTester): AnswerGoalTest {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  return (request, reply, { text, callerName }) => {
    const agent = readAgent(request);
    const ready = tester.prepare({ goal: readGoal(text), agent, callerName });
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    // What is written is bounded: a hundred callees with two hundred turns each.
    const lines = new PassThrough();
    const write = (line: GoalTestLine) => void (lines.destroyed || lines.write(`${JSON.stringify(line)}\n`));
    void tester.run(ready, write, AbortSignal.any([gone.signal, closing.signal])).then((summary) => {
      write(summary);
      lines.end();
    });
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
