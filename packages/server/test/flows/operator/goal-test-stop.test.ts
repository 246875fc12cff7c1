/** What becomes of a test whose client goes away or does not read, or whose service stops: a provider may be paid by the minute. */
import { connect, type AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { ScriptedCallee } from '@trunkcall/contract';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { refusalFrom, sendRefusal } from '../../../src/http/exchange.ts';
import { goalTestAnswers, readWithinMs } from '../../../src/http/goal-test.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';
import { createGoalTester } from '../../../src/rehearsal/test-goal.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { createPushedClock } from '../../kit/pushed-clock.ts';
import { until } from '../../kit/until.ts';
import { readAll } from '../http/service.ts';

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
  const url = await serve(agent, callees, systemClock);
  return { url, talks: talks.promise, ended: ended.promise };
}

/** A service that tests one Goal, for whoever the header `x-by` names. */
async function serve(agent: Agent, callees: ScriptedCallee[], clock: Clock): Promise<string> {
  const goal = goalFile({ callees, limits: { ring_seconds: 30, call_seconds: 3_600 } });
  const goalTester = createGoalTester({ clock, agents: [agent], extractor: createScriptedExtractor() });
  app = Fastify();
  const answer = goalTestAnswers(app, { goalTester, clock });
  app.setErrorHandler((error, _request, reply) => sendRefusal(reply, refusalFrom(error)));
  app.post('/test', async (request, reply) =>
    answer(request, reply, {
      text: JSON.stringify(goal),
      callerName: 'Acme',
      by: request.headers['x-by']?.toString() ?? '',
    }),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/test`;
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

test('nobody holds more than two tests at once; who waits for one to end is admitted', async () => {
  const { url, talks } = await start();
  const gone = new AbortController();
  const ask = (by: string, signal?: AbortSignal) =>
    fetch(url, { method: 'POST', headers: { 'x-by': by }, ...(signal && { signal }) });
  const one = await ask('ada', gone.signal);
  const others = [await ask('ada'), await ask('grace')];
  expect([one, ...others].map(({ status }) => status)).toEqual([200, 200, 200]);
  await talks;
  const refused = await ask('ada');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  expect(await refused.json()).toMatchObject({
    error: { code: 'rate_limit_exceeded', message: '2 of your tests are under way already' },
  });
  gone.abort();
  await expect.poll(async () => (await ask('ada')).status).toBe(200);
  app.server.closeAllConnections();
});

/** Their lines are more than the sockets on the way hold. */
const many = 40;

/** A service with many callees who talk at length, and a client that has asked for the test and has not read yet. */
async function startLong() {
  const clock = createPushedClock();
  const seen = { begun: 0, closed: false };
  const text = 'x'.repeat(2_000);
  const turn = { speaker: 'bot', text, offsetMs: 0, interrupted: false, latency: null, notes: [] } as const;
  const agent: Agent = {
    kind: 'scripted',
    problems: () => [],
    async converse(_brief, _leg, transcript) {
      seen.begun += 1;
      for (let turns = 0; turns < 200; turns += 1) transcript.turn(turn);
      return { kind: 'finished' };
    },
  };
  const callees = Array.from({ length: many }, (_, index) => ({
    phone: `+121255501${index + 10}`,
    variables: { name: 'Ada' },
  }));
  const url = new URL(await serve(agent, callees, clock));
  app.server.once('connection', (socket) => socket.once('close', () => (seen.closed = true)));
  const client = connect(Number(url.port), url.hostname);
  client.write('POST /test HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  await until(() => seen.begun > 0, 'the first call');
  return { clock, seen, client };
}

test('the calls wait for a client that does not read, which then gets every line', async () => {
  const { seen, client } = await startLong();
  // Far more than all calls need.
  for (let rounds = 0; rounds < 20_000 && seen.begun < many; rounds += 1) await setImmediate();
  expect(seen.begun).toBeLessThan(many);
  const answer = (await readAll(client)).toString();
  expect(answer.match(/"object":"callee_test"/g)).toHaveLength(many);
  expect(answer).toContain('"object":"goal_test"');
});

test('a client that has not read for a minute ends the test', async () => {
  const { clock, seen, client } = await startLong();
  await until(() => {
    clock.advance(readWithinMs);
    return seen.closed;
  }, 'the end');
  expect(seen.begun).toBeLessThan(many);
  client.destroy();
});
