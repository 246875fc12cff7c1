/** What becomes of a test whose client goes away, or whose service stops: a provider may be paid by the minute. */
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { goalTestAnswers } from '../../../src/http/goal-test.ts';
import { systemClock as clock } from '../../../src/platform/clock.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';
import { createGoalTester } from '../../../src/rehearsal/test-goal.ts';
import { goalFile } from '../../kit/fixtures.ts';

let app: FastifyInstance;
afterEach(() => app.close());

/** A service whose agent talks to the first callee at once and to the second until it is stopped. */
async function start() {
  const talks = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const agent: Agent = {
    kind: 'scripted',
    problems: () => [],
    converse: async ({ variables }, _leg, _transcript, signal) => {
      if (variables['name'] === 'first') return { kind: 'finished' };
      const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      talks.resolve();
      await stopped;
      ended.resolve();
      return { kind: 'finished' };
    },
  };
  const callees = [
    { phone: '+12125550141', name: 'first', variables: { name: 'first' } },
    { phone: '+12125550142', name: 'second', variables: { name: 'second' } },
  ];
  const goal = goalFile({ callees, limits: { ring_seconds: 30, call_seconds: 3_600 } });
  app = Fastify();
  const answer = goalTestAnswers(
    app,
    createGoalTester({ clock, agents: [agent], extractor: createScriptedExtractor() }),
  );
  app.post('/test', async (request, reply) =>
    answer(request, reply, { text: JSON.stringify(goal), callerName: 'Acme' }),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/test`;
  return { url, talks: talks.promise, ended: ended.promise };
}

test('each callee’s line comes as its call is over; a client that goes away ends the other calls', async () => {
  const { url, talks, ended } = await start();
  const gone = new AbortController();
  const response = await fetch(url, { method: 'POST', signal: gone.signal });
  const reader = response.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  expect(JSON.parse(first)).toMatchObject({ object: 'callee_test', name: 'first' });
  await talks;
  gone.abort();
  await ended;
});

test('a service that stops ends the calls, and still says what was not run', async () => {
  const { url, talks, ended } = await start();
  const answered = fetch(url, { method: 'POST' }).then((response) => response.text());
  await talks;
  const closing = app.close();
  await ended;
  const lines = (await answered).trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ object: 'goal_test', not_run: 1 });
  // The client keeps its connection for another request.
  app.server.closeAllConnections();
  await closing;
});
