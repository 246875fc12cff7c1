import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  ConsoleAuditEntry,
  ConsoleHearing,
  ConsolePeaks,
  ConsoleRunDetail,
  OperatorList,
} from '@trunkcall/contract';
import { Trunkcall } from '@trunkcall/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databases } from '../../kit/database.ts';
import { goalFile, publishGoal } from '../../kit/fixtures.ts';
import { stereoWave } from '../../kit/wave.ts';
import { ids, startConsole, type ConsoleService, type Visitor } from './service.ts';

/** Two seconds: the callee loud in the first, we in the second. */
const wave = stereoWave(2, (second) => (second < 1 ? [0.5, 0] : [0, 0.25]));

describe.each(databases)('recordings in the console on %s', (kind) => {
  let service: ConsoleService;
  let author: Visitor;
  let recorded = '';
  let silent = '';
  beforeAll(async () => {
    service = await startConsole(kind);
    author = await service.person('author');
    const { db } = service.database;
    const goal = await publishGoal(db, ids, service.accountId, goalFile());
    const developer = new Trunkcall({ baseUrl: service.origin, apiKey: service.apiKey });
    const start = async () =>
      (await developer.createRun(goal, { phone: '+12025550100', variables: { name: 'Ada' } })).run;
    const [one, two] = [await start(), await start()];
    [recorded, silent] = [one.id, two.id];
    const attempt = ids.next('att');
    await db.execute(`
      insert into attempts (id, run_id, number, carrier, state, outcome, answered_at, ended_at)
        values ('${attempt}', '${one.run_id}', 1, 'sip', 'ended', 'conversation', now(), now());
      update runs set attempt_id = '${attempt}', status = 'failed', error_code = 'timed_out', completed_at = now()
        where id = '${one.run_id}';`);
    writeFileSync(join(service.recordings, `${attempt}.wav`), wave);
  });
  afterAll(() => service.close());

  const hearing = async (who: Visitor) =>
    (await (await who.send('POST', `/runs/${recorded}/recording/hearings`)).json()) as ConsoleHearing;
  const hear = (who: Visitor, note: string, headers?: Record<string, string>) =>
    who.send('GET', `/runs/${recorded}/recording?hearing=${note}`, undefined, headers);

  test('a run says whether there is a recording, and how long', async () => {
    const read = (id: string) => author.get<ConsoleRunDetail>(`/runs/${id}`);
    expect((await read(recorded)).recording).toEqual({ seconds: 2 });
    expect((await read(silent)).recording).toBeNull();
    expect((await author.send('POST', `/runs/${silent}/recording/hearings`)).status).toBe(404);
  });

  test('nobody hears without a note in the audit log, which names who', async () => {
    const notes = async () => {
      const { data } = await (
        await service.operator()
      ).get<OperatorList<ConsoleAuditEntry>>('/audit?limit=100');
      return data.filter(({ action }) => action === 'recording.heard');
    };
    const before = await notes();
    for (const note of ['', ids.next('aud'), 'x']) expect((await hear(author, note)).status).toBe(403);
    expect((await author.send('GET', `/runs/${recorded}/recording`)).status).toBe(403);
    expect(await notes()).toEqual(before);
    const { hearing: note } = await hearing(author);
    const response = await hear(author, note);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(Buffer.from(await response.arrayBuffer()).equals(wave)).toBe(true);
    expect((await notes())[0]).toMatchObject({ id: note, object_id: recorded, person: { name: 'author' } });
  });

  test('a note opens the recording to the one who made it, for an hour', async () => {
    const { hearing: note } = await hearing(author);
    expect((await hear(await service.person('owner'), note)).status).toBe(403);
    const other = await author.send('GET', `/runs/${silent}/recording?hearing=${note}`);
    expect(other.status).toBe(404);
    // The log can not be changed, so an old note has to be written as one.
    const { person } = await author.get<{ person: { id: string } }>('/session');
    const old = ids.next('aud');
    await service.database.db.execute(`
      insert into audit_log (id, person_id, account_id, action, object_id, details, created_at)
      values ('${old}', '${person.id}', '${service.accountId}', 'recording.heard', '${recorded}', '{}',
              now() - interval '61 minutes')`);
    expect((await hear(author, old)).status).toBe(403);
  });

  test.each([
    ['bytes=0-43', 206, 0, 44],
    ['bytes=44-', 206, 44, wave.length],
    ['bytes=-10', 206, wave.length - 10, wave.length],
    [`bytes=100-${wave.length + 5}`, 206, 100, wave.length],
    ['bytes=9-2', 200, 0, wave.length],
    ['lines=1-2', 200, 0, wave.length],
    ['bytes=0-1,5-6', 200, 0, wave.length],
  ])('the range %s is answered with %i', async (range, status, from, to) => {
    const { hearing: note } = await hearing(author);
    const response = await hear(author, note, { range });
    expect(response.status).toBe(status);
    expect(Buffer.from(await response.arrayBuffer()).equals(wave.subarray(from, to))).toBe(true);
    const said = status === 206 ? `bytes ${from}-${to - 1}/${wave.length}` : null;
    expect(response.headers.get('content-range')).toBe(said);
  });

  test('a range behind the end is refused', async () => {
    const { hearing: note } = await hearing(author);
    const response = await hear(author, note, { range: `bytes=${wave.length}-` });
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toBe(`bytes */${wave.length}`);
  });

  test('the peaks say how loud each side was, along the time', async () => {
    const peaks = await author.get<ConsolePeaks>(`/runs/${recorded}/recording/peaks`);
    expect(peaks.seconds).toBe(2);
    const [callee = [], us = []] = peaks.channels;
    expect([callee.length, us.length]).toEqual([1_000, 1_000]);
    expect([callee[250], callee[750], us[250], us[750]]).toEqual([0.5, 0, 0, 0.25]);
  });

  test('a viewer reads what was said, and hears nothing', async () => {
    const viewer = await service.person('viewer');
    expect((await viewer.get<ConsoleRunDetail>(`/runs/${recorded}`)).recording).toEqual({ seconds: 2 });
    for (const path of ['recording', 'recording/peaks'])
      expect((await viewer.send('GET', `/runs/${recorded}/${path}`)).status).toBe(403);
    expect((await viewer.send('POST', `/runs/${recorded}/recording/hearings`)).status).toBe(403);
  });
});
