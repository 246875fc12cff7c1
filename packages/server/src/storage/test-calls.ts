/**
 * Test calls over trunks.
 *
 *   waiting ──claimed──▶ calling ──▶ ended
 *      └────────nobody claims it──────┘
 *
 * A test call is claimed once: the claim is the intent to dial (I4). Every later write repeats its fence; a call whose
 * worker is gone ends as `worker_lost`, and is never placed again.
 */
import type { MediaQuality, OperatorTestCall } from '@trunkcall/contract';
import { statement } from './database.ts';

/** Nobody claims one that has waited for so long, milliseconds. */
const waitLimitMs = 30_000;
/** What is kept. */
const keptDays = 30;

export interface TestCallRow {
  readonly id: string;
  readonly trunk: string;
  readonly phone: string;
  readonly state: OperatorTestCall['state'];
  readonly outcome: string | null;
  readonly ended_by: string | null;
  readonly sip_status: number | null;
  readonly q850: number | null;
  readonly note: string | null;
  readonly provider_call_id: string | null;
  readonly worker: string | null;
  readonly steps: OperatorTestCall['steps'];
  readonly media: MediaQuality | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

const columns = `id, trunk, phone, state, outcome, ended_by, sip_status, q850, note, provider_call_id, worker, steps,
  media, created_at, ended_at`;

/** No row: one is under way over this trunk. Values: id, trunk, phone. */
export const insertTestCall = statement<TestCallRow>(
  'insert_test_call',
  `insert into test_calls (id, trunk, phone) values ($1, $2, $3)
   on conflict (trunk) where state <> 'ended' do nothing returning ${columns}`,
);

/** Ends those that nobody claimed in time, and those whose worker is gone. */
export const expireTestCalls = statement<never>(
  'expire_test_calls',
  `update test_calls
   set outcome = case state when 'waiting' then 'no_worker' else 'worker_lost' end,
       state = 'ended', fence = fence + 1, leased_until = null, ended_at = now()
   where (state = 'waiting' and created_at < now() - ${waitLimitMs} * interval '1 millisecond')
      or (state = 'calling' and leased_until < now())`,
);

export const forgetOldTestCalls = statement<never>(
  'forget_old_test_calls',
  `delete from test_calls where state = 'ended' and created_at < now() - interval '${keptDays} days'`,
);

export interface ClaimedTestCall {
  readonly id: string;
  readonly trunk: string;
  readonly phone: string;
  readonly fence: number;
  readonly created_at: Date;
}

/**
 * Claims a waiting test call over one of the worker's trunks. Whoever gets the row, and no other ever, may dial.
 * Values: worker, its trunks, lease in milliseconds, first step (JSON text of a list).
 */
export const claimTestCall = statement<ClaimedTestCall>(
  'claim_test_call',
  `update test_calls
   set state = 'calling', worker = $1, fence = fence + 1, leased_until = now() + $3 * interval '1 millisecond',
       steps = $4
   where id = (select id from test_calls
               where state = 'waiting' and trunk = any ($2::text[])
                 and created_at >= now() - ${waitLimitMs} * interval '1 millisecond'
               order by id limit 1 for no key update skip locked)
   returning id, trunk, phone, fence, created_at`,
);

/** Values: id, fence, steps (JSON text), provider call id or null, media (JSON text or null). */
export const recordTestSteps = statement<{ readonly id: string }>(
  'record_test_steps',
  `update test_calls
   set steps = $3, provider_call_id = coalesce($4, provider_call_id), media = coalesce($5, media)
   where id = $1 and fence = $2 and state = 'calling' returning id`,
);

/** Values: id, fence, steps (JSON text), outcome, ended by, SIP status, Q.850, note, media (JSON text or null). */
export const endTestCall = statement<{ readonly id: string }>(
  'end_test_call',
  `update test_calls
   set state = 'ended', steps = $3, outcome = $4, ended_by = $5, sip_status = $6, q850 = $7, note = $8,
       media = coalesce($9, media), leased_until = null, ended_at = now()
   where id = $1 and fence = $2 and state = 'calling' returning id`,
);

/** Values: id. */
export const findTestCall = statement<TestCallRow>(
  'find_test_call',
  `select ${columns} from test_calls where id = $1`,
);

/** The newest of each trunk. Values: trunks. */
export const listLastTestCalls = statement<TestCallRow>(
  'list_last_test_calls',
  `select c.* from unnest($1::text[]) as t (name)
   cross join lateral (select ${columns} from test_calls where trunk = t.name order by id desc limit 1) c`,
);

/** Whether the number is one of ours, or its owner asked somebody here never to call again. Values: phone. */
export const isBarred = statement<{ readonly ours: boolean; readonly opted_out: boolean }>(
  'is_barred',
  `select exists (select 1 from numbers where phone = $1) as ours,
          exists (select 1 from accounts a cross join lateral (
                    select 1 from do_not_call d where d.account_id = a.id and d.phone = $1) d) as opted_out`,
);
