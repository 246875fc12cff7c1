import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ConsoleGoal, GoalFile, TalkRequest } from '@trunkcall/contract';
import { WebSocket } from 'ws';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { statement } from '../../../src/storage/database.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { createPushedClock } from '../../kit/pushed-clock.ts';
import { readAll } from '../http/service.ts';
import { startConsole, type ConsoleService, type Visitor } from './service.ts';
import { openTalk, refusedTalk, type Talk } from './talk-client.ts';

const start = (over: Partial<Extract<TalkRequest, { type: 'start' }>> = {}): TalkRequest => ({
  type: 'start',
  mode: 'typed',
  variables: { name: 'Grace' },
  ...over,
});

const countRuns = statement<{ readonly runs: number }>(
  'count_runs',
  'select count(*)::int as runs from runs',
);

/** Never says anything; tells when it was stopped. */
function silentAgent(): Agent & { stopped: number } {
  return {
    kind: 'realtime',
    stopped: 0,
    problems: () => [],
    async converse(_brief, leg, _transcript, signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      this.stopped += 1;
      await leg.ended;
      return { kind: 'failed', note: 'aborted' };
    },
  };
}

async function newGoal(
  service: ConsoleService,
  author: Visitor,
  over: Partial<GoalFile> = {},
): Promise<string> {
  const path = `/accounts/${service.accountId}/goals`;
  const response = await author.send('POST', path, goalFile(over));
  return ((await response.json()) as ConsoleGoal).id;
}

describe('talking to a draft by typing', () => {
  let service: ConsoleService;
  let author: Visitor;
  let goalId: string;
  let silentGoalId: string;
  const agent = silentAgent();
  const talks: Talk[] = [];
  beforeAll(async () => {
    service = await startConsole('embedded', { moreAgents: [agent] });
    author = await service.person('author');
    goalId = await newGoal(service, author);
    silentGoalId = await newGoal(service, author, { agent: { kind: 'realtime' } });
  });
  afterAll(() => service.close());
  afterEach(async () => {
    for (const { socket, closed } of talks.splice(0)) {
      socket.terminate();
      await closed;
    }
  });

  const open = async (visitor = author, id = goalId) => {
    const talk = await openTalk(service, visitor, id);
    talks.push(talk);
    return talk;
  };
  const begin = async (over: Parameters<typeof start>[0] = {}, id = goalId) => {
    const talk = await open(author, id);
    talk.send(start(over));
    await talk.next('answered');
    return talk;
  };

  test('a conversation with the draft comes to its result with evidence, and leaves no Run behind', async () => {
    const talk = await begin();
    talk.send({ type: 'say', text: 'Hello?' });
    expect(await talk.heard()).toContain('automated assistant');
    talk.send({ type: 'say', text: 'Yes, that suits me.' });
    expect(await talk.heard()).toMatch(/yes/i);
    talk.send({ type: 'say', text: 'Yes' });
    expect(await talk.next('ended')).toMatchObject({ outcome: 'conversation', ended_by: 'agent' });
    const { result, error, evidence } = await talk.next('result');
    expect({ result, error }).toEqual({ result: { confirmed: true }, error: null });
    const turns = talk.messages.filter(({ type }) => type === 'turn');
    const [cited = -1] = evidence['confirmed']?.turns ?? [];
    expect(turns[cited]).toMatchObject({ index: cited, speaker: 'user', text: 'Yes, that suits me.' });
    expect(await talk.closed).toBe(1000);
    const [counted] = await service.database.db.query(countRuns, []);
    expect(counted).toEqual({ runs: 0 });
  });

  test('it is the newest draft that speaks', async () => {
    const id = await newGoal(service, author);
    const draft = goalFile({ title: 'Something quite new' });
    await author.send('PUT', `/goals/${id}/draft`, draft, { 'if-match': '"1"' });
    const talk = await open(author, id);
    talk.send(start());
    talk.send({ type: 'say', text: 'lost: nobody has answered yet' });
    await talk.next('answered');
    talk.send({ type: 'nothing' });
    expect(await talk.heard()).toContain('Something quite new');
  });

  test('who hangs up has ended it, and what was said by then is drawn upon', async () => {
    const talk = await begin();
    talk.send({ type: 'nothing' });
    await talk.heard();
    talk.send({ type: 'hang_up' });
    expect(await talk.next('ended')).toMatchObject({ outcome: 'conversation', ended_by: 'callee' });
    expect(await talk.next('result')).toMatchObject({
      result: null,
      error: { code: 'result_unavailable', detail_code: 'nothing_said' },
    });
  });

  test('an answering machine can be played: its beep is heard', async () => {
    const talk = await begin();
    talk.send({
      type: 'say',
      text: 'You have reached the Miller family. Please leave a message after the beep.',
    });
    talk.send({ type: 'beep' });
    expect(await talk.next('ended')).toMatchObject({ outcome: 'machine', ended_by: 'agent' });
    expect(await talk.next('result')).toMatchObject({
      error: { code: 'no_answer', detail_code: 'voicemail' },
    });
  });

  test('the log has the talk, and nothing that was said in it', async () => {
    const talk = await begin({ variables: { name: 'Confidential Person' } });
    talk.send({ type: 'say', text: 'my secret sentence' });
    await talk.heard();
    talk.send({ type: 'hang_up' });
    await talk.closed;
    const lines = service
      .logged()
      .split('\n')
      .filter((line) => line.includes('"msg":"talk"'));
    expect(JSON.parse(lines.at(-1) ?? '{}')).toMatchObject({ goal_id: goalId, mode: 'typed', turns: 2 });
    expect(service.logged()).not.toMatch(/secret sentence|Confidential/);
  });

  describe('is refused', () => {
    test('without a session, and with the session of nobody', async () => {
      const refusal = { status: 401, code: 'unauthorized' };
      expect(await refusedTalk(service, author, goalId, { cookie: '' })).toEqual(refusal);
      const cookie = `trunkcall_session=${'A'.repeat(43)}`;
      expect(await refusedTalk(service, author, goalId, { cookie })).toEqual(refusal);
    });

    test.each(['https://evil.example', null, 'null'])('to a page of the origin %s', async (origin) => {
      const refusal = { status: 403, code: 'forbidden' };
      expect(await refusedTalk(service, author, goalId, { origin })).toEqual(refusal);
    });

    test('to a viewer, and to a stranger as if there were no such Goal', async () => {
      const viewer = await service.person('viewer');
      expect(await refusedTalk(service, viewer, goalId)).toEqual({ status: 403, code: 'forbidden' });
      const [theirs] = await service.database.db.query(
        statement<{ readonly id: string }>(
          'foreign_goal',
          `insert into goals (id, account_id, state, draft)
           values ('goal_06ab2jfymxfvt9v9r1m1vcnmd8', $1, 'draft', $2::json) returning id`,
        ),
        [service.otherAccountId, JSON.stringify(goalFile())],
      );
      expect(await refusedTalk(service, author, theirs?.id ?? '')).toEqual({
        status: 404,
        code: 'not_found',
      });
    });

    test('without an upgrade, and with a handshake that is none', async () => {
      const plain = await author.send('GET', `/goals/${goalId}/talk`, undefined, { origin: service.origin });
      expect(plain.status).toBe(426);
      expect(plain.headers.get('upgrade')).toBe('websocket');
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
      const lines = [
        `GET /console/api/goals/${goalId}/talk HTTP/1.1`,
        `Host: ${new URL(service.origin).host}`,
        `Origin: ${service.origin}`,
        `Cookie: ${author.cookie}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 7',
      ];
      socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      const answer = (await readAll(socket)).toString();
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('invalid_request');
      expect(answer.toLowerCase()).toContain('connection: close');
    });

    test('by other paths with an ordinary answer, whatever is offered', async () => {
      const socket = new WebSocket(`${service.origin.replace('http', 'ws')}/console/api/session`);
      socket.on('error', () => undefined);
      const status = await new Promise((resolve) =>
        socket.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode)),
      );
      expect(status).toBe(401);
    });

    test('by no path to a client that offers h2c with an ordinary request: it gets its ordinary answer', async () => {
      const body = JSON.stringify({ email: 'nobody@example.org', password: 'something else' });
      const sent = request(`${service.origin}/console/api/session`, {
        method: 'POST',
        headers: {
          origin: service.origin,
          'x-trunkcall-console': '1',
          'content-type': 'application/json',
          connection: 'Upgrade, HTTP2-Settings',
          upgrade: 'h2c',
          'http2-settings': 'AAMAAABk',
        },
      });
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      expect(answer.statusCode).toBe(401);
      expect(await text(answer)).toContain('the password is wrong');
    });

    test('to somebody who talks to two drafts already, until one has ended', async () => {
      const [one] = [await begin(), await begin()];
      const third = await open();
      expect(await third.next('problem')).toMatchObject({ message: expect.stringContaining('hang up one') });
      expect(await third.closed).toBe(1000);
      one.socket.terminate();
      await one.closed;
      await expect
        .poll(() =>
          begin().then(
            () => 'talking',
            () => 'refused',
          ),
        )
        .toBe('talking');
    });

    test.each([
      [{ variables: {} }, 'variables.name is required'],
      [{ variables: { name: 7 } }, 'variables.name must be of type string'],
      [
        { variables: { name: 'G', city: 'X' } },
        "variables has a key that the input schema does not declare: 'city'",
      ],
    ])('with variables that a Run would not get: %j', async (over, message) => {
      const talk = await open();
      talk.send(start(over));
      expect(await talk.next('problem')).toMatchObject({ message, problems: [] });
      expect(await talk.closed).toBe(1000);
    });

    test('by a draft that is not valid, which says where', async () => {
      const id = await newGoal(service, author);
      await author.send('PUT', `/goals/${id}/draft`, { ...goalFile(), title: '' }, { 'if-match': '"1"' });
      const talk = await open(author, id);
      talk.send(start());
      const problem = await talk.next('problem');
      expect(problem.message).toBe('the draft is not valid yet');
      expect(problem.problems.map(({ pointer }) => pointer)).toEqual(['/title']);
    });

    test('when the agent can not speak here, with what is missing', async () => {
      const spoken = await open();
      spoken.send(start({ mode: 'spoken' }));
      expect(await spoken.next('problem')).toMatchObject({
        message: expect.stringContaining('needs espeak-ng'),
      });
      const other = await open(author, await newGoal(service, author, { agent: { kind: 'cascade' } }));
      other.send(start());
      expect(await other.next('problem')).toMatchObject({
        message: 'the agent kind cascade is not available here',
      });
    });
  });

  describe('what breaks the protocol ends it', () => {
    const sent: [string, string | Buffer, RegExp][] = [
      ['no JSON', '{', /not JSON/],
      ['a name twice', '{"type":"hang_up","type":"say"}', /type/],
      ['no object', '[]', /type is one of: start, say/],
      ['an unknown type', '{"type":"constructor"}', /type is one of: start, say/],
      ['a field too many', '{"type":"hang_up","why":1}', /why is an unknown field/],
      ['an empty sentence', '{"type":"say","text":""}', /text must/],
      ['keys that no telephone has', '{"type":"keys","digits":"A"}', /digits/],
      ['a second start', JSON.stringify(start()), /one start/],
      ['sound', Buffer.alloc(160), /has no sound/],
      ['too little sound', Buffer.alloc(7), /160 bytes/],
    ];
    test.each(sent)('%s', async (_what, message, says) => {
      const talk = await begin();
      talk.socket.send(message);
      const problem = await talk.next('problem');
      expect(problem.message).toMatch(says);
      expect(await talk.closed).toBe(1008);
    });

    test('a first message that is not start', async () => {
      const talk = await open();
      talk.send({ type: 'say', text: 'Hello?' });
      expect(await talk.next('problem')).toMatchObject({ message: 'the first message is start' });
      expect(await talk.closed).toBe(1008);
    });

    test('a message larger than 64 KiB', async () => {
      const talk = await begin();
      talk.socket.send('x'.repeat(70_000));
      expect(await talk.closed).toBe(1009);
    });

    test('more messages than anybody can type', async () => {
      const talk = await begin();
      for (let count = 0; count < 400; count += 1) talk.send({ type: 'typing', typing: true });
      expect(await talk.next('problem')).toMatchObject({ message: 'the page sends too many messages' });
      expect(await talk.closed).toBe(1008);
    });
  });

  test('a page that is gone has stopped the agent', async () => {
    const { stopped } = agent;
    const talk = await begin({}, silentGoalId);
    talk.socket.terminate();
    await expect.poll(() => agent.stopped).toBe(stopped + 1);
  });

  test('who may no longer write the Goal is cut off, and so is whoever signs out', async () => {
    const clock = createPushedClock();
    const other = await startConsole('embedded', { clock });
    try {
      const leaving = await other.person('author');
      const talk = await openTalk(other, leaving, await newGoal(other, leaving));
      talk.send(start());
      await talk.next('answered');
      await leaving.send('DELETE', '/session');
      await expect
        .poll(() => (clock.advance(15_000), talk.messages.at(-2)))
        .toMatchObject({
          type: 'ended',
          outcome: 'not_allowed',
          ended_by: null,
        });
      expect(talk.messages.at(-1)).toMatchObject({ type: 'result', error: { code: 'canceled' } });
    } finally {
      await other.close();
    }
  });

  test('a process that ends says so, and waits for nobody', async () => {
    const other = await startConsole('embedded', { moreAgents: [agent] });
    const visitor = await other.person('author');
    const id = await newGoal(other, visitor, { agent: { kind: 'realtime' } });
    const waiting = await openTalk(other, visitor, id);
    const talk = await openTalk(other, visitor, id);
    talk.send(start());
    await talk.next('answered');
    const { stopped } = agent;
    const closing = other.close();
    expect(await talk.next('ended')).toMatchObject({ outcome: 'closing', ended_by: null });
    expect(await talk.closed).toBe(1001);
    expect(await waiting.closed).toBe(1001);
    expect(agent.stopped).toBe(stopped + 1);
    await closing;
  });
});

describe('the time of a talk', () => {
  const clock = createPushedClock();
  let service: ConsoleService;
  let author: Visitor;
  beforeAll(async () => {
    service = await startConsole('embedded', { clock, moreAgents: [silentAgent()] });
    author = await service.person('author');
  });
  afterAll(() => service.close());

  const begin = async (over: Partial<GoalFile>): Promise<Talk> => {
    const id = await newGoal(service, author, { agent: { kind: 'realtime' }, ...over });
    const talk = await openTalk(service, author, id);
    talk.send(start());
    await talk.next('answered');
    return talk;
  };
  /** Lets time pass in steps, with a sign of the person before each. */
  const pass = async (talk: Talk, seconds: number, sign: TalkRequest | null) => {
    for (let passed = 0; passed < seconds && talk.socket.readyState === WebSocket.OPEN; passed += 10) {
      if (sign !== null) talk.send(sign);
      const answered = new Promise((resolve) => talk.socket.once('pong', resolve));
      talk.socket.ping();
      await Promise.race([answered, talk.closed]);
      clock.advance(10_000);
    }
  };

  test('ends three minutes after the last sign of the person', async () => {
    const talk = await begin({ limits: { ring_seconds: 30, call_seconds: 300 } });
    await pass(talk, 120, { type: 'typing', typing: true });
    await pass(talk, 150, null);
    expect(talk.messages.some(({ type }) => type === 'ended')).toBe(false);
    await pass(talk, 60, null);
    expect(await talk.next('ended')).toMatchObject({ outcome: 'idle', ended_by: null });
    expect(await talk.closed).toBe(1000);
  });

  test('ends at the call limit of the Goal, four times as long as on the telephone', async () => {
    const talk = await begin({ limits: { ring_seconds: 30, call_seconds: 60 } });
    await pass(talk, 230, { type: 'typing', typing: true });
    expect(talk.messages.some(({ type }) => type === 'ended')).toBe(false);
    await pass(talk, 20, { type: 'typing', typing: true });
    expect(await talk.next('ended')).toMatchObject({ outcome: 'call_limit', ended_by: null });
    expect(await talk.next('result')).toMatchObject({ error: { code: 'timed_out' } });
  });

  test('is never longer than fifteen minutes, whatever the Goal allows', async () => {
    const talk = await begin({ limits: { ring_seconds: 30, call_seconds: 1_800 } });
    await pass(talk, 880, { type: 'typing', typing: true });
    expect(talk.messages.some(({ type }) => type === 'ended')).toBe(false);
    await pass(talk, 20, { type: 'typing', typing: true });
    expect(await talk.next('ended')).toMatchObject({ outcome: 'call_limit' });
  });

  test('without a start is over after ten seconds', async () => {
    const id = await newGoal(service, author);
    const talk = await openTalk(service, author, id);
    await pass(talk, 20, null);
    expect(await talk.next('problem')).toMatchObject({ message: 'no start came within 10 s' });
    expect(await talk.closed).toBe(1008);
  });

  test('is over when the page does not answer a ping', async () => {
    const talk = await begin({});
    talk.socket.pause();
    const { promise, resolve } = Promise.withResolvers<void>();
    talk.socket.once('close', () => resolve());
    for (let step = 0; step < 4; step += 1) {
      clock.advance(10_000);
      await new Promise((done) => setImmediate(done));
    }
    talk.socket.resume();
    await promise;
    expect(await talk.closed).toBe(1006);
  });
});
