/**
 * Text-to-speech by Cartesia's WebSocket protocol: one connection for a call, one context for a sentence, 16-bit
 * samples at the rate of the line.
 *
 *   request {context_id, transcript} ▶
 *                                    ◀ chunk {context_id, data} … done | error
 *   cancel {context_id}              ▶   when the callee has taken the floor
 */
import type WebSocket from 'ws';
import type { Clock } from '../../../platform/clock.ts';
import type { KeyWatch } from '../../../platform/key-watch.ts';
import { lineRate } from '../../audio/resampler.ts';
import { Pipe } from '../pipe.ts';
import { failed, type SoundPart, type Speaker, type Voice } from '../ports.ts';
import { Deadline, readWithin, triedTwice, type Limits } from './attempts.ts';
import { connect, sendTo } from './socket.ts';

export interface CartesiaOptions {
  readonly clock: Clock;
  /** Such as wss://api.cartesia.ai/tts/websocket. */
  readonly url: string;
  readonly apiKey: string | null;
  /** Told whether the provider takes the key. */
  readonly key?: KeyWatch;
  readonly model: string;
  /** The id of a voice. */
  readonly voice: string;
  readonly limits?: Limits;
}

/** The protocol as it was then; newer versions of it are asked for by name. */
const protocolVersion = '2026-03-01';
const defaultLimits: Limits = { firstMs: 6_000, nextMs: 4_000, totalMs: 60_000 };
/** Sound of one sentence, bytes. */
const maxSoundBytes = 2 * lineRate * 90;

export function createCartesiaVoice(options: CartesiaOptions): Voice {
  return {
    open: (locale, name, signal) => new CartesiaSpeaker(options, locale, name ?? options.voice, signal),
  };
}

class CartesiaSpeaker implements Speaker {
  readonly #options: CartesiaOptions;
  readonly #language: string;
  readonly #voice: string;
  readonly #signal: AbortSignal;
  readonly #contexts = new Map<string, { readonly sound: Pipe<SoundPart>; bytes: number }>();
  #socket: WebSocket | null = null;
  #count = 0;

  constructor(options: CartesiaOptions, locale: string, voice: string, signal: AbortSignal) {
    this.#options = options;
    this.#language = new Intl.Locale(locale).language;
    this.#voice = voice;
    this.#signal = signal;
  }

  speak(text: string, signal: AbortSignal): AsyncIterable<SoundPart> {
    return triedTwice(this.#options.clock, signal, () => this.#once(text, signal));
  }

  close(): void {
    this.#socket?.terminate();
    this.#socket = null;
  }

  async *#once(text: string, signal: AbortSignal): AsyncGenerator<SoundPart> {
    const { clock, limits = defaultLimits, model } = this.#options;
    const deadline = new Deadline(clock, AbortSignal.any([signal, this.#signal]));
    const context = `s${(this.#count += 1)}`;
    const sound = new Pipe<SoundPart>();
    this.#contexts.set(context, { sound, bytes: 0 });
    let complete = false;
    try {
      const socket = this.#socket ?? (await this.#connect(deadline, limits.firstMs));
      sendTo(socket, {
        context_id: context,
        model_id: model,
        transcript: text,
        voice: { mode: 'id', id: this.#voice },
        language: this.#language,
        output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: lineRate },
        continue: false,
      });
      yield* someSound(readWithin(deadline, sound, limits));
      complete = true;
    } catch {
      yield failed(deadline.expired ? 'the voice took too long' : 'the voice can not be reached');
    } finally {
      this.#contexts.delete(context);
      if (!complete && this.#socket !== null) sendTo(this.#socket, { context_id: context, cancel: true });
      deadline.release();
    }
  }

  async #connect(deadline: Deadline, limitMs: number): Promise<WebSocket> {
    const { url, apiKey, key } = this.#options;
    const target = new URL(url);
    target.searchParams.set('cartesia_version', protocolVersion);
    const headers: Record<string, string> = apiKey === null ? {} : { 'X-API-Key': apiKey };
    let socket: WebSocket | null = null;
    // Of a connection that has another one in its place nothing is wanted.
    const gone = () => {
      if (this.#socket === socket) this.#gone();
    };
    socket = await connect(target.href, headers, deadline, limitMs, {
      message: (message) => this.#take(message),
      broken: gone,
      closed: gone,
      answered: (status) => key?.saw(status),
    });
    this.#socket = socket;
    return socket;
  }

  #take(message: Readonly<Record<string, unknown>>): void {
    const { context_id: context, type, data } = message;
    const making = typeof context === 'string' ? this.#contexts.get(context) : undefined;
    if (typeof context !== 'string' || making === undefined) return;
    const { sound } = making;
    if (type === 'chunk' && typeof data === 'string') {
      const pcm = samplesIn(data);
      making.bytes += pcm.byteLength;
      if (making.bytes > maxSoundBytes) return this.#tooMuch(context, sound);
      sound.push({ kind: 'sound', pcm });
    }
    if (type === 'error') sound.push(failed('the voice reported an error'));
    if (type === 'done' || type === 'error') sound.close();
  }

  /** Counted as it comes: the sound is made faster than it is played, and waits here. */
  #tooMuch(context: string, sound: Pipe<SoundPart>): void {
    this.#contexts.delete(context);
    if (this.#socket !== null) sendTo(this.#socket, { context_id: context, cancel: true });
    sound.push(failed('the voice gave too much sound'));
    sound.close();
  }

  #gone(): void {
    this.#socket = null;
    for (const { sound } of this.#contexts.values()) {
      sound.push(failed('the voice broke off'));
      sound.close();
    }
  }
}

/** Fails when there is none. */
async function* someSound(parts: AsyncIterable<SoundPart>): AsyncGenerator<SoundPart> {
  let any = false;
  for await (const part of parts) {
    yield part;
    if (part.kind === 'failed') return;
    any ||= part.pcm.length > 0;
  }
  if (!any) yield failed('the voice gave no sound');
}

function samplesIn(base64: string): Int16Array {
  const bytes = Buffer.from(base64, 'base64');
  return Int16Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at));
}
