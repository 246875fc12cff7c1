import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DirectoryLock } from '../../../src/storage/embedded-lock.ts';
import { DirectoryInUse, lockDirectory } from '../../../src/storage/embedded-lock.ts';
import { ownIdentity } from '../../../src/storage/process-identity.ts';
import type { Child } from './fixtures/run-child.ts';
import { runChild } from './fixtures/run-child.ts';

const holder = new URL('fixtures/lock-holder.ts', import.meta.url);

let directory = '';
let children: Child[] = [];
let locks: DirectoryLock[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'trunkcall-lock-'));
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.map((child) => child.ended()));
  for (const lock of locks) lock.release();
  children = [];
  locks = [];
  await rm(directory, { recursive: true, force: true });
});

function startHolder(): Child {
  const child = runChild(holder, [directory]);
  children.push(child);
  return child;
}

async function lock(options: Partial<Parameters<typeof lockDirectory>[1]> = {}): Promise<DirectoryLock> {
  const held = await lockDirectory(directory, { onLost: vi.fn<() => void>(), ...options });
  locks.push(held);
  return held;
}

/** The lock of a process that cannot be looked up: it runs in another container of this machine. */
async function lockFromElsewhere(number: number): Promise<string> {
  const path = join(directory, `lock-${String(number).padStart(9, '0')}.json`);
  const elsewhere = { ...ownIdentity(), host: 'elsewhere', pidNamespace: 'pid:[1]', bootId: 'another boot' };
  await writeFile(path, JSON.stringify({ holder: 'elsewhere', released: false, ...elsewhere }));
  return path;
}

function outcomes(started: readonly Child[]): Record<string, number> {
  const count = (outcome: string): number => started.filter((child) => child.lines[0] === outcome).length;
  return { held: count('held'), refused: count('refused') };
}

describe('the lock of a data directory', () => {
  test(
    'of several processes that open at the same moment exactly one wins',
    { timeout: 60_000 },
    async () => {
      const started = [startHolder(), startHolder(), startHolder(), startHolder(), startHolder()];
      await Promise.all(started.map((child) => child.said(1)));
      expect(outcomes(started)).toEqual({ held: 1, refused: 4 });
    },
  );

  test(
    'exactly one of several simultaneous successors of a dead holder wins',
    { timeout: 60_000 },
    async () => {
      const path = await lockFromElsewhere(41);
      await utimes(path, 1, 1);
      const started = [startHolder(), startHolder(), startHolder(), startHolder(), startHolder()];
      await Promise.all(started.map((child) => child.said(1)));
      expect(outcomes(started)).toEqual({ held: 1, refused: 4 });
      expect(await readdir(directory)).toEqual(['lock-000000042.json']);
    },
  );

  test('is refused while its holder lives, even one that is paused', async () => {
    const child = startHolder();
    await child.said(1);
    child.kill('SIGSTOP');
    await expect(lock({ staleMs: 1 })).rejects.toThrow(`${directory} is in use by process ${child.pid}`);
  });

  test('is taken over at once when its holder on this machine was killed', async () => {
    const child = startHolder();
    await child.said(1);
    child.kill('SIGKILL');
    await child.ended();
    // Would have to wait for an hour if it did not look the process up.
    await expect(lock({ staleMs: 3_600_000 })).resolves.toBeDefined();
  });

  test('is taken over at once after a release', async () => {
    (await lock()).release();
    await expect(lock({ staleMs: 3_600_000 })).resolves.toBeDefined();
  });

  test('is not taken for free when a process with another start time has the same pid', async () => {
    const own = ownIdentity();
    const reused = { ...own, startedAt: '1', holder: 'dead', released: false };
    await writeFile(join(directory, 'lock-000000001.json'), JSON.stringify(reused));
    await lock({ staleMs: 3_600_000 });
    const living = { ...own, holder: 'living', released: false };
    await writeFile(join(directory, 'lock-000000003.json'), JSON.stringify(living));
    await expect(lock()).rejects.toThrow(DirectoryInUse);
  });

  test('of a holder elsewhere is refused as soon as a beat is seen', async () => {
    const path = await lockFromElsewhere(1);
    const beats = setInterval(() => void utimes(path, new Date(), new Date()), 20);
    await expect(lock({ staleMs: 3_600_000 })).rejects.toThrow('on elsewhere');
    clearInterval(beats);
  });

  test('of a holder elsewhere is taken over after it was silent for the time that counts as death', async () => {
    await lockFromElsewhere(1);
    const before = performance.now();
    await lock({ staleMs: 400 });
    expect(performance.now() - before).toBeGreaterThan(350);
  });

  test('a file that was caught half-written is judged by its beat', async () => {
    await writeFile(join(directory, 'lock-000000001.json'), '{"holder":');
    await lock({ staleMs: 100 });
    expect(await readdir(directory)).toEqual(['lock-000000002.json']);
  });

  test('its holder is told once when a successor has appeared, and keeps its hands off the successor', async () => {
    const onLost = vi.fn<() => void>();
    const held = await lock({ onLost, beatMs: 10 });
    await lockFromElsewhere(2);
    await vi.waitUntil(() => onLost.mock.calls.length > 0, { timeout: 5_000 });
    held.confirm();
    held.release();
    expect(onLost).toHaveBeenCalledOnce();
    expect(await readdir(directory)).toContain('lock-000000002.json');
  });

  test('a holder that was paused looks again before it goes on', async () => {
    const onLost = vi.fn<() => void>();
    const held = await lock({ onLost, beatMs: 50 });
    await lockFromElsewhere(2);
    // Nothing else runs on this thread, as when the whole process is paused: no timer can beat.
    const resumeAt = performance.now() + 150;
    while (performance.now() < resumeAt);
    held.confirm();
    expect(onLost).toHaveBeenCalledOnce();
  });
});
