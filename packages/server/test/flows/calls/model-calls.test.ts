import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createModelReader } from '../../../src/acceptance/task-reader/model-reader.ts';
import { createChat } from '../../../src/platform/chat/chat.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createModelConcluder } from '../../../src/result/model/model-concluder.ts';
import { createModelExtractor } from '../../../src/result/model/model-extractor.ts';
import { modelName, startChatServer, type ChatRequest, type ChatServer } from '../../fakes/chat-server.ts';
import { startCallService, yesNo, type CallService } from './service.ts';

const cooperates = '+12025550100';
const another = '+12025550120';

interface Line {
  readonly turn: number;
  readonly speaker: string;
  readonly said: string;
}

/** A model that knows the three questions it is asked. */
function model({ messages, response_format: format }: ChatRequest): object {
  if (format?.json_schema?.name === 'task_reading') {
    return { title: 'your delivery', questions: [], recipients: [{ numbers: [0], locale: null }] };
  }
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
  beforeAll(async () => {
    server = await startChatServer({ model });
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
    const greetings = {
      type: 'array',
      items: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
    };
    const { id } = await service.createTask({
      task: `Call ${cooperates} and ask whether the delivery suits. Then call my other line at ${another}.`,
      result_schema: { ...yesNo, properties: { ...yesNo.properties, greetings } },
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
});
