/**
 * Provisional responses of an inbound call, reliable ones repeated until their PRACK (RFC 3262 §3). One is
 * outstanding at a time; what is sent meanwhile waits, the latest only.
 */

import type { Stack } from '../dialog/stack.ts';
import { parseRAck } from '../message/fields.ts';
import type { SipResponse } from '../message/message.ts';
import { randomFraction } from '../random.ts';
import type { ServerTransaction } from '../transaction/layer.ts';
import { repeatUntilStopped, type Repetition } from './repeat.ts';

export class Provisionals {
  readonly #stack: Stack;
  readonly #transaction: ServerTransaction;
  readonly #onLost: () => void;
  #rseq: number;
  #outstanding: Repetition | undefined;
  #waiting: { readonly response: SipResponse; readonly reliable: boolean } | undefined;
  #onSettled: (() => void) | undefined;
  #broughtDescription = false;

  /** `onLost` is called once when a reliable response is never acknowledged. */
  constructor(stack: Stack, transaction: ServerTransaction, onLost: () => void) {
    this.#stack = stack;
    this.#transaction = transaction;
    this.#onLost = onLost;
    // RFC 3262 §3: the first number is chosen at random below 2^31.
    this.#rseq = 1 + Math.floor(randomFraction(stack.random) * (2 ** 31 - 2));
  }

  /** True when a session description went out in a reliable response. */
  get broughtDescription(): boolean {
    return this.#broughtDescription;
  }

  send(response: SipResponse, reliable: boolean): void {
    if (this.#outstanding !== undefined) {
      this.#waiting = { response, reliable };
      return;
    }
    if (!reliable) {
      this.#transaction.respond(response);
      return;
    }
    this.#rseq += 1;
    if (response.body.length > 0) this.#broughtDescription = true;
    const headers = response.headers.with([
      ['Require', '100rel'],
      ['RSeq', String(this.#rseq)],
    ]);
    const numbered = { ...response, headers };
    this.#transaction.respond(numbered);
    const again = (): void => this.#transaction.respond(numbered);
    this.#outstanding = repeatUntilStopped(this.#stack, Infinity, again, this.#onLost);
  }

  /** Takes a PRACK; false when it acknowledges nothing that waits. */
  acknowledge(transaction: ServerTransaction): boolean {
    const rack = parseRAck(transaction.request.headers);
    const invite = this.#transaction.request.cseq.number;
    if (this.#outstanding === undefined || rack?.rseq !== this.#rseq || rack.cseq !== invite) return false;
    this.#outstanding.stop();
    this.#outstanding = undefined;
    const next = this.#waiting;
    this.#waiting = undefined;
    // Once the call is to be accepted, what still waits is out of date.
    if (this.#onSettled !== undefined) this.#onSettled();
    else if (next !== undefined) this.send(next.response, next.reliable);
    return true;
  }

  /** Calls back when nothing is outstanding: now or later. */
  whenSettled(callback: () => void): void {
    if (this.#outstanding === undefined) callback();
    else this.#onSettled = callback;
  }

  stop(): void {
    this.#outstanding?.stop();
    this.#outstanding = undefined;
    this.#onSettled = undefined;
  }
}
