import type { GoalFile, GoalTestLine, ScriptedCallee } from '@trunkcall/contract';
import { TrunkcallError } from '@trunkcall/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statement } from '../../../src/storage/database.ts';
import { databases } from '../../kit/database.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { ids, startOperatorService, type OperatorService } from './service.ts';

const countRows = statement<{ rows: number }>(
  'test_count_rows',
  `select ((select count(*) from runs) + (select count(*) from attempts) + (select count(*) from turns)
           + (select count(*) from events) + (select count(*) from jobs))::int as rows`,
);

const variables = { name: 'Zaphod' };
const phone = '+12125550177';
const callees: ScriptedCallee[] = [
  {
    phone,
    name: 'Agrees',
    variables,
    says: { confirmed: 'Yes, by the great prophet.' },
    expect: { result: { confirmed: true } },
  },
  { phone: '+12125550178', name: 'Engaged', variables, does: 'busy', expect: { error: 'declined' } },
];
const file = (over: Partial<GoalFile> = {}) =>
  ({ text: JSON.stringify(goalFile({ callees, ...over })), mediaType: 'application/json' }) as const;

async function all(lines: AsyncIterable<GoalTestLine>): Promise<GoalTestLine[]> {
  const read: GoalTestLine[] = [];
  for await (const line of lines) read.push(line);
  return read;
}

async function refusal(lines: AsyncIterable<GoalTestLine>): Promise<TrunkcallError> {
  try {
    await all(lines);
  } catch (error) {
    if (error instanceof TrunkcallError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe.each(databases)('testing Goals on %s', (kind) => {
  let service: OperatorService;
  let account: string;
  beforeAll(async () => {
    service = await startOperatorService(kind);
    account = (await service.operator.createAccount('Testers')).id;
  });
  afterAll(() => service.close());

  test('a file is tested as it is: a line per callee, then the summary', async () => {
    const lines = await all(service.operator.testGoal(file()));
    expect(lines.at(-1)).toMatchObject({ object: 'goal_test', agent: 'scripted', passed: 1, failed: 1 });
    const tests = lines.filter((line) => line.object === 'callee_test').toSorted((a, b) => a.index - b.index);
    expect(tests).toMatchObject([
      { name: 'Agrees', verdict: 'passed', actual: { result: { confirmed: true } } },
      {
        name: 'Engaged',
        verdict: 'failed',
        differences: [{ pointer: '/error', expected: 'declined', actual: 'no_answer' }],
      },
    ]);
  });

  test('the draft of a Goal is tested in its account’s name, published or not', async () => {
    const { id } = await service.operator.applyGoal(account, file());
    const lines = await all(service.operator.testGoal(id, { agent: 'scripted' }));
    expect(lines).toHaveLength(3);
    expect(JSON.stringify(lines)).toContain('calling for Testers');
  });

  test('nothing is stored, and neither number nor words nor variables are logged', async () => {
    const before = await service.database.db.query(countRows);
    await all(service.operator.testGoal(file()));
    expect(await service.database.db.query(countRows)).toEqual(before);
    const logged = service.logged();
    expect(logged).toContain('/operator/v1/goals/test');
    for (const secret of [phone, 'prophet', 'Zaphod', 'Agrees']) expect(logged).not.toContain(secret);
  });

  test('what can not be tested is refused before the first line', async () => {
    const { operator } = service;
    expect(await refusal(operator.testGoal(file({ callees: [] })))).toMatchObject({
      status: 422,
      code: 'goal_invalid',
    });
    expect(await refusal(operator.testGoal({ ...file(), text: '{"format": 1}' }))).toMatchObject({
      code: 'goal_invalid',
      details: { problems: expect.arrayContaining([expect.objectContaining({ line: 1 })]) },
    });
    expect(await refusal(operator.testGoal(file(), { agent: 'realtime' }))).toMatchObject({
      status: 409,
      code: 'goal_not_ready',
    });
    expect(await refusal(operator.testGoal(file(), { agent: 'nobody' as 'scripted' }))).toMatchObject({
      status: 400,
      message: 'agent must be one of: scripted, realtime, cascade',
    });
    expect(await refusal(operator.testGoal(ids.next('goal')))).toMatchObject({ status: 404 });
  });

  test('without an operator token nothing is tested', async () => {
    const response = await fetch(`${service.origin}/operator/v1/goals/test`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: file().text,
    });
    expect(response.status).toBe(401);
  });
});
