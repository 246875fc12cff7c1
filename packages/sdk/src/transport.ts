/** One HTTP exchange and its repetition, for both clients. Needs nothing but `fetch`. */
import type { ApiErrorCode, ErrorEnvelope } from '@trunkcall/contract';
import { TrunkcallError, TrunkcallUnreachable } from './errors.ts';

export interface ClientOptions {
  /** Where the service is, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** How long one exchange may take, milliseconds; 30,000 by default. */
  readonly requestTimeoutMs?: number;
  /** How often a request is sent at most; 5 by default. */
  readonly maxTries?: number;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Replaces the waiting between tries; rejects with the signal's reason when it aborts. */
  readonly sleep?: Sleep;
}

export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

export interface CallOptions {
  /** Gives up the call: its promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** With the query string. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What the answer is; JSON by default. */
  readonly answer?: 'json' | 'text';
  /**
   * Whether sending it twice does no harm. Otherwise it is sent again only when it was refused unprocessed, with
   * `429`.
   */
  readonly repeatable: boolean;
  /** How long the server may take by design, on top of the time-out. */
  readonly extraTimeMs?: number;
}

export interface Answer<T> {
  readonly body: T;
  /** What `Retry-After` says, milliseconds; null without it. */
  readonly retryAfterMs: number | null;
  readonly headers: Headers;
}

export interface Transport {
  /** Sends an exchange, again if need be. Throws: TrunkcallError, TrunkcallUnreachable, the signal's reason. */
  send<T>(exchange: Exchange, options?: CallOptions): Promise<Answer<T>>;
  /**
   * Sends an exchange that is answered line by line, and gives each line's JSON as it comes. Throws: as `send`;
   * TrunkcallUnreachable also when the answer breaks off.
   */
  lines<T>(exchange: Exchange, options?: CallOptions): AsyncGenerator<T, void, undefined>;
  readonly sleep: Sleep;
}

const defaultTimeoutMs = 30_000;
const defaultMaxTries = 5;
const firstPauseMs = 250;
/** Neither our own growing pauses nor a server's `Retry-After` make one pause longer than this. */
const longestPauseMs = 30_000;

export function createTransport(options: ClientOptions, credential: string): Transport {
  const base = options.baseUrl.replace(/\/+$/, '');
  const doFetch = options.fetch ?? fetch;
  const sleep = options.sleep ?? systemSleep;
  const timeoutMs = options.requestTimeoutMs ?? defaultTimeoutMs;
  const maxTries = options.maxTries ?? defaultMaxTries;

  const unreachable = (cause: unknown) =>
    new TrunkcallUnreachable(`${base} could not be reached or gave no answer`, { cause });

  /** Ends with an answer that is no refusal; its body is still to come. */
  async function open(exchange: Exchange, signal: AbortSignal | undefined): Promise<Response> {
    const limit = AbortSignal.timeout(timeoutMs + (exchange.extraTimeMs ?? 0));
    try {
      const response = await doFetch(base + exchange.path, {
        method: exchange.method,
        headers: { ...exchange.headers, authorization: `Bearer ${credential}` },
        ...(exchange.body === undefined ? {} : { body: exchange.body }),
        redirect: 'error',
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
      if (!response.ok) throw new Refused(errorFrom(response, await response.text()), retryAfterMs(response));
      return response;
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof Refused ? error : unreachable(error);
    }
  }

  async function whole<T>(
    { answer }: Exchange,
    response: Response,
    signal: AbortSignal | undefined,
  ): Promise<Answer<T>> {
    try {
      const text = await response.text();
      const body = (answer === 'text' ? text : JSON.parse(text)) as T;
      return { body, retryAfterMs: retryAfterMs(response), headers: response.headers };
    } catch (error) {
      signal?.throwIfAborted();
      throw unreachable(error);
    }
  }

  /** Opens an exchange and reads its answer, again if need be. */
  async function repeatedly<T>(
    exchange: Exchange,
    signal: AbortSignal | undefined,
    read: (response: Response) => T | Promise<T>,
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      signal?.throwIfAborted();
      try {
        return await read(await open(exchange, signal));
      } catch (error) {
        const last = tries >= maxTries || !mayRepeat(error, exchange.repeatable);
        if (last) throw error instanceof Refused ? error.error : error;
        await sleep(pauseMs(error, tries), signal);
      }
    }
  }

  return {
    sleep,
    send: <T>(exchange: Exchange, { signal }: CallOptions = {}) =>
      repeatedly(exchange, signal, (response) => whole<T>(exchange, response, signal)),
    async *lines<T>(exchange: Exchange, { signal }: CallOptions = {}) {
      const { body } = await repeatedly(exchange, signal, (response) => response);
      if (body === null) return;
      try {
        for await (const line of linesOf(body)) yield JSON.parse(line) as T;
      } catch (error) {
        signal?.throwIfAborted();
        throw unreachable(error);
      }
    },
  };
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** `?` and the parameters that are defined, or nothing. */
export function queryString(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

/** Whole lines only: what is behind the last line break was cut off. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const utf8 = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const lines = `${rest}${utf8.decode(bytes, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

/** A refusal on its way to the decision whether to try again. */
class Refused extends Error {
  readonly error: TrunkcallError;
  readonly retryAfterMs: number | null;

  constructor(error: TrunkcallError, retryAfter: number | null) {
    super(error.message);
    this.error = error;
    this.retryAfterMs = retryAfter;
  }
}

function mayRepeat(error: unknown, repeatable: boolean): boolean {
  if (error instanceof TrunkcallUnreachable) return repeatable;
  if (!(error instanceof Refused)) return false;
  const { status } = error.error;
  return status === 429 || (repeatable && (status === 502 || status === 503));
}

/** What the server asked for, else a pause that doubles; with up to a quarter more, so that clients spread out. */
function pauseMs(error: unknown, tries: number): number {
  const asked = error instanceof Refused ? error.retryAfterMs : null;
  const pause = Math.min(asked ?? firstPauseMs * 2 ** (tries - 1), longestPauseMs);
  return pause * (1 + Math.random() / 4);
}

function retryAfterMs(response: Response): number | null {
  const text = response.headers.get('retry-after');
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : null;
}

function errorFrom(response: Response, text: string): TrunkcallError {
  const envelope = readEnvelope(text);
  return new TrunkcallError({
    status: response.status,
    code: (envelope?.error.code as ApiErrorCode | undefined) ?? 'unknown',
    message: envelope?.error.message ?? `HTTP ${response.status}`,
    details: envelope?.error.details ?? {},
    requestId: response.headers.get('request-id'),
  });
}

function readEnvelope(text: string): ErrorEnvelope | null {
  try {
    const value = JSON.parse(text) as Partial<ErrorEnvelope> | null;
    return typeof value?.error?.code === 'string' ? (value as ErrorEnvelope) : null;
  } catch {
    return null;
  }
}

function systemSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish, { once: true });
    function finish(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    }
  });
}
