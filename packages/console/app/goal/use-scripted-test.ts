/**
 * A test of the draft, as it goes on.
 *
 *   run ──▶ save the draft ──▶ one line per callee as its call is over ──▶ the summary
 *              └── leaving the page, or `stop`: the server gives up the calls that are left
 */
import type { AgentKind, CalleeTest, GoalTestLine, GoalTestSummary } from '@trunkcall/contract';
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, postForLines, query } from '../api.ts';
import type { DraftState } from './use-draft.ts';

export interface ScriptedTestState {
  readonly running: boolean;
  /** By place in the draft’s callees, as far as their calls are over. */
  readonly tests: ReadonlyMap<number, CalleeTest>;
  /** Null until all calls are over. */
  readonly summary: GoalTestSummary | null;
  readonly error: ApiError | null;
  /** The draft that was tested; undefined before the first test. */
  readonly tested: unknown;
  readonly run: (agent: AgentKind | null) => void;
  readonly stop: () => void;
}

interface Progress extends Omit<ScriptedTestState, 'run' | 'stop'> {}

const before: Progress = { running: false, tests: new Map(), summary: null, error: null, tested: undefined };

export function useScriptedTest(goalId: string, { draft, flush }: DraftState): ScriptedTestState {
  const [progress, setProgress] = useState(before);
  const stopping = useRef<AbortController>(null);
  const change = (part: Partial<Progress>) => setProgress((now) => ({ ...now, ...part }));
  const stop = useCallback(() => stopping.current?.abort(), []);
  // Whoever leaves wants no calls that cost something.
  useEffect(() => stop, [stop]);

  async function test(agent: AgentKind | null, { signal }: AbortController): Promise<void> {
    setProgress({ ...before, running: true, tested: draft });
    const tests = new Map<number, CalleeTest>();
    let summary: GoalTestSummary | null = null;
    try {
      if (!(await flush())) {
        setProgress({ ...before, running: true, error: new ApiError(0, 'unsaved', '', {}) });
        return;
      }
      const path = `/goals/${goalId}/test${query({ agent })}`;
      for await (const line of postForLines<GoalTestLine>(path, signal)) {
        if (line.object === 'goal_test') summary = line;
        else tests.set(line.index, line);
        change({ tests: new Map(tests), summary });
      }
      const brokeOff = summary === null && !signal.aborted;
      change({ error: brokeOff ? new ApiError(0, 'broken_off', '', {}) : null });
    } catch (error) {
      if (!signal.aborted)
        change({ error: error instanceof ApiError ? error : new ApiError(0, 'unknown', '', {}) });
    } finally {
      change({ running: false });
    }
  }

  const run = (agent: AgentKind | null) => {
    const next = new AbortController();
    stopping.current?.abort();
    stopping.current = next;
    void test(agent, next);
  };
  return { ...progress, run, stop };
}
