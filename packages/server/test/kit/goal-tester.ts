import { createScriptedAgent } from '../../src/agents/scripted/scripted-agent.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createScriptedExtractor } from '../../src/result/scripted-extractor.ts';
import { createGoalTester, type GoalTester } from '../../src/rehearsal/test-goal.ts';

/** Tests Goals as a service without any key does. */
export function scriptedGoalTester(clock: Clock): GoalTester {
  const agents = [createScriptedAgent({ clock, synthesizer: null })];
  return createGoalTester({ clock, agents, extractor: createScriptedExtractor() });
}
