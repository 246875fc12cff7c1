import { afterEach, describe, expect, it } from 'vitest';
import type { ObjectAnswer } from '../../../../src/platform/chat/answer-schema.ts';
import { openMs, opensAfter } from '../../../../src/platform/chat/breaker.ts';
import { createChat, type Question } from '../../../../src/platform/chat/chat.ts';
import { createKeyWatch } from '../../../../src/platform/key-watch.ts';
import { requestLimitMs } from '../../../../src/platform/chat/provider.ts';
import {
  modelName,
  startChatServer,
  type ChatServerOptions,
  type Fault,
} from '../../../fakes/chat-server.ts';
import { createManualClock } from '../../../kit/manual-clock.ts';
import { until } from '../../../kit/until.ts';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0)) await step();
});

const schema: ObjectAnswer = {
  type: 'object',
  properties: {
    count: { type: 'integer', minimum: 1 },
    remark: { type: 'string' },
  },
  required: ['count'],
};
interface Answer {
  readonly count: number;
  readonly remark?: string;
}
const question: Question<Answer> = { name: 'counting', instructions: 'Count.', data: 'secret words', schema };
const { signal } = new AbortController();
const good = { count: 3, remark: null };

async function start(options: Partial<ChatServerOptions> & { readonly apiKey?: string } = {}) {
  const server = await startChatServer({ model: () => good, ...options });
  cleanUp.push(() => server.close());
  const clock = createManualClock(requestLimitMs);
  const { url } = server;
  const apiKey = options.apiKey ?? server.key;
  const chat = createChat({ clock, url, apiKey, model: modelName, random: () => 0 });
  return { server, clock, chat };
}

/** The faults of the first requests. */
const first =
  (...faults: readonly Fault[]) =>
  (index: number): Fault | null =>
    faults[index] ?? null;
describe('an answer', () => {
  it('keeps to the schema in the strict subset, and comes back without what was left out', async () => {
    const { server, chat } = await start();
    expect(await chat.ask(question, signal)).toEqual({ kind: 'answer', answer: { count: 3 } });
    expect(server.requests[0]?.response_format?.json_schema?.schema).toEqual({
      type: 'object',
      properties: { count: { type: 'integer' }, remark: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      required: ['count', 'remark'],
      additionalProperties: false,
    });
    expect(server.violations).toEqual([]);
  });

  it.each([
    ['json_object', ['json_object', 'plain'], ['json_schema', 'json_object']],
    ['plain text', ['plain'], ['json_schema', 'json_object', 'plain']],
  ])('comes as %s where the provider takes no better format', async (_, formats, tried) => {
    const { server, chat } = await start({ formats });
    expect(await chat.ask(question, signal)).toMatchObject({ kind: 'answer' });
    expect(server.formats).toEqual(tried);
    expect(server.violations).toEqual([]);
  });

  it('comes at once in the format that worked, until a better one is tried again after an hour', async () => {
    const { server, clock, chat } = await start({ formats: ['json_object'] });
    const first = ['json_schema', 'json_object'];
    for (const minutes of [0, 30, 29]) {
      clock.advance(minutes * 60_000);
      expect(await chat.ask(question, signal)).toMatchObject({ kind: 'answer' });
    }
    expect(server.formats).toEqual([...first, 'json_object', 'json_object']);
    clock.advance(60_000);
    await chat.ask(question, signal);
    expect(server.formats.slice(4)).toEqual(first);
  });

  it.each([
    ['in a fence', '```json\n{"count":3}\n```'],
    ['behind thoughts', '<think>Is it {"count":9}? No.</think>\n{"count":3}'],
    ['behind thoughts that do not begin', 'Is it {"count":9}?</think>{"count":3}'],
    ['between words', 'The one who called said {"count":9}. Here it is: {"count":3}. Bye.'],
    ['with marks of thoughts in it', '{"count":3,"remark":"</think>{\\"count\\":9}"}'],
  ])('is found %s', async (_, text) => {
    const { chat } = await start({ formats: ['plain'], model: () => text });
    expect(await chat.ask(question, signal)).toMatchObject({ kind: 'answer', answer: { count: 3 } });
  });

  it('that breaks the schema is repaired, on a rung that does not rely on the provider for it', async () => {
    const model = (_: unknown, index: number) => (index === 0 ? { count: 0, more: 1 } : good);
    const { server, chat } = await start({ enforces: false, model });
    expect(await chat.ask(question, signal)).toEqual({ kind: 'answer', answer: { count: 3 } });
    expect(server.formats).toEqual(['json_schema', 'json_object']);
    const [, , mine, told] = server.requests[1]?.messages ?? [];
    expect(mine).toEqual({ role: 'assistant', content: '{"count":0,"more":1}' });
    expect(told?.content).toContain('- /more: is not declared\n- /count: is less than 1\n');
  });

  it('that is never repaired is invalid after two more rounds', async () => {
    const { server, chat } = await start({ enforces: false, model: () => 'I would rather not.' });
    expect(await chat.ask(question, signal)).toEqual({ kind: 'invalid' });
    expect(server.requests).toHaveLength(3);
    expect(server.violations).toEqual([]);
  });

  it('of the right shape is kept when its other problems stay, or get worse', async () => {
    const problems = () => [{ pointer: '/count', problem: 'is odd' }];
    for (const later of [good, 'no'] as const) {
      const { server, chat } = await start({ model: (_, index) => (index === 0 ? good : later) });
      expect(await chat.ask({ ...question, problems }, signal)).toMatchObject({ kind: 'answer' });
      expect(server.requests).toHaveLength(3);
      expect(server.requests[1]?.messages.at(-1)?.content).toContain('- /count: is odd');
    }
  });

  it('that is a refusal without text is no answer', async () => {
    const refusal = { choices: [{ message: { role: 'assistant', content: null, refusal: 'no' } }] };
    const { chat } = await start({ fault: () => ({ body: JSON.stringify(refusal) }) });
    expect(await chat.ask(question, signal)).toEqual({ kind: 'invalid' });
  });
});

describe('a fault', () => {
  it.each<[string, Fault]>([
    ['429', { status: 429 }],
    ['500', { status: 500 }],
    ['503', { status: 503 }],
    ['a connection that is cut', 'refuse'],
    ['a body that breaks off', 'drop'],
    ['malformed JSON', { body: '{"choices":' }],
    ['an error with status 200', { body: '{"error":{"message":"overloaded"}}' }],
    ['no choices', { body: '{"choices":[]}' }],
  ])('that may pass is tried again after a pause: %s', async (_, fault) => {
    const { clock, chat } = await start({ fault: first(fault, fault) });
    expect(await chat.ask(question, signal)).toMatchObject({ kind: 'answer' });
    expect(clock.naps).toEqual([250, 1_000]);
  });

  it('that stays is a failure whose note holds neither words nor the key', async () => {
    for (const fault of [{ status: 500 }, { status: 400 }, { status: 401 }, 'drop', 'refuse'] as const) {
      const { server, chat } = await start({ fault: () => fault });
      const reply = await chat.ask(question, signal);
      expect(reply.kind).toBe('failed');
      expect(JSON.stringify(reply)).not.toMatch(/secret|words|sk-|127\.0/);
      expect(server.requests.length).toBeLessThanOrEqual(3);
    }
  });

  it('is not that an answer comes slowly', async () => {
    const { server, chat } = await start({ fault: () => 'drip' });
    expect(await chat.ask(question, signal)).toMatchObject({ kind: 'answer' });
    expect(server.requests).toHaveLength(1);
  });

  it('asks for a pause and gets it within bounds', async () => {
    const { clock, chat } = await start({ fault: first({ status: 429, retryAfter: '7' }) });
    expect(await chat.ask(question, signal)).toMatchObject({ kind: 'answer' });
    expect(clock.naps).toEqual([7_000]);
    const later = await start({ fault: first({ status: 429, retryAfter: '600' }) });
    expect(await later.chat.ask(question, signal)).toEqual({
      kind: 'failed',
      note: 'the chat model answered 429',
    });
    expect(later.clock.naps).toEqual([]);
  });

  it('of the key is told at once, and not tried again', async () => {
    const { server, clock, chat } = await start({ apiKey: 'sk-wrong' });
    expect(await chat.ask(question, signal)).toEqual({
      kind: 'failed',
      note: 'the chat model answered 401: its key is missing or not accepted',
      isOut: true,
    });
    expect([server.requests.length, clock.naps.length]).toEqual([0, 0]);
    const forbidding = await start({ fault: () => ({ status: 403 }) });
    expect(await forbidding.chat.ask(question, signal)).not.toHaveProperty('isOut');
  });

  it('of the key is remembered until the provider takes it', async () => {
    const { server, clock } = await start({ fault: first({ status: 401 }) });
    const key = createKeyWatch(clock, 'TRUNKCALL_CHAT_API_KEY');
    const { url, key: apiKey } = server;
    const chat = createChat({ clock, url, apiKey, model: modelName, key });
    await chat.ask(question, signal);
    expect(key.rejection()).toContain('TRUNKCALL_CHAT_API_KEY');
    await chat.ask(question, signal);
    expect(key.rejection()).toBeNull();
  });

  it.each<Fault>(['hang', 'stall'])('that lasts ends with the limit of a request: %s', async (fault) => {
    const { server, clock, chat } = await start({ fault: first(fault) });
    const asked = chat.ask(question, signal);
    await until(() => server.requests.length === 1, 'the request');
    clock.advance(requestLimitMs);
    expect(await asked).toMatchObject({ kind: 'answer' });
    expect(server.requests).toHaveLength(2);
  });

  it('does not outlive the deadline of who asks', async () => {
    for (const fault of ['hang', 'stall'] as const) {
      const { server, chat } = await start({ fault: () => fault });
      const deadline = new AbortController();
      const asked = chat.ask(question, deadline.signal);
      await until(() => server.requests.length === 1, 'the request');
      deadline.abort();
      expect(await asked).toEqual({ kind: 'failed', note: 'the chat model was given up' });
    }
    const { server, chat } = await start();
    expect(await chat.ask(question, AbortSignal.abort())).toMatchObject({ kind: 'failed' });
    expect(server.requests).toEqual([]);
  });

  it('is an answer without an end, and it is not read to it', async () => {
    const { server, chat } = await start({ fault: () => 'flood' });
    expect(await chat.ask(question, signal)).toEqual({
      kind: 'failed',
      note: 'the chat model answered too much',
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe('the breaker', () => {
  it('leaves a provider alone that fails again and again, lets one try, and closes with its answer', async () => {
    let broken = true;
    const { server, clock, chat } = await start({ fault: () => (broken ? { status: 503 } : null) });
    // What fails before it opens says something of the question, as far as anybody knows.
    expect(await chat.ask(question, signal)).toEqual({ kind: 'failed', note: 'the chat model answered 503' });
    expect(await chat.ask(question, signal)).toMatchObject({ kind: 'failed', isOut: true });
    expect(server.requests).toHaveLength(opensAfter);
    expect(await chat.ask(question, signal)).toEqual({
      kind: 'failed',
      note: 'the chat model failed too often and is left alone for a while',
      isOut: true,
    });
    expect(server.requests).toHaveLength(opensAfter);

    clock.advance(openMs);
    await chat.ask(question, signal);
    expect(server.requests).toHaveLength(opensAfter + 1);
    broken = false;
    clock.advance(openMs);
    const replies = await Promise.all([chat.ask(question, signal), chat.ask(question, signal)]);
    expect(replies).toEqual([
      expect.objectContaining({ kind: 'answer' }),
      expect.objectContaining({ kind: 'failed', isOut: true }),
    ]);
    expect(await chat.ask(question, signal)).toMatchObject({ kind: 'answer' });
  });

  it('does not open because of requests that the provider refuses', async () => {
    const { server, chat } = await start({ fault: (index) => (index < 12 ? { status: 401 } : null) });
    for (let asked = 0; asked < 12; asked += 1) await chat.ask(question, signal);
    expect(server.requests).toHaveLength(12);
    expect(await chat.ask(question, signal)).toMatchObject({ kind: 'answer' });
  });
});
