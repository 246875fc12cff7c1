/**
 * One HTTP try of one delivery, which resolves to what came of it.
 *
 * The status line decides; of the body only a beginning is kept, and what is too long or too slow is cut off. Redirects
 * are not followed, and no proxy of the environment is used (the agents here are our own).
 */
import type { LookupAddress } from 'node:dns';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction, type TcpSocketConnectOpts } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { callbackify } from 'node:util';
import type { Clock } from '../platform/clock.ts';
import type { Destinations } from './destination.ts';
import { readRetryAfter } from './schedule.ts';

/** Why there was no answer; stable, and shown to operators. */
export type TryError =
  | 'timeout'
  | 'destination_refused'
  | 'dns_failed'
  | 'connection_refused'
  | 'connection_lost'
  | 'connection_failed'
  | 'tls_failed'
  | 'bad_response'
  | 'interrupted';

export type Answer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfterMs: number | null;
      /** The beginning of the body; empty when there was none in time. */
      readonly text: string;
    }
  | { readonly kind: 'unanswered'; readonly error: TryError };

export interface Order {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PosterOptions {
  readonly destinations: Destinations;
  readonly clock: Clock;
  /** Connection, request and status line together, milliseconds. */
  readonly timeoutMs: number;
  /** Certificates of authorities to trust beside the usual ones, PEM. */
  readonly authorities: string | null;
}

export interface Poster {
  /** Never rejects. An abort of `signal` ends it as `interrupted`. */
  readonly post: (order: Order, signal: AbortSignal) => Promise<Answer>;
  /** Closes idle connections. */
  readonly close: () => void;
}

/** What is read of a response's body before the connection is closed instead of used again. */
const maxResponseBytes = 64 * 1_024;
const keptBytes = 1_024;
/** How long the rest of a response may take, milliseconds. */
const restMs = 1_000;
const idleConnectionMs = 30_000;
/** A reason of one's own saves Node an exception with its stack for each abort. */
const over = 'over';
const maxHeaderBytes = 16 * 1_024;

export function createPoster({ destinations, clock, timeoutMs, authorities }: PosterOptions): Poster {
  const agentOptions = {
    keepAlive: true,
    timeout: idleConnectionMs,
    maxFreeSockets: 256,
    scheduling: 'lifo',
  } as const;
  const secure = new HttpsAgent({
    ...agentOptions,
    rejectUnauthorized: true,
    // Made once: to read some hundred certificates for each connection would take longer than the try. Alone, our own
    // would replace the usual ones.
    secureContext: createSecureContext({
      ca: [...getCACertificates(), ...(authorities === null ? [] : [authorities])],
    }),
  });
  const plain = new HttpAgent(agentOptions);

  /** Called by Node for names that must be connected to; the only way to an address (D2). */
  const vettedLookup = callbackify(vettedAddresses);
  const lookupOf =
    (url: URL): LookupFunction =>
    (_hostname, _options, done) =>
      vettedLookup(url, (error, addresses) => done(error, addresses));

  async function vettedAddresses(url: URL): Promise<LookupAddress[]> {
    const vetted = await destinations.vet(url);
    if (vetted.kind !== 'allowed') throw new Refused(vetted.kind);
    return vetted.addresses.map((address) => ({ address, family: isIP(address) }));
  }

  async function post(order: Order, stop: AbortSignal): Promise<Answer> {
    const url = new URL(order.url);
    // Node looks names up, but not addresses.
    if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) {
      const vetted = await destinations.vet(url);
      if (vetted.kind !== 'allowed') return { kind: 'unanswered', error: new Refused(vetted.kind).tryError };
    }
    const attempt = new AbortController();
    const done = new AbortController();
    const interrupt = (): void => attempt.abort('interrupted' satisfies TryError);
    stop.addEventListener('abort', interrupt, { once: true });
    if (stop.aborted) interrupt();
    void clock
      .sleep(timeoutMs, done.signal)
      .then((elapsed) => elapsed && attempt.abort('timeout' satisfies TryError));
    try {
      const first = await exchange(url, order, attempt.signal);
      return first === 'stale' ? lost(await exchange(url, order, attempt.signal)) : first;
    } finally {
      stop.removeEventListener('abort', interrupt);
      done.abort(over);
    }
  }

  /** `stale`: the receiver had closed a connection that was kept open, and may not have seen the request. */
  function exchange(url: URL, order: Order, signal: AbortSignal): Promise<Answer | 'stale'> {
    return new Promise((resolve) => {
      const options: RequestOptions & Pick<TcpSocketConnectOpts, 'autoSelectFamily'> = {
        method: 'POST',
        headers: { ...order.headers, 'content-length': String(Buffer.byteLength(order.body)) },
        lookup: lookupOf(url),
        // Makes Node ask for all addresses at once, and try one after the other.
        autoSelectFamily: true,
        maxHeaderSize: maxHeaderBytes,
        signal,
      };
      const request: ClientRequest =
        url.protocol === 'https:'
          ? httpsRequest(url, { ...options, agent: secure })
          : httpRequest(url, { ...options, agent: plain });
      let answered = false;
      request.once('response', (response) => {
        answered = true;
        void readStart(response, clock).then((text) => {
          const retryAfterMs = readRetryAfter(response.headers['retry-after'], clock.now());
          resolve({ kind: 'answered', status: response.statusCode ?? 0, retryAfterMs, text });
        });
      });
      request.on('error', (error) => {
        if (answered) return;
        if (!signal.aborted && request.reusedSocket && isLoss(error)) return resolve('stale');
        const reason: unknown = signal.aborted ? signal.reason : undefined;
        resolve({ kind: 'unanswered', error: isTryError(reason) ? reason : tryErrorOf(error) });
      });
      // A change of protocol ends without a response and without an error.
      request.once('close', () => {
        if (!answered) resolve({ kind: 'unanswered', error: 'bad_response' });
      });
      request.end(order.body);
    });
  }

  return {
    post,
    close() {
      secure.destroy();
      plain.destroy();
    },
  };
}

const lost = (answer: Answer | 'stale'): Answer =>
  answer === 'stale' ? { kind: 'unanswered', error: 'connection_lost' } : answer;

/** Reads to the end, so that the connection can be used again; within bounds, else it is closed. Never rejects. */
function readStart(response: IncomingMessage, clock: Clock): Promise<string> {
  return new Promise((resolve) => {
    const kept: Buffer[] = [];
    let bytes = 0;
    const late = new AbortController();
    const finish = (): void => {
      late.abort(over);
      resolve(readable(Buffer.concat(kept).subarray(0, keptBytes)));
    };
    response.on('data', (chunk: Buffer) => {
      if (bytes < keptBytes) kept.push(chunk);
      bytes += chunk.length;
      if (bytes > maxResponseBytes) response.destroy();
    });
    // After `end` comes `close`; a response that is cut off also says so with an error.
    response.on('error', () => undefined);
    response.once('end', finish);
    response.once('close', finish);
    void clock.sleep(restMs, late.signal).then((elapsed) => elapsed && response.destroy());
  });
}

/** Text that the database takes: it has no U+0000. */
const readable = (bytes: Buffer): string => bytes.toString().replaceAll('\0', '\uFFFD');

class Refused extends Error {
  readonly tryError: TryError;
  constructor(kind: 'refused' | 'unresolved') {
    super(kind);
    this.tryError = kind === 'refused' ? 'destination_refused' : 'dns_failed';
  }
}

const lossCodes = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);
const isLoss = (error: Error): boolean => lossCodes.has(codeOf(error));

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const isTryError = (reason: unknown): reason is 'timeout' | 'interrupted' =>
  reason === 'timeout' || reason === 'interrupted';

function tryErrorOf(error: unknown): TryError {
  if (error instanceof Refused) return error.tryError;
  // Several addresses were tried in turn.
  if (error instanceof AggregateError) return tryErrorOf(error.errors[0]);
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return 'connection_refused';
  if (lossCodes.has(code)) return 'connection_lost';
  if (code.startsWith('HPE_')) return 'bad_response';
  const isTls = /^(?:ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/.test(
    code,
  );
  return isTls ? 'tls_failed' : 'connection_failed';
}
