import type { ConsoleSession } from '@trunkcall/contract';
import { expect, test } from 'vitest';
import { ApiError, isRefused } from '../app/api.ts';
import { createClient, sessionKey } from '../app/client.ts';

const sessionOf = (id: string) => ({ person: { id } }) as ConsoleSession;
const refusal = (status: number) => new ApiError(status, 'refused', '', {});
const runsKey = ['runs', 'acct_1'];

function newClient() {
  const client = createClient();
  const signIn = (id: string) =>
    client.fetchQuery({ queryKey: sessionKey, queryFn: () => sessionOf(id), staleTime: 0 });
  const refuse = (status: number) =>
    client.fetchQuery({ queryKey: ['goals'], queryFn: () => Promise.reject(refusal(status)) });
  return { client, signIn, refuse };
}

test('a session that ended takes with it all that was shown to its person', async () => {
  const { client, signIn, refuse } = newClient();
  await signIn('per_1');
  client.setQueryData(runsKey, ['theirs']);
  await expect(refuse(403)).rejects.toThrow(ApiError);
  expect(client.getQueryData(runsKey)).toEqual(['theirs']);
  await expect(refuse(401)).rejects.toThrow(ApiError);
  expect(client.getQueryData(runsKey)).toBeUndefined();
  expect(client.getQueryData(sessionKey)).toBeUndefined();
});

test('what one person saw is not kept for another who signed in elsewhere', async () => {
  const { client, signIn } = newClient();
  await signIn('per_1');
  client.setQueryData(runsKey, ['theirs']);
  await signIn('per_1');
  expect(client.getQueryData(runsKey)).toEqual(['theirs']);
  await signIn('per_2');
  expect(client.getQueryData(runsKey)).toBeUndefined();
  expect(client.getQueryData(sessionKey)).toEqual(sessionOf('per_2'));
});

test('a refusal stands above an earlier answer, a failure does not', () => {
  expect([401, 403, 404].map((status) => isRefused(refusal(status)))).toEqual([true, true, true]);
  expect([0, 429, 500, 503].map((status) => isRefused(refusal(status)))).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
