/**
 * One WebSocket of a page of the console, whatever it is for.
 *
 * - L1  A page that does not answer a ping is gone.
 * - L2  `gone` aborts when the connection is over, whoever ended it; after that nothing is told or sent.
 */
import { WebSocket, type RawData } from 'ws';
import type { Clock } from '../../platform/clock.ts';

const pingEveryMs = 15_000;
/** How long the page has to answer our goodbye. */
const goodbyeMs = 2_000;

const closed = { done: 1000, leaving: 1001, broken: 1008 } as const;

export class PageLink {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #gone = new AbortController();
  /** Told goodbye: nothing is taken or sent any more. */
  #closing = false;
  #alive = true;

  /** `onMessage` is told what the page sends, in order. */
  constructor(socket: WebSocket, clock: Clock, onMessage: (bytes: Buffer, isBinary: boolean) => void) {
    this.#socket = socket;
    this.#clock = clock;
    socket.on('message', (data: RawData, isBinary) => {
      // `ws` gives one Buffer for each message as long as its `binaryType` is not changed.
      if (!this.#closing && !this.gone.aborted) onMessage(data as Buffer, isBinary);
    });
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

  /** Sends a message, unless the page has more than `maxUnsentBytes` to read yet: false then. */
  send(message: string | Uint8Array, maxUnsentBytes: number): boolean {
    if (this.#closing || this.#socket.readyState !== WebSocket.OPEN) return true;
    if (this.#socket.bufferedAmount > maxUnsentBytes) return false;
    this.#socket.send(message);
    return true;
  }

  /** Ends the connection behind what was sent. Safe to repeat. */
  close(why: keyof typeof closed = 'done'): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#socket.close(closed[why]);
    void this.#clock.sleep(goodbyeMs, this.gone).then(() => this.#socket.terminate());
  }

  /** Ends the connection at once. */
  cut(): void {
    this.#socket.terminate();
  }

  async #keepAlive(): Promise<void> {
    while (await this.#clock.sleep(pingEveryMs, this.gone)) {
      if (!this.#alive) return this.#socket.terminate();
      this.#alive = false;
      this.#socket.ping();
    }
  }
}
