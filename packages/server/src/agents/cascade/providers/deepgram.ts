/**
 * Streaming speech-to-text by Deepgram's protocol (`/v1/listen`), which some self-hosted servers speak as well.
 *
 *   G.711 frames ─────────────▶            the words of a segment: all final results until the one that says
 *   Finalize (segment is over) ▶           `from_finalize`
 *                             ◀ Results
 *
 * The sound goes out while the callee speaks, so the words are there when the voice pauses. Nothing may answer
 * Finalize when all that was heard is final already: words that are there, and grow no more, are the words.
 *
 * A connection that breaks is made once more, with the segment that was being heard. Should that fail as well, the
 * words that came before it are the words.
 */
import type WebSocket from 'ws';
import type { Clock } from '../../../platform/clock.ts';
import type { KeyWatch } from '../../../platform/key-watch.ts';
import { failed, type CallSound, type Transcribed, type Transcriber, type Transcription } from '../ports.ts';
import { SegmentRecorder } from '../segment-recorder.ts';
import { Deadline } from './attempts.ts';
import { connect, sendTo } from './socket.ts';

export interface DeepgramOptions {
  readonly clock: Clock;
  /** Such as wss://api.deepgram.com/v1/listen. */
  readonly url: string;
  /** Null where the server asks for none. */
  readonly apiKey: string | null;
  /** Told whether the provider takes the key. */
  readonly key?: KeyWatch;
  readonly model: string;
  /** How long the words may take when a segment is over, and a connection, milliseconds. */
  readonly limitMs?: number;
}

/** Words that have not grown for so long after Finalize are complete, milliseconds. */
const settledAfterMs = 400;
/** The regions that the provider tells apart, of the languages that we speak. It refuses every other one. */
const regions = ['en-AU', 'en-GB', 'en-IN', 'en-NZ', 'en-US', 'es-419'];

export function createDeepgramTranscriber(options: DeepgramOptions): Transcriber {
  return {
    open: (sound, model, signal) =>
      new DeepgramTranscription(options, urlFor(options, sound, model ?? options.model), signal),
  };
}

function urlFor({ url }: DeepgramOptions, { locale, law }: CallSound, model: string): string {
  const target = new URL(url);
  const query = {
    model,
    language: regions.includes(locale) ? locale : new Intl.Locale(locale).language,
    encoding: law === 'mu' ? 'mulaw' : 'alaw',
    sample_rate: '8000',
    channels: '1',
    punctuate: 'true',
    interim_results: 'false',
  };
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  return target.href;
}

class DeepgramTranscription implements Transcription {
  readonly #options: DeepgramOptions;
  readonly #url: string;
  readonly #signal: AbortSignal;
  readonly #limitMs: number;
  readonly #recorder = new SegmentRecorder();
  #socket: WebSocket | null = null;
  /** Resolves when a connection is there, or could not be made. */
  #connecting: Promise<void> | null = null;
  /** Final words that nobody has asked for. */
  #words: string[] = [];
  /** Told when a segment's words are complete; false when the connection is gone. */
  #finalized: ((complete: boolean) => void) | null = null;
  #before: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: DeepgramOptions, url: string, signal: AbortSignal) {
    this.#options = options;
    this.#url = url;
    this.#signal = signal;
    this.#limitMs = options.limitMs ?? 4_000;
    void this.#connected();
  }

  frame(frame: Uint8Array): void {
    this.#recorder.frame(frame);
    if (this.#socket !== null) sendTo(this.#socket, frame);
  }

  begin(): void {
    this.#recorder.begin();
    void this.#connected();
  }

  end(): Promise<Transcribed> {
    const codes = this.#recorder.end();
    const heardBy = this.#socket;
    const words = this.#before.then(() => this.#finish(codes, heardBy));
    this.#before = words;
    return words;
  }

  close(): void {
    this.#closed = true;
    if (this.#socket !== null) sendTo(this.#socket, { type: 'CloseStream' });
    this.#gone();
  }

  /** `heardBy`: the connection that has the sound of the segment already. */
  async #finish(codes: Uint8Array, heardBy: WebSocket | null): Promise<Transcribed> {
    let before: string[] = [];
    for (let tries = 0; tries < 2 && !this.#closed; tries += 1) {
      await this.#connected();
      const socket = this.#socket;
      if (socket === null) continue;
      if (socket !== heardBy) {
        // It hears the segment from its beginning, and gives these words again.
        before = this.#takeWords(before);
        sendTo(socket, codes);
      }
      if (await this.#finalize(socket)) return wordsOf(this.#takeWords([]));
      if (this.#socket === socket) this.#gone();
    }
    const words = this.#takeWords(before);
    return words.length > 0
      ? wordsOf(words)
      : failed('the transcriber can not be reached, broke off, or took too long');
  }

  #takeWords(otherwise: string[]): string[] {
    return this.#words.length === 0 ? otherwise : this.#words.splice(0);
  }

  /** Asks for the words; true when they are complete, false when they do not come. */
  async #finalize(socket: WebSocket): Promise<boolean> {
    const done = new AbortController();
    const complete = new Promise<boolean>((resolve) => {
      this.#finalized = resolve;
    });
    sendTo(socket, { type: 'Finalize' });
    const late = this.#options.clock.sleep(this.#limitMs, done.signal).then(() => false);
    const answer = await Promise.race([complete, late, this.#settled(done.signal)]);
    done.abort();
    this.#finalized = null;
    return answer;
  }

  /** Resolves `true` when there are words, and no more of them come. */
  async #settled(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const { length } = this.#words;
      if (!(await this.#options.clock.sleep(settledAfterMs, signal))) return false;
      if (length > 0 && this.#words.length === length) return true;
    }
  }

  #connected(): Promise<void> {
    if (this.#socket !== null || this.#closed || this.#signal.aborted) return Promise.resolve();
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #connect(): Promise<void> {
    const { clock, apiKey, key } = this.#options;
    const deadline = new Deadline(clock, this.#signal);
    const headers: Record<string, string> = apiKey === null ? {} : { Authorization: `Token ${apiKey}` };
    let socket: WebSocket | null = null;
    // Of a connection that has another one in its place, or none, nothing is wanted.
    const gone = () => {
      if (this.#socket === socket) this.#gone();
    };
    try {
      socket = await connect(this.#url, headers, deadline, this.#limitMs, {
        message: (message) => (this.#socket === socket ? this.#take(message) : undefined),
        broken: gone,
        closed: gone,
        answered: (status) => key?.saw(status),
      });
    } catch {
      // Whoever needs the words finds no socket.
      return;
    } finally {
      deadline.release();
    }
    if (this.#closed) return socket.terminate();
    this.#socket = socket;
    // What was said while there was no connection.
    const { codes } = this.#recorder;
    // An empty message would end the stream.
    if (codes.length > 0) sendTo(socket, codes);
  }

  #take(message: Readonly<Record<string, unknown>>): void {
    if (message['type'] === 'Error') return this.#gone();
    if (message['type'] !== 'Results') return;
    const text = transcriptIn(message['channel']);
    if (text === null) return this.#gone();
    if (message['is_final'] === true && text !== '') this.#words.push(text);
    if (message['from_finalize'] === true) this.#finalized?.(true);
  }

  #gone(): void {
    this.#socket?.terminate();
    this.#socket = null;
    this.#finalized?.(false);
  }
}

function wordsOf(words: readonly string[]): Transcribed {
  return { kind: 'words', text: words.join(' ') };
}

function transcriptIn(channel: unknown): string | null {
  const alternatives = fieldOf(channel, 'alternatives');
  const transcript = fieldOf(Array.isArray(alternatives) ? alternatives[0] : null, 'transcript');
  return typeof transcript === 'string' ? transcript : null;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
