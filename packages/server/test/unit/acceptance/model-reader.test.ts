import { afterEach, describe, expect, it } from 'vitest';
import type { TaskRequest } from '../../../src/acceptance/task-reader.ts';
import { createModelReader } from '../../../src/acceptance/task-reader/model-reader.ts';
import type { ChatServerOptions } from '../../fakes/chat-server.ts';
import { startChat } from '../../kit/chat.ts';

const speaks = (locale: string) => /^(en|es)(-|$)/.test(locale);
const { signal } = new AbortController();
const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0)) await step();
});

const ada = '+12025550101';
const bob = '+12125550102';
const both = `Call Ada at ${ada} and ask about Friday. Then call her brother at ${bob}.`;
const one = `Call ${ada} and ask about Friday.`;

async function read(
  task: string,
  model: ChatServerOptions['model'],
  over: Partial<TaskRequest> & Partial<ChatServerOptions> = {},
) {
  const { chat, server } = await startChat(model, over);
  cleanUp.push(() => server.close());
  const { recipients = null } = over;
  const request = { task, recipients, defaultRegion: 'US', defaultLocale: 'en-US' };
  return { reading: await createModelReader({ chat, speaks }).read(request, signal), server };
}
const target = (numbers: readonly number[], locale: string | null = null) => ({ numbers, locale });
const answer = { title: 'your Friday', questions: [] as string[], recipients: [target([0])] };
const answers =
  (over: Partial<typeof answer> = {}) =>
  () => ({ ...answer, ...over });

describe('a task that is read by a model', () => {
  it('is called where the model and the rules agree', async () => {
    const { reading, server } = await read(both, answers());
    expect(reading).toEqual({
      kind: 'ready',
      title: 'your Friday',
      recipients: [{ phones: [ada], region: 'US', locale: 'en-US' }],
    });
    expect(server.violations).toEqual([]);
  });

  it('may have further recipients, or numbers to try instead, each once', async () => {
    const apart = await read(both, answers({ recipients: [target([1]), target([0, 1])] }));
    expect(apart.reading).toMatchObject({ recipients: [{ phones: [bob] }, { phones: [ada] }] });
    const instead = await read(both, answers({ recipients: [target([0, 1])] }));
    expect(instead.reading).toMatchObject({ recipients: [{ phones: [ada, bob] }] });
  });

  it('is not called at a number that the rules did not find (T1)', async () => {
    const { reading, server } = await read(one, answers({ recipients: [target([1])] }));
    expect(reading).toMatchObject({ kind: 'not_ready', reasonCode: 'missing_phone' });
    expect(server.requests).toHaveLength(3);
  });

  it('is asked about when nobody is left to be called', async () => {
    const { reading } = await read(both, answers({ recipients: [] }));
    expect(reading).toMatchObject({ kind: 'not_ready', reasonCode: 'missing_phone' });
  });

  it('keeps what the rules ask, and no model is asked then', async () => {
    for (const [task, reasonCode] of [
      ['Call {{phone}} about Friday.', 'missing_information'],
      [`Call ${ada} and ask for [customer name].`, 'missing_information'],
      ['Call Ada about Friday.', 'missing_phone'],
      [`Call ${ada} ext. 12 about Friday.`, 'extension_not_supported'],
    ] as const) {
      const { reading, server } = await read(task, answers());
      expect(reading).toMatchObject({ kind: 'not_ready', reasonCode });
      expect(server.requests).toEqual([]);
    }
  });

  it('is asked about when the model misses something', async () => {
    const { reading } = await read(one, answers({ questions: ['  Which Friday?  ', ' '] }));
    expect(reading).toEqual({
      kind: 'not_ready',
      reasonCode: 'missing_information',
      questions: ['Which Friday?'],
    });
  });

  it('is spoken in the language that it asks for, when somebody here speaks it', async () => {
    for (const [locale, expected] of [
      ['es-us', 'es-US'],
      ['fr-FR', 'en-US'],
      ['nonsense!', 'en-US'],
    ] as const) {
      const { reading } = await read(one, answers({ recipients: [target([0], locale)] }));
      expect(reading).toMatchObject({ recipients: [{ locale: expected }] });
    }
  });

  it('has a title without phone numbers, and without numbers that are not in it', async () => {
    for (const title of ['', '12', '!', 'the order 4711', `call ${bob} about 4711`]) {
      const { reading } = await read(one, answers({ title }));
      expect(reading).toMatchObject({ title: 'ask about Friday' });
    }
    const masked = await read(both, answers({ title: `Friday,\nat ${ada}.` }));
    expect(masked.reading).toMatchObject({ title: 'Friday, at' });
  });

  it('is called at its explicit targets, whatever the model says, and these are not told', async () => {
    const recipients = [
      { phones: [bob, '+12125550103'], region: null, locale: null },
      { phones: [ada], region: 'US', locale: 'en-US' },
      { phones: ['+12125550104'], region: 'US', locale: null },
    ];
    const model = answers({ recipients: [target([], 'es-US'), target([0], 'es-US'), target([2], 'es-MX')] });
    const { reading, server } = await read('Ask about Friday.', model, { recipients });
    expect(reading).toMatchObject({
      recipients: [
        { phones: [bob, '+12125550103'], locale: 'es-US' },
        { phones: [ada], locale: 'en-US' },
        { phones: ['+12125550104'], locale: 'es-MX' },
      ],
    });
    expect(JSON.stringify(server.requests)).not.toMatch(/555/);
  });

  it('can not be read while the model fails, or never keeps to the schema', async () => {
    expect((await read(one, answers(), { fault: () => ({ status: 500 }) })).reading).toEqual({
      kind: 'failed',
      note: 'the chat model answered 500',
    });
    expect((await read(one, () => 'no', { enforces: false })).reading).toEqual({
      kind: 'failed',
      note: 'the chat model did not keep to the schema',
    });
  });
});
