/**
 * API keys: `tc_<test|live>_<26 characters of the id><43 characters of secret>`.
 *
 * - The text exists once, in the answer to its creation; stored is its SHA-256. (The secret has 256 random bits, so
 *   a slow hash would protect nothing more.)
 * - A row is remembered for `freshForMs`, counted from before it was read; so a revocation is in force within 5 s in
 *   every process. Expiry is judged by the clock at every use.
 * - Finding a key takes the same work whether its id exists or not: hash, look-up, constant-time comparison.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isId, scopes as allScopes, type Scope } from '@trunkcall/contract';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Queryable } from '../storage/database.ts';
import { findKey, insertKey, listKeys, revokeKey, type KeyRow } from '../storage/keys.ts';

export interface NewKey {
  readonly accountId: string;
  /** At least one. */
  readonly scopes: readonly Scope[];
  /** ISO 3166-1 alpha-2 regions whose Goals the key may run; null means all. */
  readonly regions: readonly string[] | null;
  readonly expiresAt: Date | null;
}

/** What may be shown of a key at any time. */
export interface KeyView {
  readonly id: string;
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  readonly regions: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

export interface Keyring {
  /**
   * Makes a key and gives its text, once; in a transaction where one is given. Throws: Refusal `invalid_request`,
   * `not_found` (no such account).
   */
  create(key: NewKey, tx?: Queryable): Promise<KeyView & { readonly key: string }>;
  /** All keys of an account, oldest first; revoked and expired ones too. */
  list(accountId: string): Promise<KeyView[]>;
  /** Revokes a key for good, as above. Throws: Refusal `not_found`. Safe to repeat: yes. */
  revoke(keyId: string, tx?: Queryable): Promise<KeyView>;
  /** The valid key that this text is, when it was read so lately that the database need not be asked; else null. */
  recall(key: string): KeyView | null;
  /** Whether this text has been right before, if perhaps long ago; for those who count wrong guesses. */
  isFamiliar(key: string): boolean;
  /** The valid key that this text is, else null: malformed, unknown, revoked, expired, of another environment. */
  verify(key: string): Promise<KeyView | null>;
}

export interface KeyringDependencies {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly environment: 'test' | 'production';
  /** Told of every use of a valid key. */
  readonly onUse?: (keyId: string) => void;
}

/** One second below the promise of 5 s. */
const freshForMs = 4_000;
const maxRemembered = 10_000;

interface Remembered {
  readonly row: KeyRow;
  readonly view: KeyView;
  /** Monotonic. */
  readonly freshUntilMs: number;
}

const prefixes = { test: 'tc_test_', production: 'tc_live_' } as const;
const regionForm = /^[A-Z]{2}$/;
const secretForm = /^[\w-]{43}$/;
const hashOfNothing = Buffer.alloc(32);

/** Builds the keyring of one deployment. */
export function createKeyring(deps: KeyringDependencies): Keyring {
  const { db, clock, ids } = deps;
  const prefix = prefixes[deps.environment];
  const remembered = new Map<string, Remembered>();

  async function create(wanted: NewKey, tx = db): Promise<KeyView & { key: string }> {
    refuseBadKey(wanted, clock.now());
    const id = ids.next('key');
    const key = `${prefix}${id.slice('key_'.length)}${randomBytes(32).toString('base64url')}`;
    const { accountId, scopes, regions, expiresAt } = wanted;
    const values = [id, accountId, hashKey(key), scopes, regions, expiresAt];
    const [row] = await tx.query(insertKey, values);
    if (row === undefined) throw new Refusal('not_found', 'there is no such account');
    return { ...viewOf(row), key };
  }

  async function list(accountId: string): Promise<KeyView[]> {
    const rows = await db.query(listKeys, [accountId]);
    return rows.map(viewOf);
  }

  async function revoke(keyId: string, tx = db): Promise<KeyView> {
    const [row] = isId('key', keyId) ? await tx.query(revokeKey, [keyId]) : [];
    if (row === undefined) throw new Refusal('not_found', 'there is no such key');
    remembered.delete(keyId);
    return viewOf(row);
  }

  function recall(key: string): KeyView | null {
    const held = remembered.get(idOf(key));
    if (held === undefined || clock.monotonic() >= held.freshUntilMs) return null;
    return isThisKey(held, key) ? usable(held) : null;
  }

  function isFamiliar(key: string): boolean {
    const held = remembered.get(idOf(key));
    return held !== undefined && isThisKey(held, key);
  }

  async function verify(key: string): Promise<KeyView | null> {
    if (!isWellFormed(key)) return null;
    const id = idOf(key);
    const held = remembered.get(id);
    const fresh = held !== undefined && clock.monotonic() < held.freshUntilMs;
    const found = fresh ? held : await read(id);
    return isThisKey(found, key) && found !== null ? usable(found) : null;
  }

  async function read(id: string): Promise<Remembered | null> {
    const freshUntilMs = clock.monotonic() + freshForMs;
    const [row] = await db.query(findKey, [id]);
    remembered.delete(id);
    if (row === undefined) return null;
    const found = { row, view: viewOf(row), freshUntilMs };
    remembered.set(id, found);
    if (remembered.size > maxRemembered) forgetOldest(remembered);
    return found;
  }

  function usable(held: Remembered): KeyView | null {
    const { id, revoked_at: revokedAt, expires_at: expiresAt } = held.row;
    const expired = expiresAt !== null && expiresAt.getTime() <= clock.now();
    if (revokedAt !== null || expired) return null;
    deps.onUse?.(id);
    return held.view;
  }

  function isWellFormed(key: string): boolean {
    if (!key.startsWith(prefix)) return false;
    return isId('key', idOf(key)) && secretForm.test(key.slice(prefix.length + 26));
  }

  function idOf(key: string): string {
    return `key_${key.slice(prefix.length, prefix.length + 26)}`;
  }

  return { create, list, revoke, recall, isFamiliar, verify };
}

function refuseBadKey({ scopes, regions, expiresAt }: NewKey, nowMs: number): void {
  const known = new Set<string>(allScopes);
  if (scopes.length === 0 || scopes.some((scope) => !known.has(scope))) {
    throw new Refusal('invalid_request', `scopes must be some of ${allScopes.join(', ')}`);
  }
  if (regions !== null && (regions.length === 0 || regions.some((region) => !regionForm.test(region)))) {
    throw new Refusal(
      'invalid_request',
      'regions must be ISO 3166-1 alpha-2 codes; leave them out to allow all',
    );
  }
  if (expiresAt !== null && !(expiresAt.getTime() > nowMs)) {
    throw new Refusal('invalid_request', 'expires_at must lie in the future');
  }
}

function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Compares in constant time, and does as much when there is nothing to compare with. */
function isThisKey(held: Remembered | null, key: string): boolean {
  const same = timingSafeEqual(held?.row.secret_hash ?? hashOfNothing, hashKey(key));
  return held !== null && same;
}

function forgetOldest(remembered: Map<string, Remembered>): void {
  for (const [oldest] of remembered) {
    remembered.delete(oldest);
    return;
  }
}

function viewOf(row: KeyRow): KeyView {
  return {
    id: row.id,
    accountId: row.account_id,
    scopes: row.scopes,
    regions: row.regions,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
  };
}
