import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { keepRecordings, removeOld } from '../../../../src/carriers/sip/recordings.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { createLog } from '../../../../src/platform/log.ts';

const base = mkdtempSync(join(tmpdir(), 'trunkcall-recordings-'));
afterEach(() => rmSync(base, { recursive: true, force: true }));

it('keeps recordings where only their owner reads them, for so many days, and touches no other file', async () => {
  const directory = join(base, 'calls');
  const recordings = await keepRecordings({
    directory,
    retentionDays: 2,
    clock: systemClock,
    log: createLog('silent'),
  });
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  const old = recordings.pathOf('att_01m7y84qvve689kas7xbs9t5gm');
  const fresh = recordings.pathOf('att_01m7y84sbte32th5kpbgn5sw37');
  const foreign = join(directory, 'notes.txt');
  for (const path of [old, fresh, foreign]) writeFileSync(path, '');
  const threeDaysAgo = (systemClock.now() - 3 * 24 * 3_600_000) / 1_000;
  for (const path of [old, foreign]) utimesSync(path, threeDaysAgo, threeDaysAgo);
  expect(await removeOld({ directory, retentionDays: 2, clock: systemClock })).toBe(1);
  expect(readdirSync(directory).toSorted()).toEqual(['att_01m7y84sbte32th5kpbgn5sw37.wav', 'notes.txt']);
  await recordings.close();
});
