import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { onlyOnce } from '../platform/only-once.ts';
import type { Queryable } from '../storage/database.ts';
import { recordKeyUses } from '../storage/keys.ts';

/** When keys were used last. Requests only note it here: a read writes nothing (I7). */
export interface KeyUses {
  /** Notes that a key was used now. Does not wait and does not throw. */
  note(keyId: string): void;
  /** Stores what was noted, and notes nothing more. Safe to repeat. */
  stop(): Promise<void>;
}

export interface KeyUsesDependencies {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly log: Logger;
}

const storeEveryMs = 60_000;
/** More keys than that are not in use within a minute; those beyond are noted the next time. */
const maxNoted = 10_000;

/** Stores once a minute which keys were used. What was not stored when the process dies is lost: it is a hint. */
export function startKeyUses({ db, clock, log }: KeyUsesDependencies): KeyUses {
  const noted = new Map<string, number>();
  const stopping = new AbortController();

  async function store(): Promise<void> {
    if (noted.size === 0) return;
    const uses = [...noted];
    noted.clear();
    const values = [uses.map(([id]) => id), uses.map(([, atMs]) => new Date(atMs))];
    await db
      .query(recordKeyUses, values)
      .catch((error: unknown) => log.warn({ err: error }, 'the last use of API keys was not stored'));
  }

  async function storeEveryMinute(): Promise<void> {
    while (await clock.sleep(storeEveryMs, stopping.signal)) await store();
    await store();
  }
  const stored = storeEveryMinute();

  return {
    note(keyId) {
      if (noted.size < maxNoted || noted.has(keyId)) noted.set(keyId, clock.now());
    },
    stop: onlyOnce(() => {
      stopping.abort();
      return stored;
    }),
  };
}
