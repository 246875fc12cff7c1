/** Accounts and published Goals for tests, written straight to the tables. */
import type { GoalFile } from '@trunkcall/contract';
import type { Ids } from '../../src/platform/ids.ts';
import { statement, type Database } from '../../src/storage/database.ts';

export function goalFile(over: Partial<GoalFile> = {}): GoalFile {
  return {
    format: 1,
    title: 'Confirm a delivery',
    description: 'Asks one customer to confirm a delivery.',
    instructions: 'You call {{name}}.',
    voice: { region: 'US', name: 'default' },
    locale: 'en-US',
    targets: { countries: ['US'] },
    input_schema: {
      type: 'object',
      additionalProperties: false,
      properties: { name: { type: 'string' }, parcels: { type: 'integer', default: 1 } },
      required: ['name'],
    },
    result_schema: {
      type: 'object',
      additionalProperties: false,
      properties: { confirmed: { type: 'boolean', description: 'whether the delivery suits' } },
      required: ['confirmed'],
    },
    agent: { kind: 'scripted' },
    limits: { ring_seconds: 30, call_seconds: 60 },
    machine: 'hang_up',
    ...over,
  };
}

const insertAccount = statement<never>(
  'fixture_account',
  'insert into accounts (id, name, max_active_calls) values ($1, $1, $2)',
);
const insertGoal = statement<never>(
  'fixture_goal',
  `insert into goals (id, account_id, state, draft) values ($1, $2, 'active', '{}')`,
);
const insertRunSpec = statement<never>(
  'fixture_run_spec',
  `with version as (update goals set latest_version = latest_version + 1, published_run_spec_id = $1
                    where id = $2 returning latest_version)
   insert into run_specs (id, goal_id, version, content) select $1, $2, latest_version, $3::json from version`,
);

/** Of a draft, unasked whether it may be one. */
export const setTitle = statement<never>(
  'fixture_title',
  `update goals set draft = jsonb_set(draft::jsonb, '{title}', to_jsonb($2::text))::json where id = $1`,
);

export async function createAccount(db: Database, ids: Ids, maxActiveCalls = 100): Promise<string> {
  const id = ids.next('acct');
  await db.query(insertAccount, [id, maxActiveCalls]);
  return id;
}

const insertNumber = statement<never>(
  'fixture_number',
  'insert into numbers (id, phone, account_id, inbound_goal_id) values ($1, $2, $3, $4)',
);

/** Enters a number of the account's own that the Goal answers. Ends with its id. */
export async function addNumber(
  db: Database,
  ids: Ids,
  number: { readonly phone: string; readonly accountId: string; readonly goalId: string },
): Promise<string> {
  const id = ids.next('num');
  await db.query(insertNumber, [id, number.phone, number.accountId, number.goalId]);
  return id;
}

/** Publishes `content` as the next version of a Goal, or of a new one. */
export async function publishGoal(
  db: Database,
  ids: Ids,
  accountId: string,
  content: GoalFile,
  goalId?: string,
): Promise<string> {
  const id = goalId ?? ids.next('goal');
  if (goalId === undefined) await db.query(insertGoal, [id, accountId]);
  await db.query(insertRunSpec, [ids.next('rspec'), id, JSON.stringify(content)]);
  return id;
}
