import { afterEach, expect, test } from 'vitest';
import { chatsOf } from '../../src/adapters.ts';
import { readConfig } from '../../src/config.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createProviderKeys } from '../../src/platform/key-watch.ts';
import { createLog } from '../../src/platform/log.ts';
import { modelName, startChatServer, type ChatServer } from '../fakes/chat-server.ts';

let server: ChatServer;
afterEach(() => server.close());

async function chats(env: Readonly<Record<string, string>>) {
  server = await startChatServer({ model: () => ({ count: 1 }) });
  const settings = { TRUNKCALL_CHAT_URL: server.url, TRUNKCALL_CHAT_API_KEY: server.key, ...env };
  return chatsOf(readConfig(settings), createLog('silent'), createProviderKeys(systemClock));
}

const question = {
  name: 'counting',
  instructions: 'Count.',
  data: 'one',
  schema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
} as const;
const { signal } = new AbortController();

test('results are drawn by a model of their own where one is set', async () => {
  const { tasks, results } = await chats({
    TRUNKCALL_CHAT_MODEL: 'another',
    TRUNKCALL_RESULT_MODEL: modelName,
  });
  // The server has no model but one.
  expect(await tasks?.ask(question, signal)).toMatchObject({ kind: 'failed' });
  expect(await results?.ask(question, signal)).toMatchObject({ kind: 'answer' });
});

test('otherwise by the one that reads tasks; without either by rules', async () => {
  const one = await chats({ TRUNKCALL_CHAT_MODEL: modelName });
  expect(one.results).toBe(one.tasks);
  await server.close();
  const none = await chats({});
  expect(none).toEqual({ tasks: null, results: null });
  await server.close();
  const alone = await chats({ TRUNKCALL_RESULT_MODEL: modelName });
  expect(alone.tasks).toBeNull();
  expect(alone.results).not.toBeNull();
});
