import type { Scope } from '@trunkcall/contract';
import { statement } from './database.ts';

/** An API key as it is stored: the hash of its text, never the text. */
export interface KeyRow {
  readonly id: string;
  readonly account_id: string;
  /** SHA-256 of the whole key. */
  readonly secret_hash: Uint8Array;
  readonly scopes: readonly Scope[];
  /** Regions whose Goals the key may run; null means all. */
  readonly regions: readonly string[] | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  /** To the minute; null: not since this is noted. */
  readonly last_used_at: Date | null;
  readonly created_at: Date;
}

const keyColumns =
  'k.id, k.account_id, k.secret_hash, k.scopes, k.regions, k.expires_at, k.revoked_at, k.last_used_at, k.created_at';

/** Values: id, account id, hash, scopes, regions, expiry. No row when there is no such account. */
export const insertKey = statement<KeyRow>(
  'insert_api_key',
  `insert into api_keys as k (id, account_id, secret_hash, scopes, regions, expires_at)
   select $1, a.id, $3::bytea, $4::text[], $5::text[], $6::timestamptz from accounts a where a.id = $2
   returning ${keyColumns}`,
);

/** Values: id. */
export const findKey = statement<KeyRow>(
  'find_api_key',
  `select ${keyColumns} from api_keys k where k.id = $1`,
);

/** Values: account id. Oldest first. */
export const listKeys = statement<KeyRow>(
  'list_api_keys',
  `select ${keyColumns} from api_keys k where k.account_id = $1 order by k.id`,
);

/** Values: id. A key that is revoked already keeps its time. */
export const revokeKey = statement<KeyRow>(
  'revoke_api_key',
  `update api_keys k set revoked_at = coalesce(k.revoked_at, now()) where k.id = $1 returning ${keyColumns}`,
);

/** Keys are locked in one order, so that processes do not wait for each other in a ring. Values: ids, times. */
export const recordKeyUses = statement<never>(
  'record_key_uses',
  `with used as (
     select u.id, u.at from unnest($1::text[], $2::timestamptz[]) as u (id, at)
     join api_keys k on k.id = u.id order by k.id for no key update of k
   )
   update api_keys k set last_used_at = u.at from used u
   where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)`,
);
