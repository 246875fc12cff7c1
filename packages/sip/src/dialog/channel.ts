/** A dialog in use: sends requests inside it, acknowledges, keeps its numbers. */

import type { Authenticator } from '../auth/digest.ts';
import { Headers } from '../message/headers.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import type { Hop } from '../transport/network.ts';
import { type Dialog, makeRequest, refreshTarget, takeRequest } from './dialog.ts';
import { exchange, type ExchangeOutcome, preferKnown } from './exchange.ts';
import { hopsFor, type Stack } from './stack.ts';

export interface RequestParts {
  /** What Contact says depends on the hop that is tried. */
  readonly headers?: (hop: Hop) => readonly (readonly [string, string])[];
  readonly body?: Buffer;
  readonly signal?: AbortSignal;
}

export class DialogChannel {
  readonly #stack: Stack;
  readonly #authenticator: Authenticator | undefined;
  readonly #knownHop: Hop | undefined;
  #dialog: Dialog;
  #acking: Promise<void> | undefined;
  /** The latest ACK as sent; the same 2xx gets the same ACK. */
  #lastAck: { readonly ack: SipRequest; readonly hop: Hop } | undefined;

  constructor(
    stack: Stack,
    dialog: Dialog,
    authenticator: Authenticator | undefined,
    knownHop: Hop | undefined,
  ) {
    this.#stack = stack;
    this.#dialog = dialog;
    this.#authenticator = authenticator;
    this.#knownHop = knownHop;
  }

  get dialog(): Dialog {
    return this.#dialog;
  }

  replace(dialog: Dialog): void {
    this.#dialog = dialog;
  }

  /** Takes a request's place in the peer's sequence; false when it is out of order (RFC 3261 §12.2.2). */
  take(request: SipRequest): boolean {
    const dialog = takeRequest(this.#dialog, request);
    if (dialog !== undefined) this.#dialog = dialog;
    return dialog !== undefined;
  }

  refreshTarget(headers: Headers): void {
    this.#dialog = refreshTarget(this.#dialog, headers);
  }

  /**
   * Sends a request and waits for its final response. The 2xx of an INVITE must be acknowledged with `ack`; its
   * repetitions are then acknowledged here. Never rejects.
   */
  async request(method: string, parts: RequestParts = {}): Promise<ExchangeOutcome> {
    await this.#acking;
    const { uri } = makeRequest(this.#dialog, method).request;
    return exchange(this.#stack, {
      method,
      target: makeRequest(this.#dialog, method).nextHop,
      uri: uri.scheme === 'other' ? this.#dialog.target : uri,
      knownHop: this.#knownHop,
      authenticator: this.#authenticator,
      signal: parts.signal,
      onRepeated: (response) => this.repeatAck(response),
      make: (authorization, hop) => {
        const headers = Headers.from([...authorization, ...(parts.headers?.(hop) ?? [])]);
        const made = makeRequest(this.#dialog, method, {
          headers,
          ...(parts.body ? { body: parts.body } : {}),
        });
        this.#dialog = made.dialog;
        return made.request;
      },
    });
  }

  /**
   * Acknowledges a 2xx to our INVITE (RFC 3261 §13.2.2.4) before any later request of ours leaves. Never rejects;
   * an ACK that is lost is sent again.
   */
  ack(invite: SipRequest): Promise<void> {
    this.#acking = this.#ack(invite);
    return this.#acking;
  }

  async #ack(invite: SipRequest): Promise<void> {
    const made = makeRequest(this.#dialog, 'ACK', { ackOf: invite.cseq.number });
    const hops = preferKnown(await hopsFor(this.#stack, made.nextHop), this.#knownHop);
    const [hop] = hops;
    if (hop === undefined) return;
    // RFC 3261 §22.1: an ACK can not be challenged, so it carries the credentials of its INVITE.
    const authorization = ['Authorization', 'Proxy-Authorization'].flatMap((name) =>
      invite.headers.all(name).map((value) => [name, value] as const),
    );
    const ack = { ...made.request, headers: made.request.headers.with(authorization) };
    this.#lastAck = { ack: this.#stack.layer.sendAck(ack, hop), hop };
  }

  /** Sends the ACK again that the 2xx has had already; nothing when it has had none. */
  repeatAck(response: SipResponse): void {
    const last = this.#lastAck;
    if (last?.ack.cseq.number === response.cseq.number) this.#stack.layer.repeatAck(last.ack, last.hop);
  }
}
