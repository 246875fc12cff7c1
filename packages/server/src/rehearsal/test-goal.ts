/**
 * Tests a Goal against its scripted callees.
 *
 *   Goal file ──prepare──▶ who speaks, what each callee is called about ──run──▶ one call per callee, few at once
 *
 * - T1  Nobody is phoned: the calls are placed on a simulated network of their own, whatever carriers are configured.
 * - T2  Nothing is stored, and no transcript, number or variable is logged (I10).
 * - T3  The parts are those of a real Run: agent, conversation, extractor, and what each end means.
 * - T4  It is bounded (I9): by callee, as a whole, in calls at once and in tests at once. A paid provider may be behind
 *       the agent.
 */
import type {
  AgentKind,
  AgentSettings,
  CalleeTest,
  GoalFile,
  GoalFileProblem,
  GoalTestOrder,
  GoalTestSummary,
  TestVerdict,
} from '@trunkcall/contract';
import { compileVariables } from '../acceptance/variables.ts';
import type { Agent } from '../agents/agent.ts';
import { invalidGoal } from '../authoring/goals.ts';
import { createSimulatedNetwork } from '../carriers/simulated/network.ts';
import type { Clock } from '../platform/clock.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Extractor } from '../result/extractor.ts';
import { nameOf, testCallee, type TestCall } from './test-callee.ts';

export interface ReadyGoalTest {
  readonly agent: Agent;
  readonly calls: readonly TestCall[];
}

export interface GoalTester {
  /**
   * Makes sure that a test can be made. Throws: Refusal `goal_invalid` with the places in the file (no callees, a variable
   * without a value), `goal_not_ready` when the agent can not speak here, `rate_limit_exceeded`.
   */
  prepare(order: GoalTestOrder): ReadyGoalTest;
  /**
   * Calls every callee; `onCallee` is told as each call is over, in that order, and the next call waits for it. When the
   * signal aborts, or time runs out, the rest are `not_run`; `stop` is what tells `onCallee`. Throws: never.
   */
  run(
    ready: ReadyGoalTest,
    onCallee: (test: CalleeTest, stop: AbortSignal) => unknown,
    signal: AbortSignal,
  ): Promise<GoalTestSummary>;
}

export interface GoalTesterOptions {
  readonly clock: Clock;
  readonly agents: readonly Agent[];
  readonly extractor: Extractor;
}

/** Of one test. */
const callsAtOnce = 4;
/** In this process. */
const maxTests = 4;
/** One test takes no longer, milliseconds. */
export const testLimitMs = 600_000;

export function createGoalTester({ clock, agents, extractor }: GoalTesterOptions): GoalTester {
  let running = 0;

  return {
    prepare({ goal, agent: kind = goal.agent.kind, callerName }) {
      const content = { ...goal, agent: settingsOf(goal, kind) };
      const calls = callsOf(content, callerName);
      const agent = agents.find((candidate) => candidate.kind === kind);
      const problems = agent?.problems(goal.locale, 'speech') ?? [`there is no agent ${kind} here`];
      if (agent === undefined || problems.length > 0) {
        throw new Refusal('goal_not_ready', `the ${kind} agent can not speak here now`, {
          details: { problems },
        });
      }
      if (running >= maxTests) {
        throw new Refusal('rate_limit_exceeded', `${maxTests} tests are under way already`, {
          headers: { 'retry-after': '5' },
        });
      }
      return { agent, calls };
    },

    async run({ agent, calls }, onCallee, signal) {
      running += 1;
      const startedAt = clock.monotonic();
      // Always the same people: a test says the same everywhere.
      const network = createSimulatedNetwork({ clock, speed: Infinity });
      const counts: Record<TestVerdict, number> = { passed: 0, failed: 0, not_judged: 0, not_run: 0 };
      const over = new AbortController();
      const late = new AbortController();
      void clock.sleep(testLimitMs, over.signal).then((reached) => reached && late.abort());
      const stop = AbortSignal.any([signal, late.signal]);
      const waiting = [...calls];
      const callOn = async (): Promise<void> => {
        for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) {
          const test = await testCallee({ clock, network, agent, extractor }, call, stop);
          counts[test.verdict] += 1;
          await onCallee(test, stop);
        }
      };
      try {
        await Promise.all(Array.from({ length: callsAtOnce }, callOn));
      } finally {
        running -= 1;
        over.abort();
        await network.close();
      }
      const took_seconds = Math.round(clock.monotonic() - startedAt) / 1_000;
      return { object: 'goal_test', agent: agent.kind, ...counts, took_seconds };
    },
  };
}

/** Model and voice of another kind mean nothing to this one. */
function settingsOf({ agent }: GoalFile, kind: AgentKind): AgentSettings {
  return agent.kind === kind ? agent : { kind };
}

function callsOf(content: GoalFile, callerName: string): TestCall[] {
  const { callees = [] } = content;
  if (callees.length === 0) {
    const message = 'there is nobody to test with: list simulated people here, with what they say';
    throw invalidGoal('the Goal can not be tested', [{ pointer: '/callees', message }]);
  }
  const check = compileVariables(content.input_schema);
  const problems: GoalFileProblem[] = [];
  const calls = callees.flatMap((callee, index): TestCall[] => {
    const checked = check(callee.variables ?? {});
    if (checked.ok) return [{ content, callee, index, variables: checked.values, callerName }];
    const message = `${nameOf(callee, index)}: ${checked.problem}`;
    problems.push({ pointer: `/callees/${index}/variables`, message });
    return [];
  });
  if (problems.length > 0) throw invalidGoal('the Goal can not be tested', problems);
  return calls;
}
