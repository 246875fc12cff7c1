/**
 * Where the recordings of calls lie: one stereo WAV file for each attempt, in a directory that only its owner can read,
 * for a bounded number of days.
 */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';

export interface Recordings {
  /** The file of an attempt. Ids of attempts are made by us and safe in a path. */
  pathOf(attemptId: string): string;
  /** Stops looking for old ones. */
  close(): Promise<void>;
}

export interface RecordingsOptions {
  readonly directory: string;
  /** Days after which a recording is removed, at least 1. */
  readonly retentionDays: number;
  readonly clock: Clock;
  readonly log: Logger;
}

const dayMs = 24 * 3_600_000;
const sweepMs = 3_600_000;
const ours = /^att_[0-9a-z]{26}\.wav$/;

/** Makes sure of the directory, and removes old recordings now and every hour. Throws: the system's error. */
export async function keepRecordings(options: RecordingsOptions): Promise<Recordings> {
  const { directory, clock, log } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const closing = new AbortController();
  const sweeping = (async () => {
    while (!closing.signal.aborted) {
      await removeOld(options).catch((error: unknown) => log.warn({ err: error }, 'old recordings stay'));
      await clock.sleep(sweepMs, closing.signal);
    }
  })();
  return {
    pathOf: (attemptId) => join(directory, `${attemptId}.wav`),
    async close() {
      closing.abort();
      await sweeping;
    },
  };
}

/** Removes what was last written longer ago than recordings are kept. Ends with how many went. */
export async function removeOld({
  directory,
  retentionDays,
  clock,
}: Pick<RecordingsOptions, 'directory' | 'retentionDays' | 'clock'>): Promise<number> {
  const before = clock.now() - retentionDays * dayMs;
  let removed = 0;
  for (const name of await readdir(directory)) {
    if (!ours.test(name)) continue;
    const path = join(directory, name);
    if ((await stat(path)).mtimeMs >= before) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}
