/**
 * A Goal Run from POST to result in a spoken conversation over SIP: baresip is the callee with recorded answers, the
 * providers are strict fakes on real sockets that speak recordings. Who hears what is told by correlation alone.
 * Skipped, and said so, where baresip or eSpeak NG are not installed.
 */
import type { GoalFile } from '@trunkcall/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { heardMs } from '../../../../sip/test/peers/kit/speech.ts';
import { startBaresip } from '../../../../sip/test/peers/kit/baresip.ts';
import { isMissing } from '../../../../sip/test/peers/kit/programs.ts';
import type { Agent } from '../../../src/agents/agent.ts';
import { createCascadeAgent } from '../../../src/agents/cascade/cascade-agent.ts';
import {
  createOpenAiChat,
  createOpenAiTranscriber,
  createOpenAiVoice,
} from '../../../src/agents/cascade/providers/openai.ts';
import { createRealtimeAgent } from '../../../src/agents/realtime/realtime-agent.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createModelExtractor } from '../../../src/result/model/model-extractor.ts';
import { statement } from '../../../src/storage/database.ts';
import type { ChatRequest } from '../../fakes/chat-server.ts';
import { startOpenAiServer, type Answer } from '../../fakes/openai-server.ts';
import { startRealtimeServer } from '../../fakes/realtime-server.ts';
import type { Model } from '../../fakes/realtime-session.ts';
import {
  likenessOnALine,
  recognise,
  samplesOf,
  speakFixtures,
  speechOfFixtures,
  type SpokenFixtures,
} from '../../fakes/spoken-fixtures.ts';
import { startChat } from '../../kit/chat.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { SipPerson } from '../../kit/sip-person.ts';
import { startSipService } from './service.ts';

const missing = isMissing({ baresip: 'baresip-core', 'espeak-ng': 'espeak-ng' });

/** What we say. */
const disclosure = 'Hello, this is an automated assistant calling for Parcel Post.';
const question = 'May we deliver your parcels on Thursday?';
const conditions = [
  'Thank you.',
  'Before we come I have to read you all of the conditions of our delivery, every single one of them.',
  'The first condition is about the height of your door, and the second one is about the weight of your dog.',
];
const goodbye = ['Twelve parcels, very well.', 'Goodbye.'];
/** What the callee says, each without a pause that would make two of it. */
const thursday = 'Thursday is fine for us.';
const twelve = 'We expect twelve parcels in all.';
const vocabulary = [thursday, twelve];

let fixtures: SpokenFixtures;
beforeAll(async () => {
  if (missing) return;
  fixtures = await speakFixtures([disclosure, question, ...conditions, ...goodbye, ...vocabulary], 'en-US');
});

/** What the model says to what it heard; our first sentence is not its business. */
function answerTo(heard: string): { readonly text: string; readonly ends: boolean } {
  if (heard.includes(twelve)) return { text: goodbye.join(' '), ends: true };
  if (heard.includes(thursday)) return { text: conditions.join(' '), ends: false };
  return { text: question, ends: false };
}

const endCall = { name: 'end_call', arguments: { reason: 'done' } };

const realtimeModel = (): Model => {
  return ({ instructions, items }) => {
    const heard = items.findLast(({ role, text }) => role === 'user' && text !== '')?.text ?? '';
    const { text, ends } = answerTo(heard);
    const opening = /begin (to speak now|again)\./.test(instructions) ? `${disclosure} ` : '';
    return { text: `${opening}${text}`, calls: ends ? [endCall] : [] };
  };
};

function chatModel(heard: string): Answer {
  const { text, ends } = answerTo(heard);
  return { text, tools: ends ? [endCall] : [] };
}

interface Line {
  readonly turn: number;
  readonly speaker: string;
  readonly said: string;
}

/** Reads the fields out of the fenced transcript. */
function extraction({ messages }: ChatRequest): object {
  const lines = (messages[1]?.content ?? '')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ speaker }) => speaker === 'callee');
  const drawn = (value: unknown, words: string) => {
    const line = lines.find(({ said }) => said.includes(words));
    return line === undefined ? null : { value, turns: [line.turn], quote: words, confidence: 0.9 };
  };
  return {
    replied: lines.length > 0,
    fields: { confirmed: drawn(true, 'Thursday is fine'), parcels: drawn(12, 'twelve parcels') },
  };
}

/** A provider behind an agent. */
interface Provided extends AsyncDisposable {
  readonly agent: Agent;
  readonly settings: GoalFile['agent'];
  /** What our side did against the protocols. */
  readonly complaints: readonly string[];
  /** Where the provider was told to cut, milliseconds. */
  readonly cutAtMs: () => readonly number[];
}

async function realtime(): Promise<Provided> {
  const speech = speechOfFixtures(fixtures);
  const server = await startRealtimeServer({ newModel: realtimeModel, vocabulary, speech });
  const { url, key: apiKey, violations } = server;
  return {
    agent: createRealtimeAgent({
      clock: systemClock,
      provider: { dialect: 'openai', url, apiKey, model: null },
    }),
    settings: { kind: 'realtime' },
    complaints: violations,
    cutAtMs: () =>
      server.sessions
        .flatMap(({ received }) => received)
        .flatMap((event) =>
          event.type === 'conversation.item.truncate' ? [Number(event['audio_end_ms'])] : [],
        ),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

async function cascade(): Promise<Provided> {
  const known = new Map([...fixtures].filter(([text]) => vocabulary.includes(text)));
  const server = await startOpenAiServer({
    apiKey: 'sk-test',
    chat: (messages) => chatModel(messages.findLast(({ role }) => role === 'user')?.content ?? ''),
    recognise: (sound) => recognise(sound, known, likenessOnALine),
    speak: (text) => threefold(samplesOf(text, fixtures)),
  });
  const endpoint = { clock: systemClock, url: server.url, apiKey: 'sk-test', model: 'm' };
  return {
    agent: createCascadeAgent({
      chat: { kind: 'ready', provider: createOpenAiChat(endpoint) },
      transcriber: { kind: 'ready', provider: createOpenAiTranscriber(endpoint) },
      voice: { kind: 'ready', provider: createOpenAiVoice({ ...endpoint, voice: 'alloy' }) },
    }),
    settings: { kind: 'cascade' },
    complaints: server.complaints,
    cutAtMs: () => [],
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** From 8,000 samples a second to 24,000, by straight lines. */
function threefold(samples: Int16Array): Int16Array {
  return Int16Array.from({ length: samples.length * 3 }, (_, at) => {
    const index = Math.floor(at / 3);
    const [from = 0, to = from] = samples.subarray(index, index + 2);
    return from + ((to - from) * (at % 3)) / 3;
  });
}

const turnsOf = statement<{
  readonly speaker: string;
  readonly text: string;
  readonly interrupted: boolean;
  readonly latency: Readonly<Record<string, number | null>> | null;
}>('test_voice_turns', 'select speaker, text, interrupted, latency from turns order by index');
const evidenceOf = statement<{ readonly evidence: unknown }>(
  'test_voice_evidence',
  'select evidence from runs where id = $1',
);

// Sound takes its time: a machine that has none for us loses packets, as a network does, and what was lost was not
// understood. So there is a second try; on a machine that keeps up none is needed.
describe.skipIf(missing).each([
  ['realtime', realtime],
  ['cascade', cascade],
] as const)('a spoken Goal Run over SIP by the %s agent', (kind, provide) => {
  it(
    'holds several turns, stops when it is interrupted, and ends with a result and its evidence',
    { timeout: 150_000, retry: 2 },
    async () => {
      await using provided = await provide();
      await using phone = await startBaresip({ speech: new Int16Array(60 * 8_000), user: '+12025550123' });
      const { chat, server: extractor } = await startChat(extraction);
      await using sip = await startSipService({
        port: phone.port,
        agents: [provided.agent],
        extractor: createModelExtractor(chat),
      });
      await sip.service.database.db.execute(`update accounts set name = 'Parcel Post'`);
      const running = sip.run({
        agent: provided.settings,
        result_schema: {
          ...goalFile().result_schema,
          properties: {
            confirmed: { type: 'boolean', description: 'Does Thursday suit?' },
            parcels: { type: 'integer', description: 'How many parcels?' },
          },
          required: ['confirmed', 'parcels'],
        },
      });
      const person = new SipPerson(phone);
      await person.answered();
      await person.hearOut();
      await person.say(samplesOf(thursday, fixtures));
      await person.hear(4_000);
      await person.say(samplesOf(twelve, fixtures));
      const run = await running;
      await extractor.close();
      const turns = await sip.service.database.db.query(turnsOf);

      expect(run).toMatchObject({
        status: 'completed',
        result: { confirmed: true, parcels: 12 },
        error: null,
      });
      const { db } = sip.service.database;
      const [stored] = await db.query(evidenceOf, [run.run_id]);
      expect(stored?.evidence).toMatchObject({
        confirmed: { value: true, turns: [1], quote: 'Thursday is fine' },
        parcels: { value: 12, turns: [3], quote: 'twelve parcels' },
      });

      const whole = conditions.join(' ');
      const cut = turns[2]?.text ?? '';
      expect(turns.map(({ speaker, text }) => `${speaker}: ${text}`)).toEqual([
        `bot: ${disclosure} ${question}`,
        `user: ${thursday}`,
        `bot: ${cut}`,
        `user: ${twelve}`,
        `bot: ${goodbye.join(' ')}`,
      ]);
      expect(turns.map(({ interrupted }) => interrupted)).toEqual([false, false, true, false, false]);
      expect(whole.startsWith(cut)).toBe(true);

      const recording = await phone.heard();
      const said = samplesOf(whole, fixtures);
      const wholeMs = said.length / 8;
      const cutMs = heardMs(said, recording);
      for (const sentence of [disclosure, question, goodbye.join(' ')]) {
        const sound = samplesOf(sentence, fixtures);
        expect(heardMs(sound, recording)).toBeGreaterThan(sound.length / 8 - 500);
      }
      // It was cut where the transcript and the provider say.
      expect(cutMs).toBeGreaterThan(3_500);
      expect(cutMs).toBeLessThan(wholeMs - 2_000);
      const shareInText = cut.length / whole.length;
      expect(Math.abs(shareInText - cutMs / wholeMs)).toBeLessThan(0.12);
      const cuts = provided.cutAtMs().map((ms) => Math.abs(ms - cutMs) < 500);
      expect(cuts).toEqual(kind === 'realtime' ? [true] : []);

      // Each answer of ours says what it was waited for; our opening, after a silence, answers nobody.
      const waits = turns.flatMap(({ latency }) => (latency === null ? [] : [latency]));
      expect(turns.map(({ latency }) => latency !== null)).toEqual([false, false, true, false, true]);
      expect(Math.min(...waits.map((wait) => wait['endpointing_ms'] ?? 0))).toBeGreaterThanOrEqual(300);
      expect(Math.max(...waits.map((wait) => wait['total_ms'] ?? Infinity))).toBeLessThan(5_000);
      expect(waits.map((wait) => wait['speech_ms'] === null)).toEqual(waits.map(() => kind === 'realtime'));
      expect(provided.complaints).toEqual([]);
      expect(extractor.violations).toEqual([]);
    },
  );
});
