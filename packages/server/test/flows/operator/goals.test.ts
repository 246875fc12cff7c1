import type { GoalFile } from '@trunkcall/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { statement } from '../../../src/storage/database.ts';
import { databases } from '../../kit/database.ts';
import { goalFile, setTitle } from '../../kit/fixtures.ts';
import { ids, startOperatorService, type OperatorService } from './service.ts';

const readSpecs = statement<{ version: number; content: GoalFile }>(
  'test_read_specs',
  'select version, content from run_specs where goal_id = $1 order by version',
);
const spoilDraft = statement<never>(
  'test_spoil_draft',
  `update goals set draft = '{"format": 1}' where id = $1`,
);

const asFile = (over: Partial<GoalFile> = {}) =>
  ({ text: JSON.stringify(goalFile(over)), mediaType: 'application/json' }) as const;

describe.each(databases)('authoring on %s', (kind) => {
  let service: OperatorService;
  let account: string;
  beforeAll(async () => {
    service = await startOperatorService(kind);
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    account = (await service.operator.createAccount(`firm ${ids.next('evt').slice(-12)}`)).id;
  });

  const newGoal = async (over?: Partial<GoalFile>) =>
    (await service.operator.applyGoal(account, asFile(over))).id;

  test('a Goal is a draft, invisible to API clients, until it is published', async () => {
    const developer = await service.developer(account);
    const goalId = await newGoal();
    expect((await developer.listGoals()).data).toEqual([]);
    const published = await service.operator.commandGoal(goalId, 'publish');
    expect(published).toMatchObject({
      state: 'active',
      latest_version: 1,
      published_run_spec: { version: 1 },
    });
    expect((await developer.listGoals()).data).toMatchObject([
      { id: goalId, published_run_spec: { version: 1 } },
    ]);
  });

  test('a new draft changes nothing for clients until it is published as the next version', async () => {
    const developer = await service.developer(account);
    const goalId = await newGoal({ title: 'First' });
    await service.operator.commandGoal(goalId, 'publish');
    await service.operator.applyGoal(account, asFile({ title: 'Second' }), goalId);
    expect((await developer.getGoal(goalId)).title).toBe('First');
    await service.operator.commandGoal(goalId, 'publish');
    expect(await developer.getGoal(goalId)).toMatchObject({
      title: 'Second',
      published_run_spec: { version: 2 },
    });
    const specs = await service.database.db.query(readSpecs, [goalId]);
    expect(specs.map(({ version, content }) => [version, content.title])).toEqual([
      [1, 'First'],
      [2, 'Second'],
    ]);
  });

  test('what is published has the keys in the order of the file', async () => {
    const goalId = await newGoal();
    await service.operator.commandGoal(goalId, 'publish');
    const [spec] = await service.database.db.query(readSpecs, [goalId]);
    expect(JSON.stringify(spec?.content)).toBe(JSON.stringify(goalFile()));
  });

  test('publishes that happen at once get distinct, consecutive versions', async () => {
    const goalId = await newGoal();
    await Promise.all(Array.from({ length: 12 }, () => service.operator.commandGoal(goalId, 'publish')));
    const { versions, published_run_spec } = await service.operator.getGoal(goalId);
    expect(versions.map(({ version }) => version)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(published_run_spec?.version).toBe(12);
  });

  test('an unpublished Goal answers goal_not_published, and a version is never used twice', async () => {
    const developer = await service.developer(account);
    const goalId = await newGoal();
    await service.operator.commandGoal(goalId, 'publish');
    expect(await service.operator.commandGoal(goalId, 'unpublish')).toMatchObject({
      state: 'active',
      published_run_spec: null,
    });
    await expect(developer.getGoal(goalId)).rejects.toMatchObject({
      status: 409,
      code: 'goal_not_published',
    });
    await expect(service.operator.commandGoal(goalId, 'publish')).resolves.toMatchObject({
      latest_version: 2,
    });
  });

  test('a paused Goal takes no Runs until it is resumed', async () => {
    const developer = await service.developer(account);
    const goalId = await newGoal();
    await service.operator.commandGoal(goalId, 'publish');
    await service.operator.commandGoal(goalId, 'pause');
    const run = { phone: '+12125550100', variables: { name: 'Ada' } };
    await expect(developer.createRun(goalId, run)).rejects.toMatchObject({ code: 'goal_not_executable' });
    await service.operator.commandGoal(goalId, 'resume');
    await expect(developer.createRun(goalId, run)).resolves.toMatchObject({ run: { goal_id: goalId } });
  });

  test('a hidden Goal is as good as missing for clients until it is listed again', async () => {
    const developer = await service.developer(account);
    const goalId = await newGoal();
    await service.operator.commandGoal(goalId, 'publish');
    await service.operator.commandGoal(goalId, 'hide');
    await expect(developer.getGoal(goalId)).rejects.toMatchObject({ status: 404 });
    await service.operator.commandGoal(goalId, 'list_publicly');
    await expect(developer.getGoal(goalId)).resolves.toMatchObject({ id: goalId });
  });

  test.each(['unpublish', 'resume', 'list_publicly'] as const)(
    '%s changes nothing where it already holds',
    async (action) => {
      const goalId = await newGoal();
      await service.operator.commandGoal(goalId, 'publish');
      await service.operator.commandGoal(goalId, 'unpublish');
      const before = await service.operator.getGoal(goalId);
      await service.operator.commandGoal(goalId, action);
      expect(await service.operator.getGoal(goalId)).toEqual(before);
    },
  );

  test('a retired Goal stays retired', async () => {
    const goalId = await newGoal();
    await service.operator.commandGoal(goalId, 'retire');
    const conflict = { status: 409, code: 'goal_state_conflict', details: { state: 'retired' } };
    await expect(service.operator.commandGoal(goalId, 'publish')).rejects.toMatchObject(conflict);
    await expect(service.operator.applyGoal(account, asFile(), goalId)).rejects.toMatchObject(conflict);
    await expect(service.operator.commandGoal(goalId, 'retire')).resolves.toMatchObject({ state: 'retired' });
  });

  test('an invalid file is refused with every problem and its place, and leaves no Goal', async () => {
    const text = 'format: 1\ntitle: 7\n';
    const sent = service.operator.applyGoal(account, { text, mediaType: 'application/yaml' });
    await expect(sent).rejects.toMatchObject({
      status: 422,
      code: 'goal_invalid',
      details: {
        problems: expect.arrayContaining([expect.objectContaining({ line: 2, pointer: '/title' })]),
      },
    });
    expect((await service.operator.listGoals({ account })).data).toEqual([]);
  });

  test('a draft from before the rules became stricter is not published', async () => {
    const goalId = await newGoal();
    await service.database.db.query(spoilDraft, [goalId]);
    await expect(service.operator.commandGoal(goalId, 'publish')).rejects.toMatchObject({
      code: 'goal_invalid',
      details: { problems: expect.arrayContaining([{ pointer: '/title', message: expect.any(String) }]) },
    });
  });

  test('a title that hides something is taken in by no way, and one that is stored is shown and mended', async () => {
    const { operator, database } = service;
    const sly = 'Deliveries\u202e';
    const named = [{ pointer: '/title', message: expect.stringContaining('it has U+202E') }];
    await expect(newGoal({ title: sly })).rejects.toMatchObject({ details: { problems: named } });
    const goalId = await newGoal();
    await expect(operator.applyGoal(account, asFile({ title: sly }), goalId)).rejects.toMatchObject({
      details: { problems: named },
    });
    await database.db.query(setTitle, [goalId, sly]);
    expect(await operator.getGoal(goalId)).toMatchObject({ title: sly });
    await expect(operator.commandGoal(goalId, 'publish')).rejects.toMatchObject({
      code: 'goal_invalid',
      details: { problems: named },
    });
    await operator.applyGoal(account, asFile({ title: 'Deliveries' }), goalId);
    expect(await operator.commandGoal(goalId, 'publish')).toMatchObject({ title: 'Deliveries' });
  });

  test('a Goal that can not be executed here may be published; the reason is reported', async () => {
    const goalId = await newGoal({ locale: 'de-DE' });
    const published = await service.operator.commandGoal(goalId, 'publish');
    expect(published).toMatchObject({ state: 'active', not_ready: ['no agent speaks de-DE'] });
  });

  test('a file is checked without being kept', async () => {
    expect(await service.operator.validateGoal(asFile({ locale: 'de-DE' }))).toEqual({
      problems: [],
      not_ready: ['no agent speaks de-DE'],
    });
    const { problems } = await service.operator.validateGoal({ text: 'a: [', mediaType: 'application/yaml' });
    expect(problems).not.toEqual([]);
    expect((await service.operator.listGoals({ account })).data).toEqual([]);
  });

  test('the Goals of an account are listed page by page, oldest first', async () => {
    const made: string[] = [];
    for (let goals = 0; goals < 5; goals += 1) made.push(await newGoal());
    const first = await service.operator.listGoals({ account, limit: 3 });
    const second = await service.operator.listGoals({ account, limit: 3, after: first.next_cursor ?? '' });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(made);
    expect(second.next_cursor).toBeNull();
    await expect(service.operator.listGoals({ account, limit: 101 })).rejects.toMatchObject({ status: 400 });
  });

  test('a draft can not be replaced in the name of another account', async () => {
    const goalId = await newGoal();
    const other = await service.operator.createAccount(`other ${ids.next('evt').slice(-12)}`);
    await expect(service.operator.applyGoal(other.id, asFile(), goalId)).rejects.toMatchObject({
      status: 404,
    });
  });

  test('the versions of a Goal count the Runs that are pinned to them', async () => {
    const developer = await service.developer(account);
    const goalId = await newGoal();
    const run = { phone: '+12125550100', variables: { name: 'Ada' } };
    await service.operator.commandGoal(goalId, 'publish');
    await developer.createRun(goalId, run);
    await developer.createRun(goalId, run);
    await service.operator.commandGoal(goalId, 'publish');
    await developer.createRun(goalId, run);
    const { versions } = await service.operator.getGoal(goalId);
    expect(versions.map(({ version, runs }) => [version, runs])).toEqual([
      [2, 1],
      [1, 2],
    ]);
  });

  test.each(['goal_nothing', 'goal_%00', 'goal_01234567890123456789012345'])(
    '%s is not found',
    async (id) => {
      const response = await fetch(`${service.origin}/operator/v1/goals/${id}`, {
        headers: { authorization: `Bearer ${service.token}` },
      });
      expect(response.status).toBe(404);
      await expect(service.operator.commandGoal(decodeURIComponent(id), 'pause')).rejects.toMatchObject({
        status: 404,
      });
    },
  );
});
