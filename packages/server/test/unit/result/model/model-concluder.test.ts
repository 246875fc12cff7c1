import type { CallSchema } from '@trunkcall/contract';
import { afterEach, describe, expect, it } from 'vitest';
import type { Note, SpokenTurn } from '../../../../src/agents/agent.ts';
import {
  drawConclusion,
  type ConcludedRecipient,
  type ConclusionTask,
} from '../../../../src/result/conclude.ts';
import { createModelConcluder } from '../../../../src/result/model/model-concluder.ts';
import type { ChatServerOptions } from '../../../fakes/chat-server.ts';
import { startChat } from '../../../kit/chat.ts';

const visits: CallSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    price: { type: 'number' },
    visits: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: { who: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
        required: ['who'],
      },
    },
  },
  required: ['price', 'visits'],
};
const turn = (speaker: SpokenTurn['speaker'], text: string, note: Note | null = null): SpokenTurn => ({
  speaker,
  text,
  offsetMs: 0,
  interrupted: false,
  notes: note === null ? [] : [note],
});
const spoke = (...turns: readonly SpokenTurn[]): ConcludedRecipient => ({
  status: 'completed',
  outcome: null,
  turns: [turn('bot', 'Who comes, and what does it cost?'), ...turns],
  result: null,
});
const busy: ConcludedRecipient = { status: 'failed', outcome: 'busy', turns: [], result: null };
const recipients = [
  busy,
  spoke(
    turn('user', 'It costs 45 euros.'),
    turn('user', 'Ada comes, she is quick and careful. Bob comes too.'),
  ),
];
const task = (over: Partial<ConclusionTask> = {}): ConclusionTask => ({
  task: 'Ask who comes.',
  resultSchema: visits,
  recipientSchema: null,
  recipients,
  ...over,
});
const { signal } = new AbortController();
const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0)) await step();
});

async function conclude(
  model: ChatServerOptions['model'],
  over: Partial<ConclusionTask> & Partial<ChatServerOptions> = {},
) {
  const { chat, server } = await startChat(model, over);
  cleanUp.push(() => server.close());
  return { conclusion: await drawConclusion(task(over), createModelConcluder(chat), signal), server };
}
const claim = (value: unknown, quote: string, turns: readonly number[], recipient = 1) => ({
  value,
  recipient,
  turns,
  quote,
  confidence: 0.9,
});
const answer = {
  summary: 'Two people come, for 45 euros.',
  recipients: ['The line was busy.', 'Ada and Bob come.'],
  task_completed: true,
  score: 0.9,
  quotes: ['ada comes'],
  fields: {
    price: claim(45, '45 euros', [1]),
    visits: [
      {
        who: claim('Ada', 'Ada comes', [2]),
        tags: [claim('quick', 'quick', [2]), claim('careful', 'careful', [2])],
      },
      { who: claim('Bob', 'Bob comes too', [2]), tags: null },
    ],
  },
};

describe('a conclusion by a model', () => {
  it('has the whole-call result, lists of objects as well, a summary, and what supports it', async () => {
    const { conclusion, server } = await conclude(() => answer);
    expect(conclusion).toEqual({
      kind: 'conclusion',
      structuredResult: {
        price: 45,
        visits: [{ who: 'Ada', tags: ['quick', 'careful'] }, { who: 'Bob' }],
      },
      summary: 'Two people come, for 45 euros.',
      recipientSummaries: ['The recipient was busy.', 'Ada and Bob come.'],
      taskCompleted: true,
      confidence: { score: 0.9, label: 'high' },
      evidence: ['Ada comes', '45 euros', 'quick', 'careful', 'Bob comes too'],
    });
    expect(server.violations).toEqual([]);
    const data = server.requests[0]?.messages[1]?.content ?? '';
    expect(data).toContain('{"recipient":0,"status":"failed","outcome":"busy","result":null}');
  });

  it('leaves out an item that lacks what it requires because nobody said it, and keeps those behind it', async () => {
    const [ada, bob] = answer.fields.visits;
    const wrong = { who: claim('Cyd', 'Cyd comes', [2]), tags: [claim('quick', 'quick', [2])] };
    const { conclusion } = await conclude(() => ({
      ...answer,
      fields: { ...answer.fields, visits: [ada, wrong, bob] },
    }));
    expect(conclusion).toMatchObject({ structuredResult: { visits: [{ who: 'Ada' }, { who: 'Bob' }] } });
  });

  it('takes words only from the recipient that it names', async () => {
    const price = claim(45, '45 euros', [1], 0);
    const { conclusion } = await conclude(() => ({ ...answer, fields: { ...answer.fields, price } }));
    expect(conclusion).toMatchObject({
      structuredResult: null,
      taskCompleted: false,
      confidence: { score: 0.5 },
    });
  });

  it('does not complete a task whose recipients have no result', async () => {
    const wanted = { recipientSchema: visits, resultSchema: null };
    const { fields: _, ...without } = answer;
    expect((await conclude(() => without, wanted)).conclusion).toMatchObject({ taskCompleted: false });
    const [, second = busy] = recipients;
    const withResult = [busy, { ...second, result: { price: 45 } }];
    const { conclusion } = await conclude(() => without, { ...wanted, recipients: withResult });
    expect(conclusion).toMatchObject({ taskCompleted: true });
  });

  it('does not complete a task because of our own words', async () => {
    const { fields: _, ...without } = answer;
    const quotes = ['Who comes, and what does it cost?'];
    const { conclusion } = await conclude(() => ({ ...without, quotes }), { resultSchema: null });
    expect(conclusion).toMatchObject({ taskCompleted: false, evidence: [] });
  });

  it('asks no model when nobody spoke', async () => {
    const { conclusion, server } = await conclude(() => answer, { recipients: [busy] });
    expect(conclusion).toMatchObject({ summary: 'The recipient was busy.', taskCompleted: false });
    expect(server.requests).toEqual([]);
  });

  it('keeps what was noted', async () => {
    const noted = turn('user', 'It costs 45 euros.', {
      kind: 'answer',
      field: 'price',
      value: 45,
      quote: '45 euros',
    });
    const price = claim(12, 'It costs', [1]);
    const { conclusion } = await conclude(() => ({ ...answer, fields: { price, visits: [] } }), {
      recipients: [busy, spoke(noted)],
    });
    expect(conclusion).toMatchObject({ structuredResult: { price: 45, visits: [] } });
  });

  it('is counted instead when the model does not keep to the schema', async () => {
    const { conclusion } = await conclude(() => 'no', { enforces: false });
    expect(conclusion).toMatchObject({
      summary: '1 of 2 recipients were reached. No question was answered.',
      taskCompleted: false,
    });
  });

  it('is tried again when the provider fails', async () => {
    const { conclusion } = await conclude(() => answer, { fault: () => ({ status: 503 }) });
    expect(conclusion).toEqual({ kind: 'retry', note: 'the chat model answered 503' });
  });

  it('manages schemas that are nested deeper than the provider takes', async () => {
    const deep = Array.from({ length: 9 }).reduce<CallSchema>(
      (inner) => ({
        type: 'object',
        additionalProperties: false,
        properties: { in: inner },
        required: ['in'],
      }),
      {
        type: 'object',
        additionalProperties: false,
        properties: { price: { type: 'number' } },
        required: ['price'],
      },
    );
    const fields = Array.from({ length: 9 }).reduce<object>((inner) => ({ in: inner }), {
      price: answer.fields.price,
    });
    const { conclusion, server } = await conclude(() => ({ ...answer, fields }), { resultSchema: deep });
    expect(conclusion).toMatchObject({ taskCompleted: true });
    expect(server.requests.map(({ response_format: format }) => format?.type)).toEqual(['json_object']);
  });
});
