import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Database } from '../storage/database.ts';
import { renewLeases, type ClaimedJob, type Lease, type LeaseStop, type Queue } from '../storage/jobs.ts';

export interface LeasesOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a lease lasts without a renewal, milliseconds, at most 60,000. */
  readonly leaseMs: number;
}

interface Held {
  readonly lease: Lease;
  readonly stop: AbortController;
  /** Monotonic milliseconds until which the lease certainly holds. */
  validUntil: number;
}

/**
 * The leases that this process holds.
 *
 * - A lease counts as valid from the moment *before* its claim or renewal was asked, so our clock runs out
 *   before the database's.
 * - When the database says that a lease is gone, its signal aborts with `lost`, and its fence can no longer
 *   write. When the database can not be asked, nobody else can take the lease either: live calls go on, but
 *   `holds()` turns false in time and nothing new is dialled.
 */
export interface Leases {
  hold(queue: Queue, job: ClaimedJob, askedAt: number): Lease;
  /** Asks the database to renew all; aborts those that are lost or to be cancelled. */
  renew(): Promise<void>;
  /** The same, if the last renewal is older than half a lease: the process was paused, or the database away. */
  renewLate(): Promise<void>;
  /** Forgets a lease whose work is done. */
  drop(lease: Lease): void;
  /** Stops the run's call, if this process leads it. */
  cancel(runId: string): void;
  stopAll(reason: LeaseStop): void;
  readonly size: number;
}

export function createLeases({ db, clock, log, leaseMs }: LeasesOptions): Leases {
  const held = new Map<string, Held>();
  let lastAskedAt = clock.monotonic();

  const leases: Leases = {
    get size() {
      return held.size;
    },

    hold(queue, job, askedAt) {
      const stop = new AbortController();
      const lease: Lease = {
        queue,
        subjectId: job.subject_id,
        accountId: job.account_id,
        fence: job.fence,
        tries: job.tries,
        signal: stop.signal,
        holds: () => !stop.signal.aborted && clock.monotonic() < entry.validUntil,
      };
      const entry: Held = { lease, stop, validUntil: askedAt + leaseMs };
      held.set(nameOf(queue, job.subject_id), entry);
      return lease;
    },

    async renew() {
      const asked = [...held.values()];
      const askedAt = clock.monotonic();
      lastAskedAt = askedAt;
      if (asked.length === 0) return;
      const rows = await db.query(renewLeases, [
        asked.map(({ lease }) => lease.queue),
        asked.map(({ lease }) => lease.subjectId),
        asked.map(({ lease }) => lease.fence),
        leaseMs,
      ]);
      const renewed = new Map(rows.map((row) => [nameOf(row.queue, row.subject_id), row]));
      for (const entry of asked) {
        const { lease, stop } = entry;
        const row = renewed.get(nameOf(lease.queue, lease.subjectId));
        const done = held.get(nameOf(lease.queue, lease.subjectId)) !== entry;
        if (done) continue;
        if (row === undefined) {
          log.warn({ subject_id: lease.subjectId, queue: lease.queue }, 'lease lost');
          stop.abort('lost' satisfies LeaseStop);
          continue;
        }
        if (row.renewed) entry.validUntil = askedAt + leaseMs;
        // Only a call can be stopped: the result of one that has ended is still drawn.
        if (row.cancel && lease.queue === 'dial') stop.abort('canceled' satisfies LeaseStop);
      }
    },

    async renewLate() {
      if (clock.monotonic() - lastAskedAt > leaseMs / 2) await leases.renew();
    },

    drop(lease) {
      const name = nameOf(lease.queue, lease.subjectId);
      if (held.get(name)?.lease === lease) held.delete(name);
    },

    cancel(runId) {
      held.get(nameOf('dial', runId))?.stop.abort('canceled' satisfies LeaseStop);
    },

    stopAll(reason) {
      for (const { stop } of held.values()) stop.abort(reason);
    },
  };
  return leases;
}

const nameOf = (queue: Queue, subjectId: string): string => `${queue} ${subjectId}`;
