/** The providers against strict servers on real sockets, and what becomes of everything that can go wrong there. */
import { afterEach, describe, expect, it } from 'vitest';
import { encodeG711 } from '@trunkcall/sip';
import type {
  AnswerPart,
  ChatRequest,
  SoundPart,
  Transcription,
  Voice,
} from '../../../../src/agents/cascade/ports.ts';
import { createCartesiaVoice } from '../../../../src/agents/cascade/providers/cartesia.ts';
import { createDeepgramTranscriber } from '../../../../src/agents/cascade/providers/deepgram.ts';
import {
  createOpenAiChat,
  createOpenAiTranscriber,
  createOpenAiVoice,
} from '../../../../src/agents/cascade/providers/openai.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { createKeyWatch, type KeyWatch } from '../../../../src/platform/key-watch.ts';
import { startCartesiaServer, type CartesiaFault } from '../../../fakes/cartesia-server.ts';
import { startDeepgramServer, type DeepgramFault } from '../../../fakes/deepgram-server.ts';
import {
  startOpenAiServer,
  toneFor,
  type Fault,
  type OpenAiServerOptions,
} from '../../../fakes/openai-server.ts';

const key = 'sk-very-secret';
const limits = { firstMs: 400, nextMs: 400, totalMs: 800 };
const never = new AbortController().signal;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function opened<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  open.push(server);
  return server;
}

async function openAi(options: Partial<OpenAiServerOptions> = {}) {
  const server = await opened(startOpenAiServer({ apiKey: key, ...options }));
  return { server, endpoint: { clock: systemClock, url: server.url, apiKey: key, model: 'm', limits } };
}

async function all<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

const request: ChatRequest = {
  model: null,
  tools: [
    {
      type: 'function',
      name: 'end_call',
      description: 'Ends.',
      parameters: { type: 'object', properties: { reason: { type: 'string' } } },
    },
  ],
  messages: [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'Hello?' },
    {
      role: 'tool_use',
      said: '',
      uses: [
        { call: { callId: 'a', name: 'note', arguments: '{}' }, outcome: 'Done.' },
        { call: { callId: 'b', name: 'note', arguments: '{}' }, outcome: 'Done.' },
      ],
    },
  ],
};

const textIn = (parts: readonly AnswerPart[]) =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
const noteIn = (parts: readonly (AnswerPart | SoundPart)[]) =>
  parts.flatMap((part) => (part.kind === 'failed' ? [part.note] : []));

describe('the chat model over HTTP', () => {
  it('gives the text as it is written, and the tools that were asked for, whole', async () => {
    const answer = {
      text: 'Good morning. How are you?',
      tools: [{ name: 'end_call', arguments: { reason: 'done' } }],
    };
    const { server, endpoint } = await openAi({ chat: () => answer });
    const parts = await all(createOpenAiChat(endpoint).answer(request, never));
    expect(parts.filter(({ kind }) => kind === 'text').length).toBeGreaterThan(2);
    expect(textIn(parts)).toBe(answer.text);
    expect(parts.at(-1)).toMatchObject({
      kind: 'tool',
      call: { name: 'end_call', arguments: '{"reason":"done"}' },
    });
    expect(server.complaints).toEqual([]);
  });

  it('gives twenty tools of one answer, and behind them the first of each other one', async () => {
    const note = { name: 'note', arguments: {} };
    const after = [
      { name: 'end_call', arguments: { reason: 'done' } },
      { name: 'unknown', arguments: {} },
      { name: 'end_call', arguments: { reason: 'other' } },
      { name: 'opt_out', arguments: {} },
    ];
    const { endpoint } = await openAi({
      chat: () => ({ text: 'Bye.', tools: [...Array.from({ length: 30 }, () => note), ...after] }),
    });
    const optOut = { type: 'function', name: 'opt_out', description: 'No.', parameters: { type: 'object' } };
    const asked: ChatRequest = { ...request, tools: [...request.tools, { ...optOut, type: 'function' }] };
    const parts = await all(createOpenAiChat(endpoint).answer(asked, never));
    const calls = parts.flatMap((part) => (part.kind === 'tool' ? [part.call] : []));
    expect(calls.filter(({ name }) => name === 'note')).toHaveLength(20);
    expect(calls.slice(20)).toMatchObject([
      { name: 'end_call', arguments: '{"reason":"done"}' },
      { name: 'opt_out', arguments: '{}' },
    ]);
  });

  it.each([
    [429, 'answered 429', 2],
    [500, 'answered 500', 2],
    [401, 'answered 401', 2],
    ['hang', 'took too long', 2],
    ['think', 'took too long', 2],
  ] as const)('fails after two tries when nothing comes: %s', async (fault, note, tries) => {
    const { server, endpoint } = await openAi();
    server.faults.chat.push(fault, fault);
    const parts = await all(createOpenAiChat(endpoint).answer(request, never));
    expect(parts).toEqual([{ kind: 'failed', note: `the chat model ${note}` }]);
    expect(server.requests.chat).toBe(tries);
  });

  it.each(['drop', 'stall', 'drip', 'malformed'] as const)(
    'does not try again what broke off in the middle: %s',
    async (fault) => {
      const { server, endpoint } = await openAi({ chat: () => ({ text: 'One two three four five six.' }) });
      server.faults.chat.push(fault);
      const parts = await all(createOpenAiChat(endpoint).answer(request, never));
      expect(textIn(parts)).toMatch(/^One two/);
      expect(parts.at(-1)?.kind).toBe('failed');
      expect(server.requests.chat).toBe(1);
    },
  );

  it('gives up a request when whoever asked has gone, and tells the server', async () => {
    const { server, endpoint } = await openAi();
    server.faults.chat.push('hang');
    const gone = new AbortController();
    const parts = all(createOpenAiChat(endpoint).answer(request, gone.signal));
    await until(() => server.requests.chat === 1);
    gone.abort();
    expect(noteIn(await parts)).toEqual(['the chat model was given up']);
    await until(() => server.abandoned.chat === 1);
  });

  it('ends an answer that never ends', async () => {
    const { endpoint } = await openAi({ chat: () => ({ text: 'and so on '.repeat(2_000) }) });
    const parts = await all(createOpenAiChat(endpoint).answer(request, never));
    expect(textIn(parts).length).toBeLessThan(2_100);
    expect(noteIn(parts)).toEqual([]);
  });

  it('says where nobody listens, and never repeats the key or the words of the call', async () => {
    const { server, endpoint } = await openAi();
    await server.close();
    open.pop();
    const parts = await all(createOpenAiChat(endpoint).answer(request, never));
    expect(noteIn(parts)).toEqual(['the chat model can not be reached']);
  });
});

describe('the voice over HTTP', () => {
  const speak = (voice: Voice, text: string) => all(voice.open('en-US', null, never).speak(text, never));

  it('gives the sound at the rate of the line', async () => {
    const { server, endpoint } = await openAi();
    const text = 'Hello there, how are you?';
    const pcm = joined(await speak(createOpenAiVoice({ ...endpoint, voice: 'alloy' }), text));
    expect(pcm.length).toBe(toneFor(text, 8_000).length);
    expect(likeness(pcm, toneFor(text, 8_000))).toBeGreaterThan(0.999);
    expect(server.complaints).toEqual([]);
  });

  it.each([429, 500, 'hang', 'malformed', 'empty'] as const)(
    'tries once more, then fails: %s',
    async (fault: Fault) => {
      const { server, endpoint } = await openAi();
      const voice = createOpenAiVoice({ ...endpoint, voice: 'alloy' });
      server.faults.speak.push(fault);
      expect(noteIn(await speak(voice, 'Once more.'))).toEqual([]);
      server.faults.speak.push(fault, fault);
      const parts = await speak(voice, 'No more.');
      expect(parts.map(({ kind }) => kind)).toEqual(['failed']);
      expect(server.requests.speak).toBe(4);
    },
  );

  it.each(['drop', 'stall', 'drip'] as const)('says that the sound broke off: %s', async (fault) => {
    const { server, endpoint } = await openAi();
    server.faults.speak.push(fault);
    const parts = await speak(
      createOpenAiVoice({ ...endpoint, voice: 'alloy' }),
      'This is cut in the middle.',
    );
    expect(parts[0]?.kind).toBe('sound');
    expect(parts.at(-1)?.kind).toBe('failed');
  });
});

describe('the voice over a WebSocket', () => {
  async function cartesia() {
    const server = await opened(startCartesiaServer(key));
    const voice = createCartesiaVoice({
      clock: systemClock,
      url: server.url,
      apiKey: key,
      model: 'sonic',
      voice: 'voice-1',
      limits,
    });
    return { server, speaker: voice.open('en-US', null, never) };
  }

  it('speaks sentence after sentence over one connection', async () => {
    const { server, speaker } = await cartesia();
    for (const text of ['One sentence.', 'Another sentence.']) {
      const pcm = joined(await all(speaker.speak(text, never)));
      expect(pcm.length).toBe(toneFor(text, 8_000).length);
    }
    expect(server).toMatchObject({ connections: 1, complaints: [] });
  });

  it.each(['malformed', 'error', 'empty'] as const)(
    'tries once more, then fails: %s',
    async (fault: CartesiaFault) => {
      const { server, speaker } = await cartesia();
      server.faults.push(fault);
      expect(noteIn(await all(speaker.speak('Once more.', never)))).toEqual([]);
      server.faults.push(fault, fault);
      expect((await all(speaker.speak('No more.', never))).map(({ kind }) => kind)).toEqual(['failed']);
    },
  );

  it('says that the sound broke off, and connects again for the next sentence', async () => {
    const { server, speaker } = await cartesia();
    server.faults.push('drop', 'hang');
    expect(noteIn(await all(speaker.speak('Cut off.', never)))).toEqual(['the voice broke off']);
    expect(noteIn(await all(speaker.speak('Cut off.', never)))).toEqual(['the voice took too long']);
    await until(() => server.canceled.length === 1);
    expect(noteIn(await all(speaker.speak('Well again.', never)))).toEqual([]);
    expect(server.connections).toBe(2);
  });

  it.each([
    ['drip', 'the voice took too long'],
    ['flood', 'the voice gave too much sound'],
  ] as const)('ends and cancels a sentence without an end: %s', async (fault, note) => {
    const { server, speaker } = await cartesia();
    server.faults.push(fault);
    const parts = speaker.speak('On and on.', never)[Symbol.asyncIterator]();
    const first = await parts.next();
    // Whoever plays it takes no more for now; what comes meanwhile has a bound.
    if (fault === 'flood') await until(() => server.canceled.length === 1);
    const rest = await all({ [Symbol.asyncIterator]: () => parts });
    expect([first.value, ...rest].at(-1)).toEqual({ kind: 'failed', note });
    expect(joined(rest.slice(0, -1)).length).toBeLessThan(8_000 * 90);
    await until(() => server.canceled.length === 1);
    expect(noteIn(await all(speaker.speak('Well again.', never)))).toEqual([]);
    expect(server.connections).toBe(1);
  });
});

const words = 'these were the words';
const frames = Array.from({ length: 60 }, () => encodeG711('PCMU', toneFor('abc', 8_000).subarray(0, 160)));

function feed(transcription: Transcription): void {
  for (const frame of frames.slice(0, 20)) transcription.frame(frame);
  transcription.begin();
  for (const frame of frames) transcription.frame(frame);
}

describe('the transcriber over HTTP', () => {
  const sound = { locale: 'en-US', law: 'mu' } as const;

  it('answers the segments in order, each with what came before its voice', async () => {
    const lengths: number[] = [];
    const { server, endpoint } = await openAi({
      recognise: (samples) => `${words} ${lengths.push(samples.length)}`,
    });
    server.faults.transcribe.push('late');
    const patient = { ...endpoint, limits: { firstMs: 5_000, nextMs: 5_000, totalMs: 5_000 } };
    const transcription = createOpenAiTranscriber(patient).open(sound, null, never);
    feed(transcription);
    const first = transcription.end();
    feed(transcription);
    const second = transcription.end();
    const answered: string[] = [];
    void first.then(() => answered.push('first'));
    await second.then(() => answered.push('second'));
    expect(answered).toEqual(['first', 'second']);
    expect(lengths).toEqual([80 * 160, 80 * 160]);
    expect(server.complaints).toEqual([]);
  });

  it.each([429, 500, 'hang', 'malformed', 'drop', 'empty'] as const)(
    'tries once more, then fails: %s',
    async (fault: Fault) => {
      const { server, endpoint } = await openAi({ recognise: () => words });
      const transcription = createOpenAiTranscriber(endpoint).open(sound, null, never);
      server.faults.transcribe.push(fault);
      feed(transcription);
      expect(await transcription.end()).toEqual({ kind: 'words', text: words });
      server.faults.transcribe.push(fault, fault);
      feed(transcription);
      expect((await transcription.end()).kind).toBe('failed');
      expect(server.requests.transcribe).toBe(4);
    },
  );
});

describe('the transcriber over a WebSocket', () => {
  async function deepgram(
    law: 'mu' | 'a' = 'mu',
    faults: readonly DeepgramFault[] = [],
    { locale = 'en-US', limitMs = 400 } = {},
  ) {
    const heard: number[] = [];
    const server = await opened(
      startDeepgramServer(key, (samples) => {
        heard.push(samples.length);
        return words;
      }),
    );
    server.faults.push(...faults);
    const transcriber = createDeepgramTranscriber({
      clock: systemClock,
      url: server.url,
      apiKey: key,
      model: 'nova',
      limitMs,
    });
    const transcription = transcriber.open({ locale, law }, null, never);
    return { server, heard, transcription };
  }

  it.each(['mu', 'a'] as const)('gives the words of each segment, in %s-law', async (law) => {
    const { server, heard, transcription } = await deepgram(law);
    for (const _ of [1, 2]) {
      feed(transcription);
      expect(await transcription.end()).toEqual({ kind: 'words', text: words });
    }
    // The first connection was still being made when its sound came; nothing of it is lost.
    expect(heard.every((length) => length >= 80 * 160)).toBe(true);
    expect(server).toMatchObject({ connections: 1, complaints: [] });
    transcription.close();
  });

  it.each(['refuse', 'hang', 'drop', 'malformed', 'missing', 'error', 'early_error'] as const)(
    'connects once more with the segment, then fails: %s',
    async (fault) => {
      const once = await deepgram('mu', [fault]);
      await until(() => once.server.faults.length === 0);
      feed(once.transcription);
      expect(await once.transcription.end()).toEqual({ kind: 'words', text: words });
      expect(once.heard).toEqual([80 * 160]);
      once.transcription.close();
      const twice = await deepgram('mu', [fault, fault, fault]);
      await until(() => twice.server.faults.length === 2);
      feed(twice.transcription);
      expect((await twice.transcription.end()).kind).toBe('failed');
      twice.transcription.close();
    },
  );

  it.each([
    ['es-MX', 'es'],
    ['es-419', 'es-419'],
    ['en-GB', 'en-GB'],
    ['en-CA', 'en'],
  ])('asks for a language that the provider knows: %s', async (locale, language) => {
    const { server, transcription } = await deepgram('mu', [], { locale });
    feed(transcription);
    expect(await transcription.end()).toEqual({ kind: 'words', text: words });
    expect(server).toMatchObject({ languages: [language], complaints: [] });
    transcription.close();
  });

  it('takes words that were final before it asked, though nothing answers', async () => {
    const { server, transcription } = await deepgram('mu', ['final'], { limitMs: 5_000 });
    for (const _ of [1, 2]) {
      feed(transcription);
      expect(await transcription.end()).toEqual({ kind: 'words', text: words });
    }
    expect(server.connections).toBe(1);
    transcription.close();
  });

  it('keeps the words that it has when no connection gives them again, and gives none of them twice', async () => {
    const once = await deepgram('mu', ['half', 'refuse']);
    feed(once.transcription);
    expect(await once.transcription.end()).toEqual({ kind: 'words', text: 'these were' });
    feed(once.transcription);
    expect(await once.transcription.end()).toEqual({ kind: 'words', text: words });
    once.transcription.close();
    const again = await deepgram('mu', ['half']);
    feed(again.transcription);
    expect(await again.transcription.end()).toEqual({ kind: 'words', text: words });
    again.transcription.close();
  });

  it('ends a connection that reported an error, and takes no words from it', async () => {
    const { server, transcription } = await deepgram('mu', ['early_error']);
    await until(() => server.open === 1);
    feed(transcription);
    await until(() => server.open === 0);
    for (const _ of [1, 2]) {
      feed(transcription);
      expect(await transcription.end()).toEqual({ kind: 'words', text: words });
    }
    expect(server).toMatchObject({ connections: 2, open: 1 });
    transcription.close();
    await until(() => server.open === 0);
  });
});

function joined(parts: readonly SoundPart[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => (part.kind === 'sound' ? [...part.pcm] : [])));
}

function likeness(a: Int16Array, b: Int16Array): number {
  let [ab, aa, bb] = [0, 0, 0];
  for (const [at, x] of a.entries()) {
    const y = b[at] ?? 0;
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}

/** Polls a condition, for 5 s at most. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !holds(); tries += 1) await systemClock.sleep(10);
  expect(holds()).toBe(true);
}

describe('a key that the provider rejects', () => {
  const watch = () => createKeyWatch(systemClock, 'TRUNKCALL_SOME_API_KEY');

  it('is remembered until it is taken, by HTTP', async () => {
    const { server, endpoint } = await openAi({ chat: () => ({ text: 'Yes.' }) });
    const key = watch();
    const model = createOpenAiChat({ ...endpoint, key });
    server.faults.chat.push(401, 401);
    await all(model.answer(request, never));
    expect(key.obstacle()).not.toBeNull();
    await all(model.answer(request, never));
    expect(key.rejection()).toBeNull();
  });

  const common = { clock: systemClock, limits, limitMs: 400, model: 'm', voice: 'voice-1' };
  const speaks = (url: string, apiKey: string, watched: KeyWatch) =>
    all(
      createCartesiaVoice({ ...common, url, apiKey, key: watched })
        .open('en-US', null, never)
        .speak('Hello.', never),
    );
  const listens = async (url: string, apiKey: string, watched: KeyWatch) => {
    const options = { ...common, url, apiKey, key: watched };
    const transcription = createDeepgramTranscriber(options).open(
      { locale: 'en-US', law: 'mu' },
      null,
      never,
    );
    feed(transcription);
    await transcription.end();
    transcription.close();
  };

  interface Server {
    readonly url: string;
    close(): Promise<void>;
  }
  it.each<[string, () => Promise<Server>, (...args: Parameters<typeof listens>) => Promise<unknown>]>([
    ['a voice', () => startCartesiaServer(key), speaks],
    ['a transcriber', () => startDeepgramServer(key, () => 'yes'), listens],
  ])('is remembered until it is taken, over a WebSocket: %s', async (_name, startServer, use) => {
    const server = await opened(startServer());
    const watched = watch();
    await use(server.url, 'sk-wrong', watched);
    expect(watched.obstacle()).not.toBeNull();
    await use(server.url, key, watched);
    expect(watched.rejection()).toBeNull();
  });
});
