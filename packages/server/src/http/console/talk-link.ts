/**
 * One WebSocket of somebody who talks to a draft (`contract/talk.ts`): checked messages in, messages and sound out.
 *
 * - T1  Whatever the page sends that is not the protocol is answered with a problem that says what would be right, and
 *       ends the connection.
 * - T2  A page that does not read what it is sent is gone, as one that does not answer (`page-link.ts`).
 */
import { talkRequests, type GoalFileProblem, type TalkMessage, type TalkRequest } from '@trunkcall/contract';
import type { WebSocket } from 'ws';
import { frameBytes } from '../../carriers/lab/spoken-line.ts';
import type { Clock } from '../../platform/clock.ts';
import { Refusal } from '../../platform/refusal.ts';
import { parseJsonBody } from '../body.ts';
import { checker } from '../operator/sent.ts';
import { TokenBuckets } from '../../platform/token-buckets.ts';
import { PageLink } from './page-link.ts';

/** Of one message of the page; variables of a Goal are the largest. */
export const maxMessageBytes = 64 * 1024;
/** What the page has not read yet; some 30 s of sound. */
const maxUnsentBytes = 256 * 1024;
/** Sound is fifty messages a second. */
const messageRate = { perSecond: 100, burst: 300 };

/** Told from the event loop, in order. */
export interface TalkListener {
  request(request: TalkRequest): void;
  /** 20 ms of G.711 µ-law. */
  sound(frame: Uint8Array): void;
}

export class TalkLink {
  readonly #link: PageLink;
  readonly #rate: TokenBuckets;
  #listener: TalkListener | null = null;

  constructor(socket: WebSocket, clock: Clock) {
    this.#rate = new TokenBuckets(clock, messageRate, 1);
    this.#link = new PageLink(socket, clock, (bytes, isBinary) => this.#take(bytes, isBinary));
  }

  get gone(): AbortSignal {
    return this.#link.gone;
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
    this.#link.close('broken');
  }

  /** Ends the connection behind what was sent. Safe to repeat. */
  close(why: 'done' | 'leaving' = 'done'): void {
    this.#link.close(why);
  }

  #take(bytes: Buffer, isBinary: boolean): void {
    if (this.#rate.take('') > 0) return this.reject('the page sends too many messages');
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
    if (!this.#link.send(message, maxUnsentBytes)) this.#link.cut();
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
