/**
 * Makes a process known to the others: a row that is renewed every few seconds, with what it leads and how its trunks
 * and providers stand. With each beat it learns whether it is to drain.
 */
import type { ProviderReport, TrunkReport } from '@trunkcall/contract';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { createWake } from '../platform/wake.ts';
import type { Database } from '../storage/database.ts';
import { beat, forgetDeadWorkers, leave } from '../storage/workers.ts';

export interface PresenceOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  /** `wrk_…`. */
  readonly id: string;
  readonly host: string;
  readonly version: string;
  readonly roles: readonly string[];
  /** What to say with the next beat. */
  readonly report: () => Report;
  /** Told what is wanted, once a beat. */
  readonly onBeat: (wanted: { readonly drain: boolean; readonly testCalls: boolean }) => Promise<void>;
  /** Milliseconds; 2,000 by default. */
  readonly beatMs?: number;
}

export interface Report {
  readonly liveCalls: number;
  readonly draining: boolean;
  readonly trunks: readonly TrunkReport[];
  readonly providers: readonly ProviderReport[];
}

export interface Presence {
  /** Beats at once instead of when the time has come. */
  wake(): void;
  /** Takes the row away. Safe to repeat. */
  stop(): Promise<void>;
}

const defaultBeatMs = 2_000;
const forgetEveryMs = 60_000;

/** Throws: DatabaseUnavailable when the database can not be asked now. */
export async function startPresence(options: PresenceOptions): Promise<Presence> {
  const { db, clock, log, id, host, version, roles, beatMs = defaultBeatMs } = options;
  const stopping = new AbortController();
  const wake = createWake(clock);
  let forgetAt = clock.monotonic();

  async function once(): Promise<void> {
    const { liveCalls, draining, trunks, providers } = options.report();
    const said = [JSON.stringify(trunks), JSON.stringify(providers), draining];
    const [wanted] = await db.query(beat, [id, host, version, roles, liveCalls, ...said]);
    await options.onBeat({ drain: wanted?.drain ?? false, testCalls: wanted?.test_calls ?? false });
    // What it was just told to do is worth saying at once.
    if (options.report().draining !== draining) wake.wake();
    if (clock.monotonic() < forgetAt) return;
    forgetAt = clock.monotonic() + forgetEveryMs;
    await db.query(forgetDeadWorkers);
  }

  await once();
  const beating = (async () => {
    for (;;) {
      await wake.wait(beatMs);
      if (stopping.signal.aborted) return;
      await once().catch((error: unknown) => log.warn({ err: error }, 'heartbeat of the process failed'));
    }
  })();

  async function stop(): Promise<void> {
    stopping.abort();
    wake.wake();
    await beating;
    await db.query(leave, [id]);
  }
  let stopped: Promise<void> | undefined;
  return { wake: () => wake.wake(), stop: () => (stopped ??= stop()) };
}
