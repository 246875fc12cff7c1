import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isOperatorToken, newOperatorToken } from '../../../src/authoring/operator-tokens.ts';
import { databases } from '../../kit/database.ts';
import { configuredToken, startOperatorService, type OperatorService } from './service.ts';

describe.each(databases)('access to the operator API on %s', (kind) => {
  let service: OperatorService;
  beforeAll(async () => {
    service = await startOperatorService(kind);
  });
  afterAll(() => service.close());

  const ask = (headers: Record<string, string>) =>
    fetch(`${service.origin}/operator/v1/accounts`, { headers });

  test.each<[string, Record<string, string>]>([
    ['no token', {}],
    ['another scheme', { authorization: 'Basic dGM6dGM=' }],
    ['a token of the right form that was never given out', { authorization: `Bearer ${newOperatorToken()}` }],
    ['a text that is no token', { authorization: 'Bearer x' }],
  ])('%s is unauthorized, in the envelope of all errors', async (_name, headers) => {
    const response = await ask(headers);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'unauthorized', details: {} } });
  });

  test('an API key is no operator token, and an operator token no API key', async () => {
    const { id } = await service.operator.createAccount('keys and tokens');
    const { key } = await service.operator.createKey({ account: id });
    expect((await ask({ authorization: `Bearer ${key}` })).status).toBe(401);
    const goals = await fetch(`${service.origin}/v1/goals`, {
      headers: { authorization: `Bearer ${service.token}` },
    });
    expect(goals.status).toBe(401);
  });

  test('the token of the settings is accepted, and stands in no table', async () => {
    const headers = { authorization: `Bearer ${configuredToken}` };
    expect((await ask(headers)).status).toBe(200);
    expect(await isOperatorToken(service.database.db, null, configuredToken)).toBe(false);
  });

  test('the token appears in no log line', async () => {
    await service.operator.listAccounts();
    expect(service.logged()).toContain('/operator/v1/accounts');
    expect(service.logged()).not.toContain(service.token);
  });
});

test('too many wrong tokens from one address are put off with Retry-After', async () => {
  const service = await startOperatorService('embedded');
  const guess = () =>
    fetch(`${service.origin}/operator/v1/accounts`, {
      headers: { authorization: `Bearer ${newOperatorToken()}` },
    });
  const statuses: number[] = [];
  for (let guesses = 0; guesses < 20; guesses += 1) statuses.push((await guess()).status);
  expect(new Set(statuses)).toEqual(new Set([401]));
  const refused = await guess();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  await service.close();
});
