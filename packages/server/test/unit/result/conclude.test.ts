import type { CallSchema, CallSchemaNode, DetailCode, Scalar } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import type { Note, SpokenTurn } from '../../../src/agents/agent.ts';
import {
  drawConclusion,
  type ConcludedRecipient,
  type Concluder,
  type ConclusionDraft,
  type ConclusionTask,
} from '../../../src/result/conclude.ts';
import { createScriptedConcluder } from '../../../src/result/scripted-concluder.ts';

const object = (
  properties: Readonly<Record<string, CallSchemaNode>>,
  required: readonly string[] = [],
): CallSchema => ({ type: 'object', properties, required, additionalProperties: false });
const schema = object({ free: { type: 'boolean' }, best_price: { type: 'number' } }, ['free']);

const turn = (
  text: string,
  note: Note | null = null,
  speaker: SpokenTurn['speaker'] = 'user',
): SpokenTurn => ({
  speaker,
  text,
  offsetMs: 0,
  interrupted: false,
  notes: note === null ? [] : [note],
});
const answer = (field: string, value: Scalar, quote: string) =>
  turn(`Well, ${quote}.`, { kind: 'answer', field, value, quote });
const spoke = (
  turns: readonly SpokenTurn[],
  result: ConcludedRecipient['result'] = null,
): ConcludedRecipient => ({
  status: 'completed',
  outcome: null,
  turns: [turn('Hello, this is an automated assistant.', null, 'bot'), ...turns],
  result,
});
const failed = (outcome: DetailCode | null): ConcludedRecipient => ({
  status: 'failed',
  outcome,
  turns: [],
  result: null,
});
const skipped: ConcludedRecipient = { status: 'skipped', outcome: null, turns: [], result: null };
const task = (recipients: readonly ConcludedRecipient[], others: Partial<ConclusionTask> = {}) => ({
  task: 'Ask whether they are free.',
  resultSchema: null,
  recipientSchema: null,
  recipients,
  ...others,
});

const { signal } = new AbortController();
async function conclude(wanted: ConclusionTask, concluder: Concluder = createScriptedConcluder()) {
  const conclusion = await drawConclusion(wanted, concluder, signal);
  if (conclusion.kind === 'retry') throw new Error('not expected to fail');
  return conclusion;
}

const yes = answer('free', true, 'we are free');
const no = answer('free', false, 'we are not free');
const eighty = answer('best_price', 80, 'eighty');

describe('from the notes of a call', () => {
  it('everything that was wanted is there: completed, and sure', async () => {
    const conclusion = await conclude(task([spoke([yes, eighty])], { resultSchema: schema }));
    expect(conclusion).toEqual({
      kind: 'conclusion',
      structuredResult: { free: true, best_price: 80 },
      summary: 'The recipient was reached. Answers: free: yes; best price: 80.',
      recipientSummaries: ['The recipient was reached. Answers: free: yes; best price: 80.'],
      taskCompleted: true,
      confidence: { score: 0.95, label: 'high' },
      evidence: ['we are free', 'eighty'],
    });
  });

  it('fewer answers make it less sure', async () => {
    const conclusion = await conclude(task([spoke([yes])], { resultSchema: schema }));
    expect(conclusion).toMatchObject({
      structuredResult: { free: true },
      taskCompleted: true,
      confidence: { score: 0.75, label: 'medium' },
    });
  });

  it.each<[DetailCode | null, string]>([
    ['ring_timeout', 'The recipient did not answer.'],
    ['busy', 'The recipient was busy.'],
    ['declined', 'The recipient declined the call.'],
    ['worker_lost', 'The recipient could not be reached.'],
    [null, 'The recipient was not called.'],
  ])('nobody answered (%s): not completed, and that is sure', async (outcome, summary) => {
    expect(await conclude(task([failed(outcome)], { resultSchema: schema }))).toEqual({
      kind: 'conclusion',
      structuredResult: null,
      summary,
      recipientSummaries: [summary],
      taskCompleted: false,
      confidence: { score: 1, label: 'high' },
      evidence: [],
    });
  });

  it('a call that the time limit cut off claims no success', async () => {
    const cut: ConcludedRecipient = { ...spoke([yes]), status: 'failed', outcome: 'call_limit' };
    expect(await conclude(task([cut], { resultSchema: schema }))).toMatchObject({
      summary: expect.stringMatching(
        /^The recipient was spoken with until the time limit cut the call off\. Answers/,
      ),
      taskCompleted: false,
    });
    expect(await conclude(task([cut, spoke([yes])]))).toMatchObject({
      summary: expect.stringMatching(
        /^2 of 2 recipients were reached\. The time limit cut off one of these calls\./,
      ),
    });
  });

  it('nobody answered, and every answer may be unknown: still no result', async () => {
    const unknown = object({ mood: { type: 'string', enum: ['good', 'unknown'] } }, ['mood']);
    expect(await conclude(task([failed('busy')], { resultSchema: unknown }))).toMatchObject({
      structuredResult: null,
    });
    expect(await conclude(task([spoke([turn('Hm.')])], { resultSchema: unknown }))).toMatchObject({
      structuredResult: { mood: 'unknown' },
    });
  });

  it('some were reached: not completed, and counted', async () => {
    const recipients = [spoke([yes]), failed('busy'), skipped];
    expect(await conclude(task(recipients, { resultSchema: schema }))).toMatchObject({
      structuredResult: { free: true },
      summary: '1 of 2 recipients were reached. Answers: recipient 1, free: yes.',
      recipientSummaries: ['The recipient was reached. Answers: free: yes.', 'The recipient was busy.', null],
      taskCompleted: false,
      confidence: { score: 0.63, label: 'medium' },
    });
    expect(await conclude(task([failed('busy'), failed('declined')]))).toMatchObject({
      summary: 'None of the 2 recipients was reached.',
    });
  });

  it('a missing result of a recipient leaves the task open', async () => {
    const without = task([spoke([yes])], { recipientSchema: schema });
    expect(await conclude(without)).toMatchObject({ taskCompleted: false, structuredResult: null });
    const withResult = task([spoke([yes], { free: true })], { recipientSchema: schema });
    expect(await conclude(withResult)).toMatchObject({ taskCompleted: true, structuredResult: null });
  });

  it('without any schema it is enough that somebody spoke', async () => {
    expect(await conclude(task([spoke([turn('Hello?')])]))).toMatchObject({
      taskCompleted: true,
      summary: 'The recipient was reached. No question was answered.',
      confidence: { score: 0.55, label: 'medium' },
    });
    expect(await conclude(task([spoke([answer('reply', 'call Bob', 'call Bob')])]))).toMatchObject({
      summary: 'The recipient was reached. Answers: reply: call Bob.',
      confidence: { score: 0.95, label: 'high' },
    });
  });

  it('the first recipient whose words suffice gives the whole result', async () => {
    const recipients = [spoke([eighty]), spoke([no]), spoke([yes, answer('best_price', 9, 'nine')])];
    const { structuredResult } = await conclude(task(recipients, { resultSchema: schema }));
    expect(structuredResult).toEqual({ free: false });
  });

  it('when nobody’s words suffice, the first usable answer to each question counts', async () => {
    const both = object({ free: { type: 'boolean' }, best_price: { type: 'number' } }, [
      'free',
      'best_price',
    ]);
    const recipients = [spoke([eighty]), spoke([no]), spoke([yes])];
    expect(await conclude(task(recipients, { resultSchema: both }))).toMatchObject({
      structuredResult: { free: false, best_price: 80 },
    });
  });

  it('the last word of one recipient counts', async () => {
    expect(await conclude(task([spoke([yes, no])], { resultSchema: schema }))).toMatchObject({
      structuredResult: { free: false },
    });
  });

  it('a wish not to be called is said and shown', async () => {
    const optedOut = turn('Never call me again!', { kind: 'opted_out' });
    expect(await conclude(task([spoke([optedOut])], { resultSchema: schema }))).toMatchObject({
      taskCompleted: false,
      summary:
        'The recipient was reached. No question was answered. A recipient asked not to be called again.',
      evidence: ['Never call me again!'],
    });
  });

  it('names of nested fields are read as words', async () => {
    const nested = object({ home_address: object({ zipCode: { type: 'string' } }) });
    const said = answer('home_address/zipCode', '10115', '10115');
    const { summary } = await conclude(task([spoke([said])], { resultSchema: nested }));
    expect(summary).toContain('home address zip Code: 10115');
  });

  it('fields may be called as what every object has', async () => {
    const odd = object(Object.fromEntries([['toString', { type: 'string' as const }]]), ['toString']);
    const said = answer('toString', 'x', 'x');
    expect(await conclude(task([spoke([said])], { resultSchema: odd }))).toMatchObject({
      structuredResult: { toString: 'x' },
    });
  });

  it('is the same each time', async () => {
    const wanted = task([spoke([yes, eighty]), failed('busy')], {
      resultSchema: schema,
      recipientSchema: schema,
    });
    expect(await conclude(wanted)).toEqual(await conclude(wanted));
  });

  it('is bounded', async () => {
    const long = `x${'😀'.repeat(400)}`;
    const many = object(
      Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, { type: 'string' } as const])),
    );
    const said = Array.from({ length: 40 }, (_, i) => answer(`f${i}`, long, `${i} ${long}`));
    const { summary, evidence } = await conclude(task([spoke(said)], { resultSchema: many }));
    expect(summary.length).toBeLessThanOrEqual(1_000);
    expect(evidence).toHaveLength(10);
    expect(Math.max(...evidence.map((quote) => quote.length))).toBeLessThanOrEqual(200);
    expect([summary, ...evidence].every((text) => text.isWellFormed())).toBe(true);
  });
});

describe('from any concluder', () => {
  const recipients = [spoke([turn('We are free, for eighty.')]), spoke([turn('No.')])];
  const wanted = task(recipients, { resultSchema: schema });
  const draft = {
    kind: 'drawn',
    fields: { free: { value: true, recipient: 0, turns: [1], quote: 'We are free' } },
    summary: 'They are free.',
    recipientSummaries: ['Free.', null],
    taskCompleted: true,
    score: 0.5,
    quotes: ['We are free'],
  } as const satisfies ConclusionDraft;
  const from = (others: Partial<typeof draft | Record<string, unknown>>) =>
    conclude(wanted, { conclude: () => Promise.resolve({ ...draft, ...others } as ConclusionDraft) });

  it('what is supported is taken over', async () => {
    expect(await from({})).toEqual({
      kind: 'conclusion',
      structuredResult: { free: true },
      summary: 'They are free.',
      recipientSummaries: ['Free.', null],
      taskCompleted: true,
      confidence: { score: 0.5, label: 'medium' },
      evidence: ['We are free'],
    });
  });

  it('a value that this recipient did not say in this turn is not used', async () => {
    const { free } = draft.fields;
    for (const evidence of [
      { ...free, recipient: 1 },
      { ...free, recipient: 7 },
      { ...free, turns: [0] },
      { ...free, quote: 'We are not free' },
    ]) {
      expect(await from({ fields: { free: evidence } })).toMatchObject({ structuredResult: null });
    }
  });

  it('a result that does not satisfy the schema is none', async () => {
    const fields = { free: { ...draft.fields.free, value: 'yes' } };
    expect(await from({ fields })).toMatchObject({ structuredResult: null });
  });

  it('words that no callee said are no evidence', async () => {
    const quotes = ['automated assistant', 'We are rich', '  ', 'No.', 'No.'];
    expect(await from({ quotes })).toMatchObject({ evidence: ['No.'] });
  });

  it.each([
    [1.7, 1, 'high'],
    [0.799, 0.8, 'high'],
    [0.794, 0.79, 'medium'],
    [0.494, 0.49, 'low'],
    [-3, 0, 'low'],
    [Number.NaN, 0, 'low'],
  ])('a score of %d is %d, %s', async (score, rounded, label) => {
    expect(await from({ score })).toMatchObject({ confidence: { score: rounded, label } });
  });

  it('texts are cut, and each recipient has its place', async () => {
    const conclusion = await from({ summary: 'x'.repeat(3_000), recipientSummaries: ['y'.repeat(3_000)] });
    expect(conclusion.summary).toHaveLength(1_000);
    expect(conclusion.recipientSummaries.map((summary) => summary?.length)).toEqual([1_000, undefined]);
  });

  it('a failure is worth another try, and its note holds no spoken words', async () => {
    const throwing: Concluder = { conclude: () => Promise.reject(new TypeError('We are free')) };
    expect(await drawConclusion(wanted, throwing, signal)).toEqual({ kind: 'retry', note: 'TypeError' });
    const failing: Concluder = { conclude: () => Promise.resolve({ kind: 'failed', note: 'http 503' }) };
    expect(await drawConclusion(wanted, failing, signal)).toEqual({ kind: 'retry', note: 'http 503' });
  });
});
