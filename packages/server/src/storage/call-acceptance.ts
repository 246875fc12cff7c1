/** What the creation of a call reads and writes. */
import { statement } from './database.ts';

export type CallApi = 'v1' | 'v2';

/** What an Idempotency-Key stands for: exactly one of the three. */
export interface CallKeyRow {
  /** Who is looking at it just now. */
  readonly creator: string | null;
  readonly call_id: string | null;
  readonly failure_body: string | null;
  readonly failure_status: number | null;
  readonly same_request: boolean;
}

const columns = 'creator, call_id, failure_body, failure_status';

/**
 * Takes a key for its creator, for a while: a new one, or one whose creator has died. The row is the key's as it stands
 * now; no row: an equal request is just being committed.
 * Values: account id, API, key, fingerprint, creator, milliseconds.
 */
export const reserveCallKey = statement<CallKeyRow>(
  'reserve_call_key',
  `with taken as (
     insert into call_keys as k (account_id, api, key, fingerprint, creator, creating_until)
     values ($1, $2, $3, $4, $5, now() + $6 * interval '1 millisecond')
     on conflict (account_id, api, key) do update
       set fingerprint = excluded.fingerprint, creator = excluded.creator, creating_until = excluded.creating_until
       where k.creating_until < now()
     returning ${columns}
   )
   select ${columns}, true as same_request from taken
   union all
   select ${columns}, fingerprint = $4 from call_keys
   where account_id = $1 and api = $2 and key = $3 and not exists (select 1 from taken)`,
);

/** Values: account id, API, key, fingerprint. */
export const findCallKey = statement<CallKeyRow>(
  'find_call_key',
  `select ${columns}, fingerprint = $4::bytea as same_request from call_keys
   where account_id = $1 and api = $2 and key = $3`,
);

/** Binds a reserved key to its call. No row: it was taken over by another. Values: account id, API, key, creator, call id. */
export const bindReservedKey = statement<{ readonly key: string }>(
  'bind_reserved_call_key',
  `update call_keys set call_id = $5, creator = null, creating_until = null
   where account_id = $1 and api = $2 and key = $3 and creator = $4 returning key`,
);

/** Binds a new key to its call. No row: the key is there already. Values: account id, API, key, fingerprint, call id. */
export const bindNewKey = statement<{ readonly key: string }>(
  'bind_new_call_key',
  `insert into call_keys (account_id, api, key, fingerprint, call_id) values ($1, $2, $3, $4, $5)
   on conflict do nothing returning key`,
);

/** Keeps a failed creation, to be answered again. Values: account id, API, key, creator, status, body. */
export const keepCreationFailure = statement<{ readonly key: string }>(
  'keep_call_creation_failure',
  `update call_keys set failure_status = $5, failure_body = $6, creator = null, creating_until = null
   where account_id = $1 and api = $2 and key = $3 and creator = $4 returning key`,
);

/** Gives a reserved key back. Values: account id, API, key, creator. */
export const releaseCallKey = statement<never>(
  'release_call_key',
  'delete from call_keys where account_id = $1 and api = $2 and key = $3 and creator = $4',
);

export interface CallingAccount {
  readonly region: string;
  readonly default_number: string | null;
}

/** Values: account id. */
export const findCallingAccount = statement<CallingAccount>(
  'find_calling_account',
  'select region, default_number from accounts where id = $1',
);

/** Which of these numbers must not be called, or are ours. Values: account id, phones. */
export const listForbiddenPhones = statement<{ readonly phone: string; readonly why: 'opted_out' | 'ours' }>(
  'list_forbidden_phones',
  `select a.phone, 'opted_out' as why from unnest($2::text[]) as a (phone)
   cross join lateral (select 1 from do_not_call d where d.account_id = $1 and d.phone = a.phone limit 1) d
   union all
   select a.phone, 'ours' from unnest($2::text[]) as a (phone)
   cross join lateral (select 1 from numbers n where n.phone = a.phone limit 1) n`,
);

/**
 * Inserts a call with its recipients and what its agent is told, all of it `queued`. Values: call id, account id, kind,
 * task, region, locale, result schema, recipient result schema, metadata (JSON texts or null), webhook URL, parallel;
 * ids and contents of the RunSpecs (JSON texts); of the recipients the ids, phones (JSON array texts), RunSpec ids,
 * regions and locales.
 */
export const insertCall = statement<{ readonly created_at: Date }>(
  'insert_call',
  `with call as (
     insert into calls (id, account_id, kind, task, region, locale, result_schema, recipient_result_schema, metadata,
                        webhook_url, parallel, status)
     values ($1, $2, $3, $4, $5, $6, $7::json, $8::json, $9::json, $10, $11, 'queued')
     returning id, created_at
   ), specs as (
     insert into run_specs (id, version, content)
     select s.id, 1, s.content::json from unnest($12::text[], $13::text[]) as s (id, content)
   ), called as (
     insert into recipients (id, call_id, position, phones, run_spec_id, region, locale)
     select r.id, $1, r.position, array(select json_array_elements_text(r.phones::json)), r.run_spec_id, r.region,
            r.locale
     from unnest($14::text[], $15::text[], $16::text[], $17::text[], $18::text[])
       with ordinality as r (id, phones, run_spec_id, region, locale, position)
   )
   select created_at from call`,
);
