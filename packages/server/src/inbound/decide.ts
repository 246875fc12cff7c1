/** Who answers a call to one of our numbers, and how. Pure; what may still stand against it, the limits, `admit.ts` asks. */
import type { GoalFile, RefusalReason, Variables } from '@trunkcall/contract';
import { renderSpoken } from '../agents/instructions.ts';
import { nextOpening } from '../platform/calling-window.ts';
import { defaultVariables } from '../platform/default-variables.ts';
import type { LineRow } from '../storage/inbound.ts';

/** A number with the published Goal that answers it. */
export interface AnsweredLine {
  readonly numberId: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly goalId: string;
  readonly runSpecId: string;
  readonly runSpecVersion: number;
  readonly content: GoalFile;
  readonly variables: Variables;
  /** All that the caller hears, outside the opening hours; null for a conversation. */
  readonly announcement: string | null;
}

export type Answering =
  | { readonly kind: 'answer'; readonly line: AnsweredLine }
  | {
      readonly kind: 'refuse';
      readonly reason: RefusalReason;
      readonly retryAfterSeconds: number | null;
      /** For operators. */
      readonly note: string;
    };

/**
 * `line` is what was found under the dialled number; `problemsOf` says why no agent here can speak for a Goal. A wish
 * not to be called says nothing about calls to us, so nobody asks for one.
 */
export function decideAnswer(
  line: LineRow | undefined,
  nowMs: number,
  problemsOf: (goal: GoalFile) => readonly string[],
): Answering {
  if (line === undefined) return refuse('unknown_number', 'the number is not ours');
  const { account_id: accountId, account_name: accountName, goal_id: goalId, content } = line;
  if (accountId === null || accountName === null || goalId === null)
    return refuse('not_answered', 'no Goal answers the number');
  const { run_spec_id: runSpecId, run_spec_version: runSpecVersion } = line;
  if (line.goal_state !== 'active' || runSpecId === null || runSpecVersion === null || content === null)
    return refuse('not_answered', 'the Goal is not active');
  const [problem] = problemsOf(content);
  if (problem !== undefined) return refuse('not_answered', problem);
  const { values: variables, missing } = defaultVariables(content.input_schema);
  if (missing.length > 0) return refuse('not_answered', 'the Goal requires variables without defaults');
  const opening = nextOpening(content.calling_window, nowMs);
  const { outside_hours: outside, message } = content.inbound ?? { outside_hours: 'reject' };
  if (opening !== null && (outside === 'reject' || message === undefined)) {
    return refuse('outside_hours', 'outside the opening hours', Math.ceil((opening - nowMs) / 1_000));
  }
  const announcement = opening === null ? null : renderSpoken(message ?? '', variables);
  const { number_id: numberId } = line;
  return {
    kind: 'answer',
    line: {
      numberId,
      accountId,
      accountName,
      goalId,
      runSpecId,
      runSpecVersion,
      content,
      variables,
      announcement,
    },
  };
}

function refuse(reason: RefusalReason, note: string, retryAfterSeconds: number | null = null): Answering {
  return { kind: 'refuse', reason, retryAfterSeconds, note };
}

/** What it means that nothing was stored of a call: the limits, a copy of it, or a Goal that has just changed. */
export function whyNotAccepted(row: {
  readonly unchanged: boolean;
  readonly account_room: number;
  readonly room: number | null;
}): Extract<Answering, { kind: 'refuse' }> {
  const because = (reason: RefusalReason, note: string) =>
    ({ kind: 'refuse', reason, retryAfterSeconds: null, note }) as const;
  if (row.account_room <= 0) return because('busy', 'the account takes no more calls at once');
  if (!row.unchanged) return because('not_answered', 'the number or its Goal has just changed');
  if ((row.room ?? 0) <= 0) return because('busy', 'the deployment leads no more calls at once');
  return because('duplicate', 'a copy of the call was taken in before');
}
