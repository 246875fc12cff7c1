import type {
  ConsoleAuditEntry,
  ConsoleGoal,
  ConsoleGoalDetail,
  ConsoleSession,
  CreatedKey,
  GoalFile,
  OperatorList,
  PublicationPreview,
  SavedDraft,
} from '@trunkcall/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordOngoing } from '../../../src/authoring/audit.ts';
import { parseGoalFile } from '../../../src/authoring/goal-file.ts';
import { addNumber, changeNumber } from '../../../src/authoring/numbers.ts';
import { databases } from '../../kit/database.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { ids, startConsole, type ConsoleService, type Visitor } from './service.ts';

const ascending = (a: number, b: number) => a - b;

describe.each(databases)('writing Goals in the console on %s', (kind) => {
  let service: ConsoleService;
  let author: Visitor;
  beforeAll(async () => {
    service = await startConsole(kind);
    author = await service.person('author');
  });
  afterAll(() => service.close());

  async function create(content: GoalFile = goalFile()): Promise<string> {
    const response = await author.send('POST', `/accounts/${service.accountId}/goals`, content);
    expect(response.status).toBe(201);
    return ((await response.json()) as ConsoleGoal).id;
  }
  const save = (id: string, content: unknown, revision: number) =>
    author.send('PUT', `/goals/${id}/draft`, content, { 'if-match': `"${revision}"` });
  const publish = (id: string, revision: number) =>
    author.send('POST', `/goals/${id}/publish`, undefined, { 'if-match': `"${revision}"` });
  const detail = (id: string) => author.get<ConsoleGoalDetail>(`/goals/${id}`);

  test('an unfinished draft is kept as it is, says what is wrong, and can not be published', async () => {
    const id = await create();
    const unfinished = { ...goalFile(), title: 'A\u202e', instructions: 'Call {{nobody}}.' };
    const saved = (await (await save(id, unfinished, 1)).json()) as SavedDraft;
    expect(saved.revision).toBe(2);
    expect(saved.problems.map(({ pointer }) => pointer).sort()).toEqual(['/instructions', '/title']);
    expect(JSON.stringify(saved.problems)).toContain('it has U+202E');
    const read = await detail(id);
    expect(read.draft).toEqual(unfinished);
    expect(read.problems).toHaveLength(2);
    expect((await publish(id, 2)).status).toBe(422);
    const mended = await save(id, goalFile({ title: 'Mended' }), 2);
    expect(await mended.json()).toEqual({ revision: 3, problems: [] });
    expect((await publish(id, 3)).status).toBe(200);
    expect(await detail(id)).toMatchObject({ title: 'Mended', state: 'active', changed: false });
  });

  test('two authors do not overwrite one another', async () => {
    const id = await create();
    const saves = await Promise.all(['One', 'Two'].map((title) => save(id, goalFile({ title }), 1)));
    expect(saves.map(({ status }) => status).sort(ascending)).toEqual([200, 412]);
    const refused = saves.find(({ status }) => status === 412);
    expect(await refused?.json()).toMatchObject({
      error: { code: 'edit_conflict', details: { revision: 2 } },
    });
    expect((await publish(id, 1)).status).toBe(412);
  });

  test('a save whose answer was lost may be repeated, and is no conflict', async () => {
    const id = await create();
    for (const draft of [goalFile({ title: 'Mine' }), goalFile({ title: '' })]) {
      const { revision } = await detail(id);
      const first = await (await save(id, draft, revision)).json();
      expect(first).toMatchObject({ revision: revision + 1 });
      expect(await (await save(id, draft, revision)).json()).toEqual(first);
      expect((await detail(id)).revision).toBe(revision + 1);
    }
  });

  test.each([[undefined], ['2'], ['"x"'], ['*']])('a save with If-Match %s is malformed', async (sent) => {
    const id = await create();
    const headers = sent === undefined ? {} : { 'if-match': sent };
    expect((await author.send('PUT', `/goals/${id}/draft`, goalFile(), headers)).status).toBe(400);
  });

  test.each([[null], [5], ['text'], [[]]])(
    'a draft that is %j is refused, and changes nothing',
    async (draft) => {
      const id = await create();
      expect((await save(id, JSON.stringify(draft), 1)).status).toBe(400);
      expect((await detail(id)).revision).toBe(1);
    },
  );

  test('before a publication it says what changes, and whether callers break', async () => {
    const id = await create();
    const first = await author.get<PublicationPreview>(`/goals/${id}/publication`);
    expect(first).toMatchObject({ next_version: 1, published: null, changes: null, problems: [] });
    await publish(id, first.revision);
    const next = goalFile();
    next.input_schema.properties['order'] = { type: 'string' };
    next.input_schema.required.push('order');
    await save(id, { ...next, title: 'Renamed' }, first.revision);
    const second = await author.get<PublicationPreview>(`/goals/${id}/publication`);
    expect(second.next_version).toBe(2);
    expect(second.changes).toEqual([
      { pointer: '/title', kind: 'changed', breaking: false, reason: null },
      {
        pointer: '/input_schema/properties/order',
        kind: 'added',
        breaking: true,
        reason: 'requests without this variable will be refused',
      },
    ]);
  });

  test('the checklist names what publishing would refuse of a Goal that answers a number', async () => {
    const answering = goalFile({
      instructions: 'You answer.',
      input_schema: { type: 'object', additionalProperties: false, properties: {}, required: [] },
    });
    const id = await create(answering);
    await publish(id, 1);
    const { db } = service.database;
    const number = { phone: '+12025550143', accountId: service.accountId, label: 'Help' };
    const { id: numberId } = await db.transaction((tx) => addNumber(tx, ids, number, null));
    await db.transaction((tx) => changeNumber(tx, ids, numberId, { inbound_goal: id }, null));
    await save(id, goalFile(), 1);
    const { problems, revision } = await author.get<PublicationPreview>(`/goals/${id}/publication`);
    expect(problems).toMatchObject([{ pointer: '/input_schema/properties/name' }]);
    const refused = await publish(id, revision);
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ error: { code: 'goal_invalid', details: { problems } } });
  });

  test('versions stay as they were published, and are exported as Goal files', async () => {
    const id = await create(goalFile({ title: 'First' }));
    await publish(id, 1);
    await save(id, goalFile({ title: 'Second' }), 1);
    await publish(id, 2);
    const { versions } = await detail(id);
    expect(versions.map(({ version, runs }) => [version, runs])).toEqual([
      [2, 0],
      [1, 0],
    ]);
    expect(await author.get<GoalFile>(`/goals/${id}/versions/1`)).toEqual(goalFile({ title: 'First' }));
    const file = await author.send('GET', `/goals/${id}/file?version=1`);
    expect(file.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    const parsed = parseGoalFile(await file.text());
    expect(parsed).toEqual({ ok: true, file: goalFile({ title: 'First' }) });
    expect((await author.send('GET', `/goals/${id}/versions/3`)).status).toBe(404);
  });

  test('the commands of a Goal’s life are the same as for the CLI, and all are noted', async () => {
    const id = await create();
    await publish(id, 1);
    for (const command of ['pause', 'resume', 'hide', 'list_publicly', 'unpublish']) {
      expect([command, (await author.send('POST', `/goals/${id}/${command}`)).status]).toEqual([
        command,
        200,
      ]);
    }
    const operator = await service.operator();
    const { data } = await operator.get<OperatorList<ConsoleAuditEntry>>(
      `/audit?account=${service.accountId}&limit=100`,
    );
    const noted = data.filter(({ object_id }) => object_id === id).map(({ action }) => action);
    expect(noted).toEqual([
      'goal.unpublish',
      'goal.list_publicly',
      'goal.hide',
      'goal.resume',
      'goal.pause',
      'goal.publish',
      'goal.created',
    ]);
  });

  test('saves of one author in one sitting are noted once, until something else happens to the draft', async () => {
    const id = await create();
    const other = await service.person('author', 'other@example.org');
    const operator = await service.operator();
    let revision = 1;
    const saveAs = async (who: Visitor) => {
      const title = `Draft ${revision}`;
      const headers = { 'if-match': `"${revision}"` };
      expect((await who.send('PUT', `/goals/${id}/draft`, goalFile({ title }), headers)).status).toBe(200);
      revision += 1;
    };
    const noted = async () => {
      const page = `/audit?account=${service.accountId}&limit=100`;
      const { data } = await operator.get<OperatorList<ConsoleAuditEntry>>(page);
      return data.filter((entry) => entry.object_id === id).map(({ action }) => action);
    };
    for (const who of [author, author, author]) await saveAs(who);
    expect(await noted()).toEqual(['goal.draft_saved', 'goal.created']);
    for (const who of [other, other, author, author]) await saveAs(who);
    await publish(id, revision);
    for (const who of [author, author]) await saveAs(who);
    const all = ['draft_saved', 'publish', 'draft_saved', 'draft_saved', 'draft_saved', 'created'];
    expect(await noted()).toEqual(all.map((verb) => `goal.${verb}`));
    const { person } = await author.get<ConsoleSession>('/session');
    const by = person.id;
    const change = { by, accountId: service.accountId, action: 'goal.draft_saved', objectId: id };
    const { db } = service.database;
    const now = Date.now();
    await db.transaction((tx) => recordOngoing(tx, ids, change, now - 60_000));
    expect(await noted()).toHaveLength(all.length);
    // The next sitting: what was noted lies behind.
    await db.transaction((tx) => recordOngoing(tx, ids, change, now + 60_000));
    expect(await noted()).toHaveLength(all.length + 1);
  });

  test('a key that the console makes works at once, is shown once, and ends when it is revoked', async () => {
    const owner = await service.person('owner');
    const made = await owner.send('POST', `/accounts/${service.accountId}/keys`, {
      scopes: ['goals:read'],
      expires_at: null,
    });
    const { key, id } = (await made.json()) as CreatedKey;
    const use = () => fetch(`${service.origin}/v1/goals`, { headers: { authorization: `Bearer ${key}` } });
    expect((await use()).status).toBe(200);
    const listed = await (await owner.send('GET', `/accounts/${service.accountId}/keys`)).text();
    expect(listed).toContain(id);
    expect(listed).not.toContain(key);
    const revoked = await owner.send('POST', `/keys/${id}/revoke`);
    expect(await revoked.json()).toMatchObject({ id, revoked_at: expect.any(String) as string });
    const stranger = await service.person('viewer');
    expect((await stranger.send('POST', `/keys/${id}/revoke`)).status).toBe(403);
  });
});
