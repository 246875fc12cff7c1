/** The processes of the deployment: who is there, what they say of themselves, and which of them are to drain. */
import type { ProviderReport, TrunkReport } from '@trunkcall/contract';
import { statement } from './database.ts';

/** A process that was not heard of for so long is taken to be dead, milliseconds; several beats. */
export const silentAfterMs = 15_000;
/** The row of a dead process is shown for so long, and removed then, milliseconds. */
const forgottenAfterMs = 15 * 60_000;
/** Rows at most, whatever starts and dies. */
const mostRows = 500;

/**
 * One beat: says that a process is there, and asks what is wanted of it. It comes back by itself when its row was
 * removed while it hung. Values: id, host, version, roles, live calls, trunks (JSON text), providers (JSON text),
 * whether it takes no new calls.
 */
export const beat = statement<{
  readonly drain: boolean;
  /** Whether a test call waits, or could have lost its worker. */
  readonly test_calls: boolean;
}>(
  'beat',
  `insert into workers as w (id, host, version, roles, live_calls, trunks, providers, draining)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (id) do update
   set last_seen_at = now(), live_calls = excluded.live_calls, trunks = excluded.trunks,
       providers = excluded.providers, draining = excluded.draining
   returning w.drain_requested_at is not null as drain,
             exists (select 1 from test_calls where state <> 'ended' and trunk > '') as test_calls`,
);

/** Removes the process itself. Values: id. */
export const leave = statement<never>('leave', 'delete from workers where id = $1');

/** Removes those that have been dead for long, and the oldest of too many. */
export const forgetDeadWorkers = statement<never>(
  'forget_dead_workers',
  `delete from workers where last_seen_at < now() - ${forgottenAfterMs} * interval '1 millisecond'
     or id <= (select id from workers order by id desc offset ${mostRows} limit 1)`,
);

/** Only for the embedded database, where no other process can be there. */
export const forgetAllWorkers = statement<never>('forget_all_workers', 'delete from workers');

export interface WorkerRow {
  readonly id: string;
  readonly host: string;
  readonly version: string;
  readonly roles: readonly string[];
  readonly started_at: Date;
  readonly last_seen_at: Date;
  readonly alive: boolean;
  readonly live_calls: number;
  readonly trunks: readonly TrunkReport[];
  readonly providers: readonly ProviderReport[];
  readonly drain_requested_at: Date | null;
  readonly draining: boolean;
}

const columns = `id, host, version, roles, started_at, last_seen_at,
  last_seen_at > now() - ${silentAfterMs} * interval '1 millisecond' as alive, live_calls, trunks, providers,
  drain_requested_at, draining`;

/** Oldest first, at most `mostRows`. */
export const listWorkers = statement<WorkerRow>('list_workers', `select ${columns} from workers order by id`);

/** Asks a process to drain, or to take calls again. No row: it is not there. Values: id, whether to drain. */
export const askToDrain = statement<WorkerRow>(
  'ask_to_drain',
  `update workers set drain_requested_at = case when $2 then coalesce(drain_requested_at, now()) end
   where id = $1 returning ${columns}`,
);
