/** An inbound call: carries out what `incoming-state.ts` decides. */

import type { Timer } from '../clock.ts';
import { DialogChannel } from '../dialog/channel.ts';
import type { Dialog } from '../dialog/dialog.ts';
import type { Address } from '../message/address.ts';
import { Headers, type HeaderLine } from '../message/headers.ts';
import { singleLine } from '../message/grammar.ts';
import { responseTo, type SipResponse } from '../message/message.ts';
import type { Uri } from '../message/uri.ts';
import type { LocalMedia, NegotiatedMedia } from '../sdp/negotiate.ts';
import type { ServerTransaction } from '../transaction/layer.ts';
import type { Source } from '../transport/network.ts';
import { CallDialog, type CallHandlers } from './call.ts';
import { ALLOW, contactLine, type Host, reply, requireExtraHeaders, SDP_TYPE, SUPPORTED } from './host.ts';
import {
  type IncomingEffect,
  type IncomingEvent,
  type IncomingState,
  nextIncoming,
} from './incoming-state.ts';
import { offer, startNegotiation, takeOffer } from './negotiation.ts';
import { type Ended, endedByNetwork, endedByRequest, endedByUs } from './outcome.ts';
import type { CallOutcome } from './outgoing.ts';
import { Provisionals } from './provisional.ts';
import type { TimerAnswer } from './session-timer.ts';

export interface AcceptOptions extends CallHandlers {
  readonly media: LocalMedia;
  /** Ends the call when it fires. */
  readonly signal?: AbortSignal;
}

export interface RejectOptions {
  /** The phrase beside the status. */
  readonly reason?: string;
  readonly headers?: readonly HeaderLine[];
}

/** A call that asks to be answered. The handler that gets it must accept or reject it, sooner or later. */
export interface IncomingCall {
  readonly callId: string;
  readonly from: Address;
  readonly to: Address;
  /** What was dialled. */
  readonly requestUri: Uri;
  readonly headers: Headers;
  readonly source: Source;
  /** Fires when the call can not be answered any more. */
  readonly signal: AbortSignal;
  /** Resolves to how the call ended without having been answered, or to the answered call. Never rejects. */
  readonly outcome: Promise<CallOutcome>;
  /** Whether what the peer offers could be answered with this media; nothing is sent, nor kept. */
  fits(media: LocalMedia): boolean;
  /** Sends 180. Nothing happens once the call is answered or over. */
  ring(): void;
  /** Sends 183 with an answer, so that early media can flow. Resolves to what was agreed; undefined when that fails or there was no offer: then it is a plain 183. */
  progress(media: LocalMedia): NegotiatedMedia | undefined;
  /** Answers the call; resolves when the peer has acknowledged that, or the call is over. Never rejects. */
  accept(options: AcceptOptions): Promise<CallOutcome>;
  /** Refuses the call. Throws `RangeError` for a status outside 400 to 699, `UnsafeTextError` for line breaks. */
  reject(status: number, options?: RejectOptions): void;
}

export interface IncomingParts {
  readonly host: Host;
  readonly transaction: ServerTransaction;
  readonly dialog: Dialog;
  readonly localTag: string;
  /** The session description of the INVITE; undefined when the peer wants our offer. */
  readonly offered: string | undefined;
  readonly timer: TimerAnswer;
  readonly user: string | undefined;
  /** How long the handler may leave it unanswered, in milliseconds; then 480. */
  readonly ringLimitMs: number;
}

export class Incoming implements IncomingCall {
  readonly outcome: Promise<CallOutcome>;
  readonly #parts: IncomingParts;
  readonly #provisionals: Provisionals;
  readonly #withdrawn = new AbortController();
  readonly #ringLimit: Timer;
  readonly #call: CallDialog;
  #state: IncomingState = 'ringing';
  #resolve: (outcome: CallOutcome) => void = () => undefined;
  #handlers: CallHandlers & { readonly signal?: AbortSignal } = {};
  /** Offer and answer are under way with this media: the first that was named. */
  #described = false;
  #rejection: SipResponse | undefined;
  #ending: Ended = endedByUs('rejected');

  constructor(parts: IncomingParts) {
    const { host, transaction, dialog, user, ringLimitMs } = parts;
    this.#parts = parts;
    this.outcome = new Promise((resolve) => (this.#resolve = resolve));
    this.#provisionals = new Provisionals(host.stack, transaction, () =>
      this.#refuse(504, endedByNetwork('no_response')),
    );
    this.#call = new CallDialog({
      host,
      channel: new DialogChannel(host.stack, dialog, undefined, undefined),
      role: 'uas',
      user,
      negotiation: startNegotiation(NO_MEDIA, host.stack.random),
      handlers: {
        onMedia: (media) => this.#handlers.onMedia?.(media),
        onInfo: (info) => this.#handlers.onInfo?.(info),
      },
      onEarlyRequest: (request) => this.#onEarlyRequest(request),
      onAcknowledged: () => this.#dispatch('ack'),
    });
    void this.#call.ended.then((ended) => this.#resolve(ended));
    this.#ringLimit = host.stack.clock.setTimer(ringLimitMs, () =>
      this.#refuse(480, endedByUs('ring_limit', 480)),
    );
    reply(transaction, 100);
  }

  get callId(): string {
    return this.#parts.transaction.request.callId;
  }
  get from(): Address {
    return this.#parts.transaction.request.from;
  }
  get to(): Address {
    return this.#parts.transaction.request.to;
  }
  get requestUri(): Uri {
    return this.#parts.transaction.request.uri;
  }
  get headers(): Headers {
    return this.#parts.transaction.request.headers;
  }
  get source(): Source {
    return this.#parts.transaction.source;
  }
  get signal(): AbortSignal {
    return this.#withdrawn.signal;
  }

  fits(media: LocalMedia): boolean {
    const { offered, host } = this.#parts;
    if (offered === undefined) return true;
    return takeOffer(startNegotiation(media, host.stack.random), offered).kind === 'agreed';
  }

  ring(): void {
    if (this.#state === 'ringing')
      this.#provisionals.send(this.#response(180, false), this.#mustBeReliable());
  }

  progress(media: LocalMedia): NegotiatedMedia | undefined {
    if (this.#state !== 'ringing') return undefined;
    const brings = this.#parts.offered !== undefined;
    if (brings && !this.#describe(media)) {
      this.#refuse(488, endedByUs('media_refused', 488));
      return undefined;
    }
    this.#provisionals.send(this.#response(183, brings), this.#mustBeReliable());
    return brings ? this.#call.media : undefined;
  }

  accept(options: AcceptOptions): Promise<CallOutcome> {
    if (this.#state === 'ringing') {
      this.#handlers = options;
      if (options.signal?.aborted) this.reject(480);
      else if (this.#describe(options.media)) this.#dispatch('accept');
      else this.#refuse(488, endedByUs('media_refused', 488));
    }
    return this.outcome;
  }

  reject(status: number, options: RejectOptions = {}): void {
    if (!Number.isInteger(status) || status < 400 || status > 699)
      throw new RangeError('a rejection has a status of 400 to 699');
    const headers = Headers.from(requireExtraHeaders(options.headers ?? []));
    const reason = options.reason === undefined ? {} : { reason: singleLine(options.reason, 'reason') };
    const { transaction, localTag } = this.#parts;
    this.#refuse(
      status,
      endedByUs('rejected', status),
      responseTo(transaction.request, status, { ...reason, headers, toTag: localTag }),
    );
  }

  /** The user agent closes: a call that waits for its ACK gets its BYE without it. */
  close(): void {
    this.reject(503);
    if (this.#state !== 'accepted') return;
    this.#call.confirm(undefined, []);
    this.#call.close();
  }

  /** Takes the peer's CANCEL. */
  withdraw(ended: Ended): void {
    this.#ending = this.#state === 'ended' ? this.#ending : ended;
    this.#dispatch('withdraw');
  }

  #refuse(status: number, ended: Ended, response?: SipResponse): void {
    if (this.#state !== 'ringing' && this.#state !== 'accepting') return;
    const { transaction, localTag } = this.#parts;
    this.#rejection = response ?? responseTo(transaction.request, status, { toTag: localTag });
    this.#ending = ended;
    this.#dispatch('reject');
  }

  #dispatch(event: IncomingEvent): void {
    const { state, effects } = nextIncoming(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: IncomingEffect): void {
    const { transaction, localTag } = this.#parts;
    switch (effect) {
      case 'settle':
        this.#ringLimit.cancel();
        return this.#provisionals.whenSettled(() => this.#dispatch('settled'));
      case 'sendSuccess': {
        // An answer that went out reliably is not brought again (RFC 6337 §2.2).
        const response = this.#response(200, !this.#provisionals.broughtDescription);
        transaction.respond(response);
        return this.#call.offers.awaitAck(transaction, response);
      }
      case 'sendRejection':
        return this.#rejection && transaction.respond(this.#rejection);
      case 'sendTerminated':
        return reply(transaction, 487, [], localTag);
      case 'confirm':
        return this.#confirm();
      case 'finish':
        this.#ringLimit.cancel();
        this.#provisionals.stop();
        this.#call.release(this.#ending);
        return this.#withdrawn.abort();
    }
  }

  #confirm(): void {
    const { timer, transaction } = this.#parts;
    const call = this.#call;
    call.confirm(timer.kind === 'on' ? timer.timer : undefined, transaction.request.headers.tokens('Allow'));
    const { media } = call;
    // Without an answer in the ACK the call has ended over that already and never comes here.
    if (media === undefined) return;
    const { signal } = this.#handlers;
    const endCall = (): void => void call.endFor('aborted');
    signal?.addEventListener('abort', endCall);
    void call.ended.then(() => signal?.removeEventListener('abort', endCall));
    if (signal?.aborted) endCall();
    this.#resolve({ kind: 'answered', call, media });
  }

  /** Answers the peer's offer with this media, or prepares ours; false when they do not fit. */
  #describe(media: LocalMedia): boolean {
    if (this.#described) return true;
    const { offers } = this.#call;
    const { offered } = this.#parts;
    const start = startNegotiation(media, this.#parts.host.stack.random);
    if (offered === undefined) offers.adopt(offer(start).negotiation);
    else {
      const taken = takeOffer(start, offered);
      if (taken.kind === 'refused') return false;
      offers.adopt(taken.negotiation);
      this.#handlers.onMedia?.(taken.media);
    }
    this.#described = true;
    return true;
  }

  #mustBeReliable(): boolean {
    return this.headers.tokens('Require').includes('100rel');
  }

  #response(status: number, withSdp: boolean): SipResponse {
    const { host, transaction, user, localTag, timer, dialog } = this.#parts;
    const { request, source } = transaction;
    const lines: HeaderLine[] = [
      ...request.headers.all('Record-Route').map((value) => ['Record-Route', value] as const),
      contactLine(host, source, user, dialog.target.scheme === 'sips'),
      ALLOW,
      SUPPORTED,
      ['Server', host.settings.name],
      ...(status === 200 && timer.kind === 'on' ? timer.headers : []),
      ...(withSdp ? [SDP_TYPE] : []),
    ];
    const body = withSdp ? { body: Buffer.from(this.#call.offers.negotiation.text) } : {};
    return responseTo(request, status, { headers: Headers.from(lines), toTag: localTag, ...body });
  }

  #onEarlyRequest(transaction: ServerTransaction): void {
    const { request } = transaction;
    if (request.method === 'PRACK')
      return reply(transaction, this.#provisionals.acknowledge(transaction) ? 200 : 481);
    // BYE, which the call has answered: before the 2xx it takes the INVITE back, after it the call is over.
    if (this.#state === 'accepted') return this.#call.release(endedByRequest(request));
    return this.withdraw(endedByRequest(request));
  }
}

/** Stands in until the handler says what media it has. */
const NO_MEDIA: LocalMedia = {
  address: '0.0.0.0',
  port: 0,
  codecs: ['PCMU'],
  telephoneEvents: false,
  srtp: 'never',
  rtcpMux: false,
};
