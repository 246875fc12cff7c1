/**
 * Keeps a second process out of a data directory: PGlite has no lock of its own, and two openers silently
 * overwrite each other.
 *
 *     lock-000000007.json      link() ──▶ lock-000000008.json   (exclusive: exactly one successor of 7)
 *     ended, or its holder died            beats every second, removes what is below it
 *
 * Invariants
 * - L1 the file with the highest number is the lock; numbers never start again, because the last holder
 *   leaves its file behind, marked as released.
 * - L2 a successor is created with link(), complete and exclusive, and counts only if nothing higher exists
 *   afterwards; so of any number of simultaneous openers at most one wins.
 * - L3 where the holder's process can be looked up (same boot, same pid namespace) the process table decides;
 *   elsewhere (another container, another machine on a shared disk) the beat does: silence of `staleMs` is
 *   death. Beats are modification times, all set by the file system's own clock.
 * - L4 a holder that was paused looks again before it writes (`confirm`), and tells when it has lost.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessIdentity } from './process-identity.ts';
import { isProcessAlive, ownIdentity } from './process-identity.ts';

export interface DirectoryLock {
  /** Looks again whether this process still holds the lock, if the last look is old; calls `onLost` if not. */
  confirm(): void;
  /** Gives the directory free at once. Safe to repeat: yes. */
  release(): void;
}

export interface DirectoryLockOptions {
  /** Called once when another process has taken the directory over: this one must stop writing and exit. */
  readonly onLost: (error: DirectoryLockLost) => void;
  /** Time between beats. Default 1 000. */
  readonly beatMs?: number;
  /** A holder that cannot be looked up and is silent for this long is taken for dead. Default 10 000. */
  readonly staleMs?: number;
}

export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

class DirectoryLockLost extends Error {
  override readonly name = 'DirectoryLockLost';
}

interface LockFile extends ProcessIdentity {
  readonly holder: string;
  readonly released: boolean;
}

const lockName = /^lock-(\d{9})\.json$/;

const unreadable: LockFile = {
  holder: '',
  released: false,
  host: 'an unknown host',
  pid: 0,
  bootId: null,
  pidNamespace: null,
  startedAt: null,
};

/** Another opener may win a round; each round costs the loser one look, so a few are plenty. */
const maxRounds = 20;

/**
 * Takes the directory for this process. Waits at most `staleMs` for an unknown holder to show a beat.
 * Throws: `DirectoryInUse`, which names the directory and its holder.
 */
export async function lockDirectory(
  directory: string,
  options: DirectoryLockOptions,
): Promise<DirectoryLock> {
  const staleMs = options.staleMs ?? 10_000;
  const own: LockFile = { holder: randomUUID(), released: false, ...ownIdentity() };
  for (let round = 0; round < maxRounds; round += 1) {
    const current = highestNumber(directory);
    if (current > 0) await waitForEnd(directory, current, own.holder, staleMs);
    if (claim(directory, current + 1, own)) return hold(directory, current + 1, own, options);
  }
  throw new DirectoryInUse(`The data directory ${directory} is being opened by several processes at once.`);
}

/** Resolves when lock `number` has no living holder. Throws: `DirectoryInUse`. */
async function waitForEnd(directory: string, number: number, probe: string, staleMs: number): Promise<void> {
  const path = lockPath(directory, number);
  const firstBeat = beatOf(path);
  const deadline = performance.now() + staleMs;
  for (;;) {
    const lock = readLock(path);
    const beat = beatOf(path);
    if (lock === undefined || beat === undefined) return;
    if (lock.released) return;
    const alive = isProcessAlive(lock);
    if (alive === false) return;
    if (alive === true || beat !== firstBeat) throw inUse(directory, lock);
    if (fileSystemNow(directory, probe) - beat > staleMs || performance.now() > deadline) return;
    await delay(Math.min(250, staleMs / 10));
  }
}

/** Creates lock `number` for us unless somebody else has it or is beyond it (L2). */
function claim(directory: string, number: number, own: LockFile): boolean {
  const path = lockPath(directory, number);
  const draft = draftPath(directory, own.holder);
  writeFileSync(draft, JSON.stringify(own));
  try {
    linkSync(draft, path);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  if (highestNumber(directory) === number) return true;
  rmSync(path, { force: true });
  return false;
}

function hold(
  directory: string,
  number: number,
  own: LockFile,
  options: DirectoryLockOptions,
): DirectoryLock {
  const beatMs = options.beatMs ?? 1_000;
  const path = lockPath(directory, number);
  let confirmedAt = performance.now();
  let state: 'held' | 'lost' | 'released' = 'held';

  function beat(): void {
    if (state === 'held' && !stillOurs()) {
      state = 'lost';
      clearInterval(timer);
      options.onLost(
        new DirectoryLockLost(`The data directory ${directory} was taken over by another process.`),
      );
    }
    if (state === 'held') confirmedAt = performance.now();
  }

  function stillOurs(): boolean {
    try {
      if (highestNumber(directory) !== number || readLock(path)?.holder !== own.holder) return false;
      const file = openSync(path, 'r+');
      writeSync(file, JSON.stringify(own), 0);
      closeSync(file);
      return true;
    } catch {
      // Whatever hinders the beat (a vanished disk, for one) lets others take this holder for dead.
      return false;
    }
  }

  function confirm(): void {
    if (performance.now() - confirmedAt > 2 * beatMs) beat();
  }

  function release(): void {
    if (state !== 'held') return;
    state = 'released';
    clearInterval(timer);
    const draft = draftPath(directory, own.holder);
    writeFileSync(draft, JSON.stringify({ ...own, released: true }));
    renameSync(draft, path);
  }

  removeBelow(directory, number);
  const timer = setInterval(beat, beatMs);
  timer.unref();
  return { confirm, release };
}

function lockPath(directory: string, number: number): string {
  return join(directory, `lock-${String(number).padStart(9, '0')}.json`);
}

function draftPath(directory: string, holder: string): string {
  return join(directory, `lock-draft-${holder}`);
}

function lockNumbers(directory: string): number[] {
  return readdirSync(directory).flatMap((name) => Number(lockName.exec(name)?.[1] ?? []));
}

/** 0 when there is none. */
function highestNumber(directory: string): number {
  return Math.max(0, ...lockNumbers(directory));
}

function removeBelow(directory: string, number: number): void {
  for (const below of lockNumbers(directory).filter((other) => other < number)) {
    rmSync(lockPath(directory, below), { force: true });
  }
}

/** Undefined when the file is gone; a file caught in the middle of a beat names nobody, so its beat decides. */
function readLock(path: string): LockFile | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LockFile;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (error instanceof SyntaxError) return unreadable;
    throw error;
  }
}

/** The time of the last beat by the file system's clock; undefined when the file is gone. */
function beatOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** The file system's clock, which need not agree with ours (network file systems). */
function fileSystemNow(directory: string, holder: string): number {
  const draft = draftPath(directory, holder);
  writeFileSync(draft, '');
  const now = statSync(draft).mtimeMs;
  rmSync(draft);
  return now;
}

function inUse(directory: string, { host, pid }: LockFile): DirectoryInUse {
  return new DirectoryInUse(
    `The data directory ${directory} is in use by process ${pid} on ${host}. ` +
      'Only one process can open it; for several, use PostgreSQL.',
  );
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
