import type { GoalFile, Variables } from '@trunkcall/contract';
import type { Brief } from '../agents/agent.ts';
import { renderInstructions } from '../agents/instructions.ts';

/** The agent is told to wrap up so long before the call limit. */
const wrapUpMs = 30_000;

/** When a call of the Goal is cut off, milliseconds after the answer. */
export const callLimitOf = ({ limits }: GoalFile): number => limits.call_seconds * 1_000;

/** What differs from call to call of one Goal. */
type CallFacts = Pick<Brief, 'callerName' | 'direction' | 'announcement' | 'disclosure' | 'transfer'>;

/** What the agent is told for one call of a Goal. `variables` are checked, with their defaults filled in. */
export function briefOf(content: GoalFile, variables: Variables, call: CallFacts): Brief {
  const { callerName, direction, announcement, disclosure, transfer } = call;
  return {
    direction,
    announcement,
    callerName,
    title: content.title,
    instructions: renderInstructions(content.instructions, variables),
    variables,
    locale: content.locale,
    timeZone: content.calling_window?.timezone ?? 'UTC',
    resultSchema: content.result_schema,
    settings: content.agent,
    machine: content.machine,
    menu: content.menu ?? 'navigate',
    recorded: content.record === true,
    disclosure,
    transfer,
    wrapUpAtMs: callLimitOf(content) - wrapUpMs,
  };
}
