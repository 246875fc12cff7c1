/**
 * Founds a deployment on an empty database.
 *
 * F1  Everything happens in one transaction: a crash leaves nothing behind, and the next start founds again.
 * F2  The credentials are saved before that transaction commits. A database never holds secrets that nobody
 *     has seen; a file whose commit was lost is overwritten by the next start.
 * F3  The row of `deployment` is unique: of processes that start at the same time one founds, the others wait
 *     for its commit and find it done.
 */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { scopes, type Credentials } from '@trunkcall/contract';
import { assert } from '../platform/assert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Database, Queryable } from '../storage/database.ts';
import {
  findDeployment,
  insertDeployment,
  type DeploymentRow,
  type Environment,
} from '../storage/deployment.ts';
import { insertOperatorToken } from '../storage/operator-tokens.ts';
import { changeAccount, createAccount } from './accounts.ts';
import { parseGoalFile } from './goal-file.ts';
import { applyGoal, publishGoal } from './goals.ts';
import { createKeyring } from './keys.ts';
import { hashOperatorToken, newOperatorToken } from './operator-tokens.ts';

export interface FirstStart {
  /** Migrated. */
  readonly db: Database;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly environment: Environment;
  /** Holds the `*.yaml` that a test deployment begins with. */
  readonly goalsDirectory: string;
  /** Where clients will find the service; goes into the credentials. */
  readonly baseUrl: string;
  /** Keeps the credentials, readable for the operator alone. May be called more than once; the last call counts. */
  readonly save: (credentials: Credentials) => Promise<void>;
}

export interface Prepared {
  readonly deployment: DeploymentRow;
  /** Null when the deployment was there before. */
  readonly credentials: Credentials | null;
}

/** The database was founded for the other environment: a test service must never phone with production data. */
export class WrongEnvironment extends Error {
  override readonly name = 'WrongEnvironment';
}

/**
 * Makes sure that the deployment exists, and founds it when it does not: with an operator token, and in `test`
 * also with the account `demo`, the example Goals, published, and an API key with all scopes.
 *
 * Ends with the deployment, and with the credentials when this call founded it. Throws: WrongEnvironment; an
 * Error that names the file when an example is not valid; what `save` throws. Safe to repeat: yes.
 */
export async function prepareDeployment(start: FirstStart): Promise<Prepared> {
  const [existing] = await start.db.query(findDeployment);
  const prepared =
    existing === undefined ? await foundDeployment(start) : { deployment: existing, credentials: null };
  const { environment } = prepared.deployment;
  if (environment !== start.environment) {
    throw new WrongEnvironment(
      `The database belongs to a ${environment} deployment, and this one is set to ${start.environment}; ` +
        'use another database or change TRUNKCALL_ENVIRONMENT.',
    );
  }
  return prepared;
}

function foundDeployment(start: FirstStart): Promise<Prepared> {
  return start.db.transaction(async (tx) => {
    const [deployment] = await tx.query(insertDeployment, [start.environment, randomBytes(32)]);
    if (deployment === undefined) {
      const [theirs] = await tx.query(findDeployment);
      assert(theirs !== undefined, 'a deployment row can not vanish');
      return { deployment: theirs, credentials: null };
    }
    const token = newOperatorToken();
    await tx.query(insertOperatorToken, [hashOperatorToken(token)]);
    const base = { base_url: start.baseUrl, operator_token: token };
    const credentials = start.environment === 'test' ? { ...base, ...(await addDemo(start, tx)) } : base;
    await start.save(credentials);
    return { deployment, credentials };
  });
}

/** Simulated people are patient and many: a newcomer's hundred Runs need not wait for one another. */
const demoMaxActiveCalls = 100;

/** The account `demo` with its key and the published examples. */
async function addDemo(
  { ids, clock, environment, goalsDirectory }: FirstStart,
  tx: Queryable,
): Promise<Required<Pick<Credentials, 'account' | 'api_key' | 'goals'>>> {
  const account = await createAccount(tx, ids, 'demo');
  await changeAccount(tx, ids, account.id, { max_active_calls: demoMaxActiveCalls }, null);
  const goals: Record<string, string> = {};
  for (const [name, text] of await readExamples(goalsDirectory)) {
    const id = await applyGoal(tx, ids, { accountId: account.id, goalId: null, text });
    await publishGoal(tx, ids, id);
    goals[name] = id;
  }
  const keyring = createKeyring({ db: tx, clock, ids, environment });
  const { key } = await keyring.create({ accountId: account.id, scopes, regions: null, expiresAt: null });
  return { account: account.name, api_key: key, goals };
}

/** Example files in the order of their names, by name without extension. */
async function readExamples(directory: string): Promise<[string, string][]> {
  const files = (await readdir(directory)).filter((file) => extname(file) === '.yaml').sort();
  return Promise.all(
    files.map(async (file): Promise<[string, string]> => {
      const text = await readFile(join(directory, file), 'utf8');
      const parsed = parseGoalFile(text);
      if (parsed.ok) return [basename(file, '.yaml'), text];
      const [first] = parsed.problems;
      throw new Error(`${file}:${first?.line}:${first?.column}: ${first?.message}`);
    }),
  );
}
