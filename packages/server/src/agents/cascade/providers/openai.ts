/**
 * The three OpenAI-compatible endpoints, served by OpenAI and by many programs on an operator's own machines:
 * `/audio/transcriptions`, `/chat/completions` streamed, `/audio/speech` as PCM.
 *
 * The client's own retries and time limit are off: a caller on the line can not wait for them.
 */
import OpenAI, { APIConnectionError, APIError, toFile } from 'openai';
import type {
  ChatCompletionChunk,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import { decodeG711 } from '@trunkcall/sip';
import type { FunctionParameters } from 'openai/resources/shared';
import type { Clock } from '../../../platform/clock.ts';
import type { KeyWatch } from '../../../platform/key-watch.ts';
import type { ToolCall } from '../../tools.ts';
import {
  failed,
  type AnswerPart,
  type CallSound,
  type ChatMessage,
  type ChatModel,
  type ChatRequest,
  type Failure,
  type SoundPart,
  type Transcribed,
  type Transcriber,
  type Voice,
} from '../ports.ts';
import { SegmentRecorder } from '../segment-recorder.ts';
import { LineResampler } from '../line-resampler.ts';
import { Deadline, readWithin, secondTryAfterMs, triedTwice, type Limits } from './attempts.ts';

export interface Endpoint {
  readonly clock: Clock;
  /** Base URL, such as https://api.openai.com/v1. */
  readonly url: string;
  /** Null where the server asks for none. */
  readonly apiKey: string | null;
  readonly model: string;
  /** Told whether the provider takes the key. */
  readonly key?: KeyWatch;
  readonly limits?: Limits;
}

const chatLimits: Limits = { firstMs: 8_000, nextMs: 5_000, totalMs: 30_000 };
const speechLimits: Limits = { firstMs: 6_000, nextMs: 4_000, totalMs: 60_000 };
const transcriptionMs = 6_000;
/** An answer on the telephone is a few sentences; one that is longer than this has gone astray. */
const maxAnswerLength = 2_000;
/** Calls of one answer; beyond them only the first call of each tool counts. */
const maxToolCalls = 20;
const maxArgumentsLength = 2_000;
/** Of `/audio/speech` with `response_format` pcm: 16-bit little endian, mono. */
const speechRate = 24_000;
/** About a minute and a half of sound: more than `maxSpokenLength` characters can take. */
const maxSpeechBytes = 2 * speechRate * 90;

function clientOf({ url, apiKey, key }: Endpoint): OpenAI {
  return new OpenAI({
    baseURL: url,
    // The client wants a key, also for servers that ask for none.
    apiKey: apiKey ?? 'none',
    organization: null,
    project: null,
    maxRetries: 0,
    // Our deadlines come first; this only bounds a client that ignores them.
    timeout: 60_000,
    logLevel: 'off',
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      key?.saw(response.status);
      return response;
    },
  });
}

/** What went wrong, without the provider's words: they may quote the call, or the key. */
function noteOf(what: string, error: unknown, deadline: Deadline): Failure {
  if (deadline.expired) return failed(`${what} took too long`);
  if (deadline.signal.aborted) return failed(`${what} was given up`);
  if (error instanceof APIConnectionError) return failed(`${what} can not be reached`);
  if (error instanceof APIError && typeof error.status === 'number')
    return failed(`${what} answered ${error.status}`);
  return failed(`${what} broke off, or answered something else than its protocol says`);
}

export function createOpenAiChat(endpoint: Endpoint): ChatModel {
  const client = clientOf(endpoint);
  const limits = endpoint.limits ?? chatLimits;

  async function* once(request: ChatRequest, signal: AbortSignal): AsyncGenerator<AnswerPart> {
    const deadline = new Deadline(endpoint.clock, signal);
    try {
      const stream = await deadline.within(
        limits.firstMs,
        client.chat.completions.create(
          {
            model: request.model ?? endpoint.model,
            stream: true,
            messages: request.messages.flatMap(messageOf),
            ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolOf) }),
          },
          { signal: deadline.signal },
        ),
      );
      yield* answerOf(readWithin(deadline, stream, limits, isSaid), request.tools);
    } catch (error) {
      yield noteOf('the chat model', error, deadline);
    } finally {
      deadline.release();
    }
  }

  return { answer: (request, signal) => triedTwice(endpoint.clock, signal, () => once(request, signal)) };
}

/** Tools that take nothing: their calls are whole with their names. */
function wholeByName(tools: ChatRequest['tools']): ReadonlySet<string> {
  const takesNothing = ({ parameters }: ChatRequest['tools'][number]) => {
    const { properties } = parameters as { readonly properties?: object };
    return properties !== undefined && Object.keys(properties).length === 0;
  };
  return new Set(tools.filter(takesNothing).map(({ name }) => name));
}

/** Words or tools. What a model thinks before them comes in chunks, too, and nobody hears of it. */
function isSaid({ choices }: ChatCompletionChunk): boolean {
  const delta = choices[0]?.delta;
  return (delta?.content ?? '') !== '' || (delta?.tool_calls ?? []).length > 0;
}

async function* answerOf(
  chunks: AsyncIterable<ChatCompletionChunk>,
  tools: ChatRequest['tools'],
): AsyncGenerator<AnswerPart> {
  const wholeAtOnce = wholeByName(tools);
  const calls = new Map<number, ToolCall>();
  const given = new Set<number>();
  let length = 0;
  let finished = false;
  for await (const { choices } of chunks) {
    const choice = choices[0];
    if (choice === undefined) continue;
    finished ||= choice.finish_reason !== null && choice.finish_reason !== undefined;
    const text = choice.delta?.content ?? '';
    length += text.length;
    if (text !== '') yield { kind: 'text', text };
    for (const piece of choice.delta?.tool_calls ?? []) {
      gather(calls, piece, tools);
      const call = calls.get(piece.index);
      if (call === undefined || given.has(piece.index) || !wholeAtOnce.has(call.name)) continue;
      given.add(piece.index);
      yield { kind: 'tool', call: { ...call, arguments: '{}' } };
    }
    if (length > maxAnswerLength) break;
  }
  // A stream that was cut looks like one that has ended, but for this.
  if (!finished && length <= maxAnswerLength) {
    yield failed('the chat model broke off');
    return;
  }
  for (const [index, call] of calls) if (!given.has(index)) yield { kind: 'tool', call };
}

type CallPiece = NonNullable<ChatCompletionChunk.Choice.Delta['tool_calls']>[number];

function gather(
  calls: Map<number, ToolCall>,
  { index, id, function: piece }: CallPiece,
  tools: ChatRequest['tools'],
): void {
  const before = calls.get(index) ?? { callId: `call_${index}`, name: '', arguments: '' };
  if (!calls.has(index) && calls.size >= maxToolCalls && !isFirstOfItsTool(calls, piece?.name, tools)) return;
  calls.set(index, {
    callId: id ?? before.callId,
    name: piece?.name ?? before.name,
    arguments: (before.arguments + (piece?.arguments ?? '')).slice(0, maxArgumentsLength),
  });
}

/** A wish not to be called again, or the end of the call, is not lost behind notes. */
function isFirstOfItsTool(
  calls: ReadonlyMap<number, ToolCall>,
  name: string | undefined,
  tools: ChatRequest['tools'],
): boolean {
  return tools.some((tool) => tool.name === name) && [...calls.values()].every((call) => call.name !== name);
}

function toolOf({ name, description, parameters }: ChatRequest['tools'][number]): ChatCompletionFunctionTool {
  // JSON Schema, as our tools are written.
  return { type: 'function', function: { name, description, parameters: parameters as FunctionParameters } };
}

function messageOf(message: ChatMessage): ChatCompletionMessageParam[] {
  if (message.role !== 'tool_use') return [{ role: message.role, content: message.content }];
  return [
    {
      role: 'assistant',
      content: message.said === '' ? null : message.said,
      tool_calls: message.uses.map(({ call }) => ({
        id: call.callId,
        type: 'function',
        function: { name: call.name, arguments: call.arguments },
      })),
    },
    ...message.uses.map(
      ({ call, outcome }) => ({ role: 'tool', tool_call_id: call.callId, content: outcome }) as const,
    ),
  ];
}

export function createOpenAiTranscriber(endpoint: Endpoint): Transcriber {
  const client = clientOf(endpoint);
  const limitMs = endpoint.limits?.firstMs ?? transcriptionMs;

  async function once(codes: Uint8Array, sound: CallSound, model: string, signal: AbortSignal) {
    const deadline = new Deadline(endpoint.clock, signal);
    try {
      const file = await toFile(waveOf(codes, sound.law), 'speech.wav', { type: 'audio/wav' });
      const language = new Intl.Locale(sound.locale).language;
      const answer: unknown = await deadline.within(
        limitMs,
        client.audio.transcriptions.create(
          { file, model, language, response_format: 'json' },
          { signal: deadline.signal },
        ),
      );
      if (!hasText(answer)) return failed('the transcriber answered without a text');
      return { kind: 'words' as const, text: answer.text };
    } catch (error) {
      return noteOf('the transcriber', error, deadline);
    } finally {
      deadline.release();
    }
  }

  return {
    open(sound, model, signal) {
      const recorder = new SegmentRecorder();
      let before: Promise<unknown> = Promise.resolve();

      async function transcribe(codes: Uint8Array): Promise<Transcribed> {
        const attempt = () => once(codes, sound, model ?? endpoint.model, signal);
        const first = await attempt();
        if (first.kind === 'words' || signal.aborted) return first;
        await endpoint.clock.sleep(secondTryAfterMs, signal);
        return attempt();
      }

      return {
        frame: (frame) => recorder.frame(frame),
        begin: () => recorder.begin(),
        end() {
          const words = transcribe(recorder.end());
          // Segments are transcribed side by side, and answered in order.
          const inOrder = before.then(() => words);
          before = inOrder;
          return inOrder;
        },
        close: () => undefined,
      };
    },
  };
}

function hasText(answer: unknown): answer is { readonly text: string } {
  return typeof answer === 'object' && answer !== null && 'text' in answer && typeof answer.text === 'string';
}

/** A RIFF/WAVE file of 16-bit samples at 8,000 Hz: what every transcriber reads. */
function waveOf(codes: Uint8Array, law: 'mu' | 'a'): Buffer {
  const samples = decodeG711(law === 'mu' ? 'PCMU' : 'PCMA', codes, new Int16Array(codes.length));
  const wave = Buffer.alloc(44 + 2 * samples.length);
  wave.write('RIFF', 0, 'latin1');
  wave.writeUInt32LE(36 + 2 * samples.length, 4);
  wave.write('WAVEfmt ', 8, 'latin1');
  wave.writeUInt32LE(16, 16);
  wave.writeUInt16LE(1, 20);
  wave.writeUInt16LE(1, 22);
  wave.writeUInt32LE(8_000, 24);
  wave.writeUInt32LE(16_000, 28);
  wave.writeUInt16LE(2, 32);
  wave.writeUInt16LE(16, 34);
  wave.write('data', 36, 'latin1');
  wave.writeUInt32LE(2 * samples.length, 40);
  for (const [at, sample] of samples.entries()) wave.writeInt16LE(sample, 44 + 2 * at);
  return wave;
}

export interface SpeechEndpoint extends Endpoint {
  /** The provider's name of the voice. */
  readonly voice: string;
}

export function createOpenAiVoice(endpoint: SpeechEndpoint): Voice {
  const client = clientOf(endpoint);
  const limits = endpoint.limits ?? speechLimits;

  async function* once(text: string, voice: string, signal: AbortSignal): AsyncGenerator<SoundPart> {
    const deadline = new Deadline(endpoint.clock, signal);
    try {
      const response = await deadline.within(
        limits.firstMs,
        client.audio.speech.create(
          { model: endpoint.model, voice, input: text, response_format: 'pcm' },
          { signal: deadline.signal },
        ),
      );
      if (response.body === null || isText(response.headers.get('content-type'))) {
        yield failed('the voice answered no sound');
        return;
      }
      yield* soundOf(readWithin(deadline, response.body, limits));
    } catch (error) {
      yield noteOf('the voice', error, deadline);
    } finally {
      deadline.release();
    }
  }

  return {
    open: (_locale, name) => ({
      speak: (text, signal) =>
        triedTwice(endpoint.clock, signal, () => once(text, name ?? endpoint.voice, signal)),
      close: () => undefined,
    }),
  };
}

/** Some servers answer an error with status 200 and JSON; played, it would be noise. */
function isText(contentType: string | null): boolean {
  return contentType !== null && /json|text|html|mpeg|ogg|wav/i.test(contentType);
}

async function* soundOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<SoundPart> {
  const resampler = new LineResampler(speechRate);
  let odd: Uint8Array = new Uint8Array();
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > maxSpeechBytes) {
      yield failed('the voice gave too much sound');
      return;
    }
    const whole = Buffer.concat([odd, piece]);
    const count = whole.length >> 1;
    odd = whole.subarray(2 * count);
    const pcm = resampler.take(samplesOf(whole, count));
    if (pcm.length > 0) yield { kind: 'sound', pcm };
  }
  if (bytes < 2) {
    yield failed('the voice gave no sound');
    return;
  }
  yield { kind: 'sound', pcm: resampler.finish() };
}

/** The first `count` 16-bit little-endian samples. */
function samplesOf(bytes: Buffer, count: number): Int16Array {
  return Int16Array.from({ length: count }, (_, at) => bytes.readInt16LE(2 * at));
}
