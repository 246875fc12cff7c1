import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createModelReader } from '../../../src/acceptance/task-reader/model-reader.ts';
import { createChat } from '../../../src/platform/chat/chat.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createModelConcluder } from '../../../src/result/model/model-concluder.ts';
import { createModelExtractor } from '../../../src/result/model/model-extractor.ts';
import { statement } from '../../../src/storage/database.ts';
import { modelName, startChatServer, type ChatRequest, type ChatServer } from '../../fakes/chat-server.ts';
import { startCallService, yesNo, type CallService } from './service.ts';

const cooperates = '+12025550100';
const another = '+12025550120';

const waitingConclusions = statement<{ readonly subject_id: string }>(
  'test_waiting_conclusions',
  `select subject_id from jobs
   where queue = 'conclude' and worker is null and tries = 0 and due_at > now() + interval '20 seconds'`,
);
const concludeNow = statement<never>(
  'test_conclude_now',
  `update jobs set due_at = now() where queue = 'conclude'`,
);

const greetings = {
  type: 'array',
  items: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
};
const schema = { ...yesNo, properties: { ...yesNo.properties, greetings } };

interface Line {
  readonly turn: number;
  readonly speaker: string;
  readonly said: string;
}

/** A model that knows the four questions it is asked. */
function model({ messages, response_format: format }: ChatRequest): object {
  if (format?.json_schema?.name === 'task_reading') {
    return { title: 'your delivery', questions: [], recipients: [{ numbers: [0], locale: null }] };
  }
  if (format?.json_schema?.name === 'extraction') return { replied: true, fields: { confirmed: null } };
  const lines = (messages[1]?.content ?? '')
    .split('\n')
    .filter((line) => line.startsWith('{"turn"'))
    .map((line) => JSON.parse(line) as Line);
  const first = lines.find(({ speaker }) => speaker === 'callee');
  const quote = first?.said ?? '';
  return {
    summary: 'The delivery suits.',
    recipients: ['It suits them.'],
    task_completed: true,
    score: 0.85,
    quotes: [quote],
    fields: {
      confirmed: null,
      greetings: [{ words: { value: quote, recipient: 0, turns: [first?.turn ?? 0], quote, confidence: 1 } }],
    },
  };
}

describe('a call task with a model', () => {
  let server: ChatServer;
  let service: CallService;
  let isOut = false;
  /** Tasks are read all the same. */
  const fault = (index: number) => {
    const name = server.requests[index]?.response_format?.json_schema?.name;
    return isOut && name !== 'task_reading' ? { status: 401 } : null;
  };
  beforeAll(async () => {
    server = await startChatServer({ model, fault });
    const chat = createChat({ clock: systemClock, url: server.url, apiKey: server.key, model: modelName });
    service = await startCallService({
      calls: { reader: createModelReader({ chat, speaks: (locale) => locale.startsWith('en') }) },
      worker: { extractor: createModelExtractor(chat), concluder: createModelConcluder(chat) },
    });
  });
  afterAll(async () => {
    await service.close();
    await server.close();
  });

  it('calls whom the model leaves, and is concluded with its summary, lists of objects as well', async () => {
    const { id } = await service.createTask({
      task: `Call ${cooperates} and ask whether the delivery suits. Then call my other line at ${another}.`,
      result_schema: schema,
    });
    const task = await service.finalTask(id);
    expect(task).toMatchObject({
      status: 'completed',
      structured_result: {
        confirmed: expect.any(Boolean) as unknown,
        greetings: [{ words: expect.stringMatching(/\w/) as unknown }],
      },
      summary: 'The delivery suits.',
      task_completed: true,
      completion_confidence: { score: 0.85, label: 'high' },
      recipients: [{ phones: [cooperates], summary: 'It suits them.' }],
    });
    expect(service.dialled()).toEqual([cooperates]);
    // For what the callee calls tomorrow.
    const told = server.requests.map(({ messages }) => messages[1]?.content ?? '').join('\n');
    expect(told).toMatch(/"held_on":"\w+day, \d{4}-\d\d-\d\d, \d\d:\d\d UTC"/);
    expect(server.violations).toEqual([]);
  });

  it('has its conclusion, as a one-shot call its result, once a provider that was out is back', async () => {
    isOut = true;
    const { db } = service.database;
    const task = await service.createTask({
      task: `Call ${another} and ask whether the delivery suits.`,
      result_schema: schema,
    });
    const call = await service.createCall({
      task: 'Ask whether the delivery suits.',
      phone: '+12025550106',
      result_schema: { ...yesNo, additionalProperties: false },
    });
    const waiting = async () => (await db.query(waitingConclusions)).map(({ subject_id: id }) => id).sort();
    await expect.poll(waiting, { timeout: 15_000 }).toEqual([task.id, call.id].sort());
    const shown = async (path: string) => (await service.fetch(path)).json();
    expect(await shown(`/v1/calls/${task.id}`)).toMatchObject({ status: 'in_progress', completed_at: null });
    expect(await shown(`/v2/calls/${call.id}`)).toMatchObject({
      status: 'completed',
      result_status: 'pending',
      result: null,
      error: null,
    });
    isOut = false;
    await db.query(concludeNow);
    expect(await service.finalTask(task.id)).toMatchObject({
      status: 'completed',
      summary: 'The delivery suits.',
    });
    expect(await service.finalCall(call.id)).toMatchObject({
      result_status: 'unavailable',
      error: { code: 'result_invalid' },
    });
  });
});
