/** Who may do what in the console: the one table, and the one check. */
import {
  consoleActions,
  consoleRoles,
  isId,
  type ConsoleAction,
  type ConsoleRole,
} from '@trunkcall/contract';
import type { FastifyRequest } from 'fastify';
import type { Session } from '../../authoring/sessions.ts';
import { Refusal } from '../../platform/refusal.ts';
import { findAccount } from '../../storage/accounts.ts';
import type { Queryable } from '../../storage/database.ts';

/** The least role that may; those behind it may too (viewer, author, owner, operator). */
const leastRole: Readonly<Record<ConsoleAction, ConsoleRole>> = {
  'account.read': 'viewer',
  'goal.write': 'author',
  'goal.publish': 'author',
  'goal.command': 'author',
  'goal.retire': 'owner',
  'run.cancel': 'author',
  // A voice says more about a person than what they said.
  'recording.hear': 'author',
  // Nobody has checked yet what is said, and the callee can not see who is there.
  'call.listen': 'owner',
  'number.assign': 'owner',
  'key.manage': 'owner',
  'webhook.manage': 'owner',
  'account.manage': 'owner',
  'person.manage': 'owner',
  'audit.read': 'owner',
  'budget.write': 'owner',
  'deployment.manage': 'operator',
};

/** What a role may do. */
export function actionsOf(role: ConsoleRole): ConsoleAction[] {
  return consoleActions.filter((action) => mayDo(role, action));
}

const mayDo = (role: ConsoleRole, action: ConsoleAction): boolean =>
  consoleRoles.indexOf(role) >= consoleRoles.indexOf(leastRole[action]);

/** The role of a person in an account; null for a stranger. */
export function roleIn(session: Session, accountId: string): ConsoleRole | null {
  if (session.operator) return 'operator';
  return (Object.hasOwn(session.roles, accountId) ? session.roles[accountId] : undefined) ?? null;
}

/**
 * Makes sure that a person may do something in an account. `what` is the object that was asked for: to a stranger
 * everything of an account looks as if it were not there.
 *
 * Throws: Refusal `not_found` for a stranger, `forbidden` for one whose role is not enough.
 */
export function requireRight(
  session: Session,
  accountId: string,
  action: ConsoleAction,
  what = 'account',
): void {
  const role = roleIn(session, accountId);
  if (role === null) throw new Refusal('not_found', `there is no such ${what}`);
  if (!mayDo(role, action)) throw tooLittle(action);
}

/** Whether a person may do something in an account. */
export function hasRight(session: Session, accountId: string, action: ConsoleAction): boolean {
  const role = roleIn(session, accountId);
  return role !== null && mayDo(role, action);
}

/** Makes sure that the account of a path exists: operators may do everything in every account there is. */
export function requireAccount(db: Queryable) {
  return async ({ params }: FastifyRequest): Promise<void> => {
    const { account } = params as { readonly account?: string };
    if (account === undefined) return;
    const [found] = isId('acct', account) ? await db.query(findAccount, [account]) : [];
    if (found === undefined) throw new Refusal('not_found', 'there is no such account');
  };
}

/** Makes sure that a person runs the deployment. Throws: Refusal `forbidden`. */
export function requireOperator(session: Session): void {
  if (!session.operator) throw tooLittle('deployment.manage');
}

const tooLittle = (action: ConsoleAction) =>
  new Refusal('forbidden', `this takes the role ${leastRole[action]}`, {
    details: { needs: leastRole[action] },
  });
