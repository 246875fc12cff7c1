import * as fc from 'fast-check';
import type { ResultSchema, ScalarProperty } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import type { Heard, Leg, SpeechMedia } from '../../../src/carriers/carrier.ts';
import { createSimulatedNetwork } from '../../../src/carriers/simulated/network.ts';
import { deliverySchema, holdCall, talk, testClock, written } from '../../conformance/hold-call.ts';

const network = (speed: number, seed?: string) =>
  createSimulatedNetwork({ clock: testClock, speed, ...(seed === undefined ? {} : { seed }) });

async function answer(
  resultSchema: ResultSchema,
  to = '+12125550100',
  carrier = network(Infinity),
): Promise<Leg<SpeechMedia>> {
  const placed = await carrier.place(
    {
      attemptId: 'att_1',
      to,
      from: null,
      ringLimitMs: 30_000,
      locale: 'en-US',
      simulation: { resultSchema, callees: [] },
    },
    { progress: () => undefined },
    new AbortController().signal,
  );
  if (placed.kind === 'ended') throw new Error('not answered');
  return placed.leg;
}

const text = (heard: Heard) => (heard.kind === 'utterance' ? heard.text : `(${heard.kind})`);
const one = (property: ScalarProperty): ResultSchema => ({
  type: 'object',
  additionalProperties: false,
  properties: { it: property },
  required: ['it'],
});

async function transcript(to: string, seed: string): Promise<string> {
  const { turns } = await talk({ to, carrier: network(Infinity, seed) });
  return written(turns).join('\n');
}

describe('the same seed and number', () => {
  it.each(['00', '05', '06', '11', '12', '27'])(
    'give the same call %s whatever the wall clock does',
    async (digits) => {
      const to = `+121255501${digits}`;
      const calls = await Promise.all([talk({ to }), talk({ to }), talk({ to, carrier: network(400) })]);
      const [first, ...others] = calls.map(({ turns, lengthMs }) => [...written(turns), lengthMs]);
      for (const other of others) expect(other).toEqual(first);
    },
  );

  it('give another call with another seed or number', async () => {
    const base = await transcript('+12125550120', 'a');
    expect(await transcript('+12125550120', 'b')).not.toBe(base);
    expect(await transcript('+12125550121', 'a')).not.toBe(base);
  });
});

describe('a cooperative person', () => {
  it('takes about two seconds of wall time for a Goal with four questions', async () => {
    const { lengthMs, drawn } = await talk();
    expect(drawn.kind).toBe('result');
    expect(lengthMs / 30).toBeGreaterThan(1_000);
    expect(lengthMs / 30).toBeLessThan(2_500);
  });

  it('answers questions that are put in other words', async () => {
    const leg = await answer(deliverySchema);
    await leg.media.hear(5_000);
    await leg.media.say('Hi! Could you tell me which part of the day is the best for you?');
    expect(text(await leg.media.hear(9_000))).toMatch(/morning|afternoon|evening/i);
  });

  it('gives a plausible reply to a question that it was not told of', async () => {
    const leg = await answer(deliverySchema);
    await leg.media.hear(5_000);
    await leg.media.say('Lovely weather, is it not?');
    expect(text(await leg.media.hear(9_000))).toMatch(/[a-z]/i);
  });

  it('corrects an agent that repeats something wrong, and agrees when it is right', async () => {
    const leg = await answer(one({ type: 'string', enum: ['red', 'blue'], description: 'Which colour?' }));
    await leg.media.hear(5_000);
    await leg.media.say('Which colour?');
    const color = /red/i.test(text(await leg.media.hear(9_000))) ? 'red' : 'blue';
    const wrong = color === 'red' ? 'blue' : 'red';
    await leg.media.say(`I noted it: ${wrong}. Is that right?`);
    expect(text(await leg.media.hear(9_000)).toLowerCase()).toContain(color);
    await leg.media.say(`I noted it: ${color}. Is that right?`);
    expect(text(await leg.media.hear(9_000))).toMatch(/^Yes/);
  });

  it('says goodbye and hangs up when we say goodbye', async () => {
    const leg = await answer(deliverySchema);
    await leg.media.hear(5_000);
    await leg.media.say('Thank you. Goodbye.');
    expect(text(await leg.media.hear(9_000))).toMatch(/bye/i);
    expect(await leg.media.hear(9_000)).toEqual({ kind: 'left' });
    expect(await leg.ended).toMatchObject({ endedBy: 'callee' });
  });

  it('loses patience with a caller who never says a word', async () => {
    const leg = await answer(deliverySchema);
    const said: string[] = [];
    for (
      let heard = await leg.media.hear(60_000);
      heard.kind !== 'left';
      heard = await leg.media.hear(60_000)
    ) {
      said.push(text(heard));
    }
    expect(said.length).toBeLessThan(6);
    expect(leg.clock.now()).toBeLessThan(120_000);
  });

  it('gives a valid result for any Goal, whatever its fields are', async () => {
    const property = fc.oneof(
      fc.constantFrom<ScalarProperty>(
        { type: 'boolean', description: 'Do you agree?' },
        { type: 'boolean', description: 'Whether the person agrees' },
        { type: 'integer', description: 'How many people will come?' },
        { type: 'number', description: 'How many hours did it take?' },
        { type: 'string', description: 'On what date may we call?' },
        { type: 'string', description: 'At what time?' },
        { type: 'string', description: 'May I have your full name?' },
        { type: 'string', description: 'Anything else to say about it?' },
        { type: 'string' },
        { type: 'string', enum: ['very_good', 'good', 'bad', 'unknown'], description: 'How was the food?' },
        { type: 'integer', enum: [1, 2, 3], description: 'Which grade do you give?' },
        { type: 'boolean', enum: [true], description: 'Will you accept the terms?' },
      ),
    );
    const names = ['constructor', 'toString', 'agreed', 'partySize', 'first_date', 'remark', 'grade'];
    const schema = fc
      .uniqueArray(fc.tuple(fc.constantFrom(...names), property), {
        minLength: 1,
        maxLength: 5,
        selector: ([name]) => name,
        comparator: 'SameValue',
      })
      .filter((fields) => new Set(fields.map(([, { description }]) => description)).size === fields.length)
      .map((fields): ResultSchema => ({
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(fields),
        required: fields.map(([name]) => name),
      }));
    await fc.assert(
      fc.asyncProperty(schema, fc.integer({ min: 200, max: 999 }), async (resultSchema, number) => {
        const call = await talk({ resultSchema, to: `+12125550${number}`, callLimitMs: 300_000 });
        expect(call).toMatchObject({ end: { kind: 'finished' }, drawn: { kind: 'result' } });
      }),
      { numRuns: 150, seed: 7 },
    );
  });
});

describe('the network', () => {
  it('does not let a person lose patience while our side does something else', async () => {
    const leg = await answer(deliverySchema);
    await testClock.sleep(30);
    expect(leg.clock.now()).toBeLessThan(1_000);
    expect(text(await leg.media.hear(5_000))).not.toBe('(left)');
  });

  it('refuses what is no telephone key', async () => {
    const leg = await answer(deliverySchema);
    await expect(leg.media.sendDigits('1a')).rejects.toThrow('digits');
    await leg.hangUp();
  });

  it('lets the phone ring no longer than its limit', async () => {
    const placed = await network(Infinity).place(
      {
        attemptId: 'att_1',
        to: '+12125550100',
        from: null,
        ringLimitMs: 1,
        locale: 'en-US',
        simulation: { resultSchema: deliverySchema, callees: [] },
      },
      { progress: () => undefined },
      new AbortController().signal,
    );
    expect(placed).toMatchObject({ kind: 'ended', ending: { outcome: 'ring_timeout' } });
  });

  it('closes at every moment of a call', async () => {
    for (let wallMs = 0; wallMs < 100; wallMs += 12) {
      const carrier = network(300);
      const numbers = ['+12125550100', '+12125550101', '+12125550113'];
      const calls = Promise.all(numbers.map((to) => holdCall({ carrier, to })));
      await testClock.sleep(wallMs);
      await carrier.close();
      const ends = (await calls).map((call) =>
        call.kind === 'talked' ? call.legEnd.reason : call.ending.outcome,
      );
      expect(ends.filter((end) => !['hung_up', 'canceled', 'ring_timeout'].includes(end))).toEqual([]);
    }
  });
});
