/**
 * A call: one dialog from its first tagged response to its end, on either side.
 *
 *   early ──confirm──▶ confirmed ──BYE of either side, expiry, lost peer──▶ ended
 *     └───────────────── released ─────────────────────────────────────────▲
 *
 * Invariants
 * - C1 `ended` resolves exactly once, and from then on the call holds no timer.
 * - C2 A confirmed call that ends without the peer's BYE sends one.
 * - C3 The dialog stays in the host's table until its BYE is answered, so that a crossing BYE gets its 200.
 */

import type { Timer } from '../clock.ts';
import type { DialogChannel } from '../dialog/channel.ts';
import { keyOfDialog } from '../dialog/dialog.ts';
import { type Reason, writeReason } from '../message/fields.ts';
import type { HeaderLine } from '../message/headers.ts';
import type { SipRequest } from '../message/message.ts';
import type { NegotiatedMedia } from '../sdp/negotiate.ts';
import { writeUri } from '../message/uri.ts';
import type { ServerTransaction } from '../transaction/layer.ts';
import { ALLOW, contactLine, type DialogOwner, type Host, reply, requireSipUri, SUPPORTED } from './host.ts';
import type { Negotiation } from './negotiation.ts';
import { isGone, type MediaChange, Offers, type Renegotiation } from './offers.ts';
import { type Ended, endedByNetwork, endedByRequest, endedByUs, type EndReason } from './outcome.ts';
import type { ReferOutcome } from './refer-state.ts';
import { isOfRefer, readReferNotify, referAnswered, Referral } from './referral.ts';
import { type SessionTimer, timerDuty } from './session-timer.ts';

/** What came in an INFO request: key presses of old gateways, for example. */
export interface Info {
  readonly contentType: string;
  readonly body: string;
}

/** What happens in a call. A handler must not throw: it runs where messages arrive. */
export interface CallHandlers {
  /** The agreed media is new or changed: early media, the answer, hold and resume by either side. */
  onMedia?(media: NegotiatedMedia): void;
  onInfo?(info: Info): void;
}

/** An answered call. */
export interface Call {
  readonly callId: string;
  /** What both sides agreed on last. */
  readonly media: NegotiatedMedia | undefined;
  /** Resolves when the call is over, however it ends. Never rejects. */
  readonly ended: Promise<Ended>;
  /**
   * Ends the call with a BYE. Resolves with how it ended, which may have been earlier. Throws `UnsafeTextError`
   * for a line break in the reason. Safe to repeat.
   */
  hangup(reason?: Reason): Promise<Ended>;
  /** Puts the peer on hold with a re-INVITE: we go on sending (music, silence), it stops. Never rejects. */
  hold(): Promise<Renegotiation>;
  resume(): Promise<Renegotiation>;
  /** Offers changed media by re-INVITE or UPDATE; glare is waited out, up to four tries. Never rejects. */
  renegotiate(change: MediaChange, method?: 'INVITE' | 'UPDATE'): Promise<Renegotiation>;
  /**
   * Sends an INFO request. Resolves to the status of its answer, or undefined when there is none or the call is
   * over. Rejects with `UnsafeTextError` for a line break in the content type.
   */
  sendInfo(info: Info): Promise<number | undefined>;
  /**
   * Asks the peer to call `target` (a SIP URI) in our place (REFER, RFC 3515), and waits at most `limitMs` for how
   * that ends. The call itself goes on: whoever asked hangs up, or does not. One at a time: another one is
   * refused at once while the peer may still be at it, also past the limit. Never rejects. Throws `TypeError` for a target that is no SIP URI.
   */
  refer(target: string, limitMs: number): Promise<ReferOutcome>;
}

export interface CallParts {
  readonly host: Host;
  readonly channel: DialogChannel;
  readonly role: 'uac' | 'uas';
  /** The user part of our Contact. */
  readonly user: string | undefined;
  readonly negotiation: Negotiation;
  readonly handlers: CallHandlers;
  /** The peer's BYE or PRACK while the call is early. */
  onEarlyRequest?(transaction: ServerTransaction): void;
  /** The ACK of the 2xx that we answered the call with. */
  onAcknowledged?(): void;
}

export class CallDialog implements Call, DialogOwner {
  readonly ended: Promise<Ended>;
  readonly channel: DialogChannel;
  readonly offers: Offers;
  readonly #parts: CallParts;
  readonly #key: string;
  #state: 'early' | 'confirmed' | 'ended' = 'early';
  #resolveEnded: (ended: Ended) => void = () => undefined;
  #sessionTimer:
    | { readonly timer: SessionTimer; readonly duty: Timer; readonly expiresAt: number }
    | undefined;
  #peerKnowsUpdate = false;
  /** The last REFER that we sent. */
  #referral: Referral | undefined;
  /** Stops waiting for the answer to our BYE. */
  readonly #leaving = new AbortController();

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.channel = parts.channel;
    this.#key = keyOfDialog(parts.channel.dialog);
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.offers = new Offers({
      host: parts.host,
      channel: parts.channel,
      negotiation: parts.negotiation,
      user: parts.user,
      role: parts.role,
      onMedia: (media) => parts.handlers.onMedia?.(media),
      onTimer: (timer) => this.#armSessionTimer(timer),
      onFatal: (cause) => this.#onFatal(cause),
      pause: (delayMs) => this.#pause(delayMs),
      isOver: () => this.#state !== 'confirmed',
    });
    parts.host.dialogs.set(this.#key, this);
  }

  get callId(): string {
    return this.channel.dialog.callId;
  }

  get media(): NegotiatedMedia | undefined {
    return this.offers.negotiation.media;
  }

  hangup(reason?: Reason): Promise<Ended> {
    return this.#leave(endedByUs('hangup'), reason === undefined ? [] : [['Reason', writeReason(reason)]]);
  }

  /** Ends the call for a cause of our own; what `ended` says then. */
  endFor(reason: EndReason): Promise<Ended> {
    return this.#leave(endedByUs(reason));
  }

  hold(): Promise<Renegotiation> {
    return this.renegotiate({ wanted: 'sendonly' });
  }

  resume(): Promise<Renegotiation> {
    return this.renegotiate({ wanted: 'sendrecv' });
  }

  renegotiate(change: MediaChange, method: 'INVITE' | 'UPDATE' = 'INVITE'): Promise<Renegotiation> {
    return this.offers.propose(change, method, this.#sessionTimer?.timer);
  }

  async sendInfo({ contentType, body }: Info): Promise<number | undefined> {
    if (this.#state !== 'confirmed') return undefined;
    const lines: HeaderLine[] = [['Content-Type', contentType]];
    const outcome = await this.channel.request('INFO', { headers: () => lines, body: Buffer.from(body) });
    if (outcome.kind === 'failed') return undefined;
    if (isGone(outcome.response)) void this.#leave(endedByNetwork('session_expired'));
    return outcome.response.status;
  }

  refer(target: string, limitMs: number): Promise<ReferOutcome> {
    const uri = writeUri(requireSipUri(target, 'target'));
    if (this.#state !== 'confirmed' || this.#referral?.isPending === true) {
      const reason = this.#state === 'confirmed' ? 'refused' : 'call_ended';
      return Promise.resolve({ kind: 'failed', reason, sipStatus: undefined });
    }
    const referral = new Referral(this.#parts.host.stack.clock, limitMs);
    this.#referral = referral;
    const lines: HeaderLine[] = [
      ['Refer-To', `<${uri}>`],
      ['Referred-By', `<${writeUri(this.channel.dialog.local.uri)}>`],
    ];
    const { host, user } = this.#parts;
    const secure = this.channel.dialog.target.scheme === 'sips';
    const request = this.channel.request('REFER', {
      headers: (hop) => [...lines, contactLine(host, hop, user, secure)],
    });
    host.track(request.then((answer) => referral.take(referAnswered(answer))));
    return referral.outcome;
  }

  /** The final response came or went: from now on the call is one. */
  confirm(timer: SessionTimer | undefined, peerAllows: readonly string[]): void {
    if (this.#state !== 'early') return;
    this.#state = 'confirmed';
    this.#peerKnowsUpdate = peerAllows.includes('update');
    this.#armSessionTimer(timer);
  }

  /** Forgets an early call without a word: the transaction that made it has told the peer. */
  release(ended: Ended): void {
    if (this.#state !== 'early') return;
    this.#finish(ended);
    this.#forget();
  }

  close(): void {
    void this.endFor('aborted');
  }

  handleAck(ack: SipRequest): void {
    if (this.offers.acknowledged(ack) && this.#state === 'early') this.#parts.onAcknowledged?.();
  }

  handleRequest(transaction: ServerTransaction): void {
    const { request } = transaction;
    if (!this.channel.take(request)) return reply(transaction, 500, [['Retry-After', '1']]);
    if (request.method === 'BYE') return this.#onBye(transaction);
    if (this.#state === 'ended') return reply(transaction, 481);
    switch (request.method) {
      case 'INVITE':
        return this.#state === 'confirmed' ? this.offers.receive(transaction) : reply(transaction, 491);
      case 'UPDATE':
        return this.#state === 'confirmed' || request.body.length === 0 || this.#mayOfferEarly()
          ? this.offers.receive(transaction)
          : reply(transaction, 491);
      case 'PRACK':
        return this.#state === 'early' && this.#parts.onEarlyRequest
          ? this.#parts.onEarlyRequest(transaction)
          : reply(transaction, 481);
      case 'INFO':
        return this.#onInfo(transaction);
      case 'NOTIFY':
        return this.#onNotify(transaction);
      case 'OPTIONS':
        return reply(transaction, 200, [ALLOW, SUPPORTED, ['Accept', 'application/sdp']]);
      default:
        return reply(transaction, 405, [ALLOW]);
    }
  }

  /** A callee may change its early media once our offer has had its answer (RFC 3311 §5.1). */
  #mayOfferEarly(): boolean {
    return this.#parts.role === 'uac' && this.offers.isSettled;
  }

  #onBye(transaction: ServerTransaction): void {
    reply(transaction, 200);
    // A BYE that crosses ours answers the question that ours asks.
    this.#leaving.abort();
    if (this.#state === 'confirmed') {
      this.#finish(endedByRequest(transaction.request));
      this.#forget();
    } else if (this.#state === 'early') this.#parts.onEarlyRequest?.(transaction);
  }

  #onInfo(transaction: ServerTransaction): void {
    const { headers, body } = transaction.request;
    reply(transaction, 200);
    this.#parts.handlers.onInfo?.({
      contentType: headers.get('Content-Type') ?? '',
      body: body.toString('utf8'),
    });
  }

  /** Progress of a REFER; also after its outcome, until the peer has told all that it has to tell. */
  #onNotify(transaction: ServerTransaction): void {
    if (this.#referral === undefined || !isOfRefer(transaction.request)) return reply(transaction, 481);
    reply(transaction, 200);
    this.#referral.take(readReferNotify(transaction.request));
  }

  /** Says BYE, unless the call is over already. */
  #leave(ended: Ended, lines: readonly HeaderLine[] = []): Promise<Ended> {
    if (this.#state === 'confirmed') {
      this.#finish(ended);
      this.#parts.host.track(
        this.channel
          .request('BYE', { headers: () => lines, signal: this.#leaving.signal })
          .then(() => this.#forget()),
      );
    }
    return this.ended;
  }

  /** An answered call whose ACK never came is still early, but the peer may think otherwise: it gets a BYE. */
  #onFatal(cause: 'no_response' | 'session_expired' | 'media_refused'): void {
    this.confirm(undefined, []);
    void this.#leave(cause === 'media_refused' ? endedByUs(cause) : endedByNetwork(cause));
  }

  #finish(ended: Ended): void {
    this.#state = 'ended';
    this.#sessionTimer?.duty.cancel();
    this.offers.stop();
    this.#referral?.take({ kind: 'call_ended', byPeer: ended.by === 'remote' });
    this.#resolveEnded(ended);
  }

  #forget(): void {
    this.#parts.host.dialogs.delete(this.#key);
  }

  #armSessionTimer(timer: SessionTimer | undefined): void {
    if (this.#state !== 'confirmed') return;
    this.#sessionTimer?.duty.cancel();
    this.#sessionTimer = undefined;
    if (timer === undefined) return;
    const { clock } = this.#parts.host.stack;
    const { duty, afterMs } = timerDuty(timer);
    const fire = (): void => {
      if (duty === 'refresh') this.#parts.host.track(this.#refresh(timer));
      else void this.#leave(endedByNetwork('session_expired'));
    };
    this.#sessionTimer = {
      timer,
      duty: clock.setTimer(afterMs, fire),
      expiresAt: clock.now() + timer.seconds * 1_000,
    };
  }

  /** Refreshes as RFC 4028 §10 asks; a refresh that fails leaves the call alive until the interval is over. */
  async #refresh(timer: SessionTimer): Promise<void> {
    const armed = this.#sessionTimer;
    let status: number | undefined;
    if (this.#peerKnowsUpdate) status = await this.offers.refresh(timer);
    else {
      const outcome = await this.offers.propose({}, 'INVITE', timer);
      status = outcome.kind === 'agreed' ? 200 : outcome.kind === 'refused' ? outcome.status : undefined;
    }
    if (this.#state !== 'confirmed' || this.#sessionTimer !== armed || armed === undefined) return;
    if (status === 481 || status === 408) {
      void this.#leave(endedByNetwork('session_expired'));
      return;
    }
    const { clock } = this.#parts.host.stack;
    const remainingMs = Math.max(0, armed.expiresAt - clock.now());
    const expire = (): void => void this.#leave(endedByNetwork('session_expired'));
    this.#sessionTimer = { ...armed, duty: clock.setTimer(remainingMs, expire) };
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#parts.host.stack.clock.setTimer(delayMs, resolve);
      void this.ended.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}
