/**
 * Authoring of Goals. Every function here must be given a transaction: the Goal's row is locked first, the
 * state machine decides, and the writes follow, so commands on one Goal happen one after the other.
 */
import { isId, type GoalFile, type GoalFileProblem } from '@trunkcall/contract';
import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Queryable } from '../storage/database.ts';
import { findAnsweredNumber } from '../storage/numbers.ts';
import {
  insertGoal,
  lockGoal,
  publishDraft,
  setGoalListed,
  setGoalState,
  updateDraft,
  updateUnfinished,
  withdrawPublication,
} from '../storage/goals.ts';
import { parseGoalFile } from './goal-file.ts';
import { goalProblems } from './goal-rules.ts';
import { inboundProblems } from './numbers.ts';
import { nextGoalState, type GoalCommand, type GoalState } from './goal-state.ts';

/**
 * Writes a Goal file as the draft of a new Goal, or of an existing one of the same account. What is published
 * stays as it is. Ends with the Goal's id.
 *
 * Throws: Refusal `goal_invalid` with every problem in `details.problems`, `not_found`, `goal_state_conflict`.
 */
export async function applyGoal(
  tx: Queryable,
  ids: Ids,
  order: { readonly accountId: string; readonly goalId: string | null; readonly text: string },
): Promise<string> {
  const parsed = parseGoalFile(order.text);
  if (!parsed.ok) throw invalidGoal('the Goal file is not valid', parsed.problems);
  const draft = JSON.stringify(parsed.file);
  if (order.goalId === null) {
    const id = ids.next('goal');
    await tx.query(insertGoal, [id, order.accountId, draft]);
    return id;
  }
  const goal = await lock(tx, order.goalId);
  if (goal.account_id !== order.accountId) throw missingGoal();
  decide(goal.state, 'apply');
  await tx.query(updateDraft, [order.goalId, draft]);
  return order.goalId;
}

/**
 * Keeps what an author is writing: as the draft when it is valid, else beside the last valid one. `revision` is the one
 * that the author saw.
 *
 * Ends with the next revision and what is still wrong. Throws: Refusal `edit_conflict` when somebody else changed the
 * draft meanwhile, `invalid_request` for what can not be stored, `not_found`, `goal_state_conflict`. Safe to repeat: yes,
 * what is there already is no conflict: the answer to the first try may have been lost.
 */
export async function saveDraft(
  tx: Queryable,
  order: { readonly goalId: string; readonly revision: number; readonly text: string },
): Promise<{ readonly revision: number; readonly problems: readonly GoalFileProblem[] }> {
  const parsed = parseGoalFile(order.text);
  const goal = await lock(tx, order.goalId);
  decide(goal.state, 'apply');
  const problems = parsed.ok ? [] : parsed.problems;
  const kept = JSON.stringify(goal.unfinished ?? goal.draft);
  if (goal.draft_revision === order.revision + 1 && kept === order.text) {
    return { revision: goal.draft_revision, problems };
  }
  refuseOvertaken(goal, order.revision);
  if (parsed.ok) await tx.query(updateDraft, [order.goalId, JSON.stringify(parsed.file)]);
  else await tx.query(updateUnfinished, [order.goalId, order.text]);
  return { revision: goal.draft_revision + 1, problems };
}

function refuseOvertaken({ draft_revision: revision }: LockedGoal, seen: number): void {
  if (revision === seen) return;
  throw new Refusal('edit_conflict', 'somebody else changed the draft meanwhile', { details: { revision } });
}

/**
 * Publishes the draft: an immutable RunSpec with the next version, current from the commit on. Whether this
 * deployment can execute it at the moment does not matter here; readiness is reported where the Goal is read,
 * because it changes with the deployment and not with the Goal.
 *
 * Throws: Refusal `goal_invalid` when the rules have become stricter since the draft was written, and when the Goal
 * answers a number and the draft could not, `not_found`,
 * `goal_state_conflict`, `edit_conflict` when it is not the `revision` that was looked at. Safe to repeat: no, every call
 * makes a version.
 *
 * Ends with the version.
 */
export async function publishGoal(
  tx: Queryable,
  ids: Ids,
  goalId: string,
  revision?: number,
): Promise<number> {
  const goal = await lock(tx, goalId);
  const state = decide(goal.state, 'publish');
  if (revision !== undefined) refuseOvertaken(goal, revision);
  const problems = await publicationProblems(tx, goalId, goal);
  if (problems.length > 0) throw invalidGoal('the draft can not be published', problems);
  const version = goal.latest_version + 1;
  await tx.query(publishDraft, [goalId, version, ids.next('rspec'), state]);
  return version;
}

/** Why publishing would be refused: what is wrong with the newest draft, or why it could not answer the Goal's number. */
export async function publicationProblems(
  db: Queryable,
  goalId: string,
  { draft, unfinished }: Pick<LockedGoal, 'draft' | 'unfinished'>,
): Promise<readonly GoalFileProblem[]> {
  const problems = goalProblems(unfinished ?? draft);
  if (problems.length > 0) return problems;
  const [answered] = await db.query(findAnsweredNumber, [goalId]);
  return answered === undefined ? [] : inboundProblems(draft);
}

/** Carries out a command that needs nothing but the Goal. Safe to repeat: yes. */
export async function commandGoal(
  tx: Queryable,
  goalId: string,
  command: Exclude<GoalCommand, 'apply' | 'publish'>,
): Promise<void> {
  const goal = await lock(tx, goalId);
  const state = decide(goal.state, command);
  if (state !== goal.state) await tx.query(setGoalState, [goalId, state]);
  if (command === 'unpublish') await tx.query(withdrawPublication, [goalId]);
  if (command === 'hide') await tx.query(setGoalListed, [goalId, false]);
  if (command === 'list_publicly') await tx.query(setGoalListed, [goalId, true]);
}

interface LockedGoal {
  readonly account_id: string;
  readonly state: GoalState;
  readonly draft: GoalFile;
  readonly unfinished: unknown;
  readonly draft_revision: number;
  readonly latest_version: number;
}

async function lock(tx: Queryable, goalId: string): Promise<LockedGoal> {
  const [goal] = isId('goal', goalId) ? await tx.query(lockGoal, [goalId]) : [];
  if (goal === undefined) throw missingGoal();
  return goal;
}

function decide(state: GoalState, command: GoalCommand): GoalState {
  const step = nextGoalState(state, command);
  if (step.ok) return step.state;
  throw new Refusal('goal_state_conflict', step.reason, { details: { state } });
}

const missingGoal = () => new Refusal('not_found', 'there is no Goal with this id');

/** `goal_invalid` with everything that is wrong, and where. */
export function invalidGoal(what: string, problems: readonly GoalFileProblem[]): Refusal {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return new Refusal('goal_invalid', `${what}: ${count}`, { details: { problems } });
}
