/**
 * One WebSocket of somebody who talks to a draft (`contract/talk.ts`): checked messages in, messages and sound out.
 *
 * - T1  Whatever the page sends that is not the protocol is answered with a problem that says what would be right, and
 *       ends the connection.
 * - T2  A page that does not answer a ping, or does not read what it is sent, is gone.
 * - T3  `gone` aborts when the connection is over, whoever ended it; after that nothing is told or sent.
 */
import { talkRequests, type GoalFileProblem, type TalkMessage, type TalkRequest } from '@trunkcall/contract';
import { WebSocket, type RawData } from 'ws';
import { frameBytes } from '../../carriers/lab/spoken-line.ts';
import type { Clock } from '../../platform/clock.ts';
import { Refusal } from '../../platform/refusal.ts';
import { parseJsonBody } from '../body.ts';
import { checker } from '../operator/sent.ts';
import { TokenBuckets } from '../../platform/token-buckets.ts';

/** Of one message of the page; variables of a Goal are the largest. */
export const maxMessageBytes = 64 * 1024;
/** What the page has not read yet; some 30 s of sound. */
const maxUnsentBytes = 256 * 1024;
/** Sound is fifty messages a second. */
const messageRate = { perSecond: 100, burst: 300 };
const pingEveryMs = 15_000;
/** How long the page has to answer our goodbye. */
const goodbyeMs = 2_000;

const closed = { done: 1000, leaving: 1001, broken: 1008 } as const;

/** Told from the event loop, in order. */
export interface TalkListener {
  request(request: TalkRequest): void;
  /** 20 ms of G.711 µ-law. */
  sound(frame: Uint8Array): void;
}

export class TalkLink {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #gone = new AbortController();
  readonly #rate: TokenBuckets;
  #listener: TalkListener | null = null;
  /** Told goodbye: nothing is taken or sent any more. */
  #closing = false;
  #alive = true;

  constructor(socket: WebSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.#rate = new TokenBuckets(clock, messageRate, 1);
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    socket.on('pong', () => {
      this.#alive = true;
    });
    // Whatever the error was, `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#gone.abort());
    void this.#keepAlive();
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Sets who is told what the page sends, in place of who was. Nobody is at first: it is lost then. */
  listen(listener: TalkListener): void {
    this.#listener = listener;
  }

  send(message: TalkMessage): void {
    this.#write(JSON.stringify(message));
  }

  sound(frame: Uint8Array): void {
    this.#write(frame);
  }

  /** Says what stands in the way, and ends the connection. */
  refuse(message: string, problems: readonly GoalFileProblem[] = []): void {
    this.send({ type: 'problem', message, problems });
    this.close();
  }

  /** As `refuse`, for what breaks the protocol. */
  reject(message: string): void {
    this.send({ type: 'problem', message, problems: [] });
    this.close('broken');
  }

  /** Ends the connection behind what was sent. Safe to repeat. */
  close(why: keyof typeof closed = 'done'): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#socket.close(closed[why]);
    void this.#clock.sleep(goodbyeMs, this.gone).then(() => this.#socket.terminate());
  }

  #take(data: RawData, isBinary: boolean): void {
    if (this.#closing || this.gone.aborted) return;
    if (this.#rate.take('') > 0) return this.reject('the page sends too many messages');
    // `ws` gives one Buffer for each message as long as its `binaryType` is not changed.
    const bytes = data as Buffer;
    if (isBinary) return this.#takeSound(bytes);
    const request = read(bytes);
    if (typeof request === 'string') this.reject(request);
    else this.#listener?.request(request);
  }

  #takeSound(frame: Buffer): void {
    if (frame.length === frameBytes) this.#listener?.sound(frame);
    else this.reject(`a binary message is 20 ms of G.711 µ-law, ${frameBytes} bytes`);
  }

  #write(message: string | Uint8Array): void {
    if (this.#closing || this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > maxUnsentBytes) this.#socket.terminate();
    else this.#socket.send(message);
  }

  async #keepAlive(): Promise<void> {
    while (await this.#clock.sleep(pingEveryMs, this.gone)) {
      if (!this.#alive) return this.#socket.terminate();
      this.#alive = false;
      this.#socket.ping();
    }
  }
}

const checks = Object.fromEntries(
  Object.entries(talkRequests).map(([type, schema]) => [type, checker(schema)]),
);

/** The request, or what is wrong with it; no part of it is repeated. */
function read(bytes: Buffer): TalkRequest | string {
  try {
    const value = parseJsonBody(bytes);
    const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
    const known = typeof type === 'string' && Object.hasOwn(checks, type) ? checks[type] : undefined;
    if (known === undefined)
      return `a message is an object whose type is one of: ${Object.keys(checks).join(', ')}`;
    return known(value);
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}
