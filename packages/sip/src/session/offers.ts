/**
 * Offer and answer inside a confirmed dialog, in both directions: re-INVITE and UPDATE (RFC 3261 §14, RFC 3311).
 *
 * Invariants
 * - O1 One offer is outstanding at a time; the other side's meets 491 while ours waits.
 * - O2 A refused offer changes nothing: what was agreed before stays in force.
 */

import type { DialogChannel } from '../dialog/channel.ts';
import { hasForeignBody, sdpOf } from '../message/fields.ts';
import { Headers, type HeaderLine } from '../message/headers.ts';
import { responseTo, type SipRequest, type SipResponse } from '../message/message.ts';
import { randomFraction } from '../random.ts';
import type { Direction, LocalMedia, NegotiatedMedia } from '../sdp/negotiate.ts';
import type { ServerTransaction } from '../transaction/layer.ts';
import { ALLOW, contactLine, type Host, isSuccess, reply, SDP_TYPE, SUPPORTED } from './host.ts';
import { type Negotiation, offer, takeAnswer, takeOffer, withdraw } from './negotiation.ts';
import { repeatUntilStopped, type Repetition } from './repeat.ts';
import { answerTimer, requestHeaders, type SessionTimer, timerFromResponse } from './session-timer.ts';

/** What a new offer changes; everything else stays. */
export interface MediaChange {
  readonly wanted?: Direction;
  readonly local?: LocalMedia;
}

export type Renegotiation =
  | { readonly kind: 'agreed'; readonly media: NegotiatedMedia }
  | { readonly kind: 'refused'; readonly status: number }
  /** `busy`: another offer of ours is outstanding. `ended`: there is no call, or it ended over this. */
  | { readonly kind: 'failed'; readonly why: 'busy' | 'ended' };

export interface OffersParts {
  readonly host: Host;
  readonly channel: DialogChannel;
  readonly negotiation: Negotiation;
  readonly user: string | undefined;
  /** Our part when the dialog began: it decides who waits longer after glare. */
  readonly role: 'uac' | 'uas';
  onMedia(media: NegotiatedMedia): void;
  /** A 2xx in either direction said what becomes of the session timer. */
  onTimer(timer: SessionTimer | undefined): void;
  /** The peer forgot the dialog, or never acknowledged, or agreed to nothing: the call must end. */
  onFatal(cause: 'no_response' | 'session_expired' | 'media_refused'): void;
  /** Resolves after that many milliseconds, or when the call ends. */
  pause(delayMs: number): Promise<void>;
  isOver(): boolean;
}

const MAX_TRIES = 4;

export class Offers {
  readonly #parts: OffersParts;
  #negotiation: Negotiation;
  #proposing = false;
  /** Our 2xx to the peer's INVITE that waits for its ACK. */
  #unacknowledged: { readonly sequence: number; readonly repetition: Repetition } | undefined;

  constructor(parts: OffersParts) {
    this.#parts = parts;
    this.#negotiation = parts.negotiation;
  }

  get negotiation(): Negotiation {
    return this.#negotiation;
  }

  /** Something is agreed on and no offer of ours waits. */
  get isSettled(): boolean {
    const { media, pending } = this.#negotiation;
    return media !== undefined && pending === undefined;
  }

  /** Replaces the state while the dialog is early. */
  adopt(negotiation: Negotiation): void {
    this.#negotiation = negotiation;
  }

  stop(): void {
    this.#unacknowledged?.repetition.stop();
    this.#unacknowledged = undefined;
  }

  /** Answers a peer's re-INVITE or UPDATE. */
  receive(transaction: ServerTransaction): void {
    const { request } = transaction;
    const { host, channel, user } = this.#parts;
    const sdp = sdpOf(request);
    const invite = request.method === 'INVITE';
    const offering = invite || sdp !== undefined;
    if (hasForeignBody(request)) return reply(transaction, 415, [['Accept', 'application/sdp']]);
    if (offering && (this.#proposing || this.#unacknowledged !== undefined)) return reply(transaction, 491);
    const timer = answerTimer(request.headers, host.settings.sessionTimer);
    if (timer.kind === 'too_small') return reply(transaction, 422, timer.headers);
    if (offering && !this.#answer(sdp)) return reply(transaction, 488);
    channel.refreshTarget(request.headers);
    const response = responseTo(request, 200, {
      headers: Headers.from([
        contactLine(host, transaction.source, user, channel.dialog.target.scheme === 'sips'),
        ALLOW,
        SUPPORTED,
        ...(timer.kind === 'on' ? timer.headers : []),
        ...(offering ? [SDP_TYPE] : []),
      ]),
      ...(offering ? { body: Buffer.from(this.#negotiation.text) } : {}),
    });
    transaction.respond(response);
    if (invite) this.awaitAck(transaction, response);
    this.#parts.onTimer(timer.kind === 'on' ? timer.timer : undefined);
  }

  /** Takes the peer's offer, or makes ours when its INVITE has none. False when there is no agreement. */
  #answer(sdp: string | undefined): boolean {
    if (sdp === undefined) {
      this.#negotiation = offer(this.#negotiation).negotiation;
      return true;
    }
    const taken = takeOffer(this.#negotiation, sdp);
    if (taken.kind === 'agreed') this.#adoptAgreed(taken.negotiation, taken.media);
    return taken.kind === 'agreed';
  }

  #adoptAgreed(negotiation: Negotiation, media: NegotiatedMedia): void {
    this.#negotiation = negotiation;
    this.#parts.onMedia(media);
  }

  /** Repeats our 2xx until its ACK comes; without one the call is over (RFC 3261 §13.3.1.4). */
  awaitAck(transaction: ServerTransaction, response: SipResponse): void {
    const { host } = this.#parts;
    const giveUp = (): void => {
      this.#unacknowledged = undefined;
      this.#parts.onFatal('no_response');
    };
    const again = (): void => transaction.respond(response);
    const repetition = repeatUntilStopped(host.stack, host.stack.timers.t2Ms, again, giveUp);
    this.#unacknowledged = { sequence: transaction.request.cseq.number, repetition };
  }

  /** True when this is the first ACK of the 2xx that waits for one. */
  acknowledged(ack: SipRequest): boolean {
    if (this.#unacknowledged?.sequence !== ack.cseq.number) return false;
    this.stop();
    if (this.#negotiation.pending === undefined || this.#proposing) return true;
    const sdp = sdpOf(ack);
    const taken = sdp === undefined ? undefined : takeAnswer(this.#negotiation, sdp);
    if (taken?.kind === 'agreed') this.#adoptAgreed(taken.negotiation, taken.media);
    else {
      this.#negotiation = withdraw(this.#negotiation);
      this.#parts.onFatal('media_refused');
    }
    return true;
  }

  /** Offers a change (or, with none, the same again: a refresh) and applies it when the peer agrees. Never rejects. */
  async propose(
    change: MediaChange,
    method: 'INVITE' | 'UPDATE',
    running?: SessionTimer,
  ): Promise<Renegotiation> {
    if (this.#parts.isOver()) return { kind: 'failed', why: 'ended' };
    if (this.#proposing || this.#unacknowledged !== undefined) return { kind: 'failed', why: 'busy' };
    let status = 491;
    for (let tries = 0; tries < MAX_TRIES && status === 491; tries += 1) {
      this.#proposing = true;
      const result = await this.#proposeOnce(change, method, running);
      this.#proposing = false;
      if (typeof result !== 'number') return result;
      status = result;
      if (status === 491) await this.#parts.pause(this.#glareDelayMs());
      if (this.#parts.isOver()) return { kind: 'failed', why: 'ended' };
    }
    return { kind: 'refused', status };
  }

  /** RFC 3261 §14.1: the side that owns the Call-ID waits 2.1 to 4 s, the other at most 2 s. */
  #glareDelayMs(): number {
    const fraction = randomFraction(this.#parts.host.stack.random);
    return this.#parts.role === 'uac' ? 2_100 + fraction * 1_900 : fraction * 2_000;
  }

  async #proposeOnce(
    change: MediaChange,
    method: 'INVITE' | 'UPDATE',
    running?: SessionTimer,
  ): Promise<Renegotiation | number> {
    const { host, channel } = this.#parts;
    const made = offer(this.#negotiation, change);
    this.#negotiation = made.negotiation;
    const outcome = await channel.request(method, {
      body: Buffer.from(made.sdp),
      headers: (hop) => [
        ...this.#targetLines(hop),
        ...requestHeaders(host.settings.sessionTimer, running),
        SDP_TYPE,
      ],
    });
    if (outcome.kind === 'failed' || !isSuccess(outcome.response)) {
      this.#negotiation = withdraw(this.#negotiation);
      if (outcome.kind === 'response' && !isGone(outcome.response)) return outcome.response.status;
      this.#parts.onFatal(outcome.kind === 'response' ? 'session_expired' : 'no_response');
      return { kind: 'failed', why: 'ended' };
    }
    const { response, request } = outcome;
    channel.refreshTarget(response.headers);
    if (method === 'INVITE') await channel.ack(request);
    if (this.#parts.isOver()) return { kind: 'failed', why: 'ended' };
    this.#parts.onTimer(timerFromResponse(response.headers));
    const sdp = sdpOf(response);
    const taken = sdp === undefined ? undefined : takeAnswer(this.#negotiation, sdp);
    if (taken?.kind === 'agreed') {
      this.#adoptAgreed(taken.negotiation, taken.media);
      return { kind: 'agreed', media: taken.media };
    }
    this.#parts.onFatal('media_refused');
    return { kind: 'failed', why: 'ended' };
  }

  #targetLines(hop: Parameters<typeof contactLine>[1]): HeaderLine[] {
    const { host, channel, user } = this.#parts;
    return [contactLine(host, hop, user, channel.dialog.target.scheme === 'sips'), ALLOW, SUPPORTED];
  }

  /** Refreshes the session without an offer, for peers that know UPDATE. Ends with the status, or undefined when none came. */
  async refresh(running: SessionTimer): Promise<number | undefined> {
    const { host, channel } = this.#parts;
    const outcome = await channel.request('UPDATE', {
      headers: (hop) => [...this.#targetLines(hop), ...requestHeaders(host.settings.sessionTimer, running)],
    });
    if (outcome.kind === 'failed') return undefined;
    if (isSuccess(outcome.response) && !this.#parts.isOver())
      this.#parts.onTimer(timerFromResponse(outcome.response.headers));
    return outcome.response.status;
  }
}

/** 481 and 408 mean that the peer has no such dialog any more (RFC 3261 §12.2.1.2). */
export function isGone({ status }: SipResponse): boolean {
  return status === 481 || status === 408;
}
