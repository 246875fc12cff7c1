/** An outgoing call: carries out what `outgoing-state.ts` decides. */

import { Authenticator, type Credentials } from '../auth/digest.ts';
import type { Timer } from '../clock.ts';
import { hopsFor } from '../dialog/stack.ts';
import type { Address } from '../message/address.ts';
import { type Reason, sdpOf, writeReason } from '../message/fields.ts';
import { NO_PARAMS, quote } from '../message/grammar.ts';
import { Headers, type HeaderLine } from '../message/headers.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import { type SipUri, writeUri } from '../message/uri.ts';
import { randomToken } from '../random.ts';
import type { LocalMedia, NegotiatedMedia } from '../sdp/negotiate.ts';
import type { ClientTransaction } from '../transaction/layer.ts';
import type { Hop } from '../transport/network.ts';
import { type Branch, Branches } from './branches.ts';
import type { Call, CallHandlers } from './call.ts';
import {
  ALLOW,
  contactLine,
  type Host,
  isSuccess,
  requireExtraHeaders,
  requireSipUri,
  SDP_TYPE,
  SUPPORTED,
} from './host.ts';
import { type Negotiation, offer, startNegotiation } from './negotiation.ts';
import { type Ended, endedByNetwork, endedByResponse, endedByUs, type EndReason } from './outcome.ts';
import {
  nextOutgoing,
  type OutgoingEffect,
  type OutgoingEvent,
  type OutgoingState,
} from './outgoing-state.ts';
import { raisedPolicy, requestHeaders, type SessionTimerPolicy } from './session-timer.ts';

export interface Progress {
  /** 180, 183 or another provisional status above 100. */
  readonly status: number;
  readonly reason: string;
  /** What early media comes with this response, if it brought an answer. */
  readonly media?: NegotiatedMedia | undefined;
}

export interface CallOptions extends CallHandlers {
  /** SIP URI of the callee. */
  readonly to: string;
  /** SIP URI of the caller; its user part is also the one of our Contact. */
  readonly from: string;
  readonly fromName?: string;
  readonly media: LocalMedia;
  /** SIP URI of the proxy to send to; the callee's own URI decides when absent. */
  readonly proxy?: string;
  readonly credentials?: Credentials;
  /** Further header fields of the INVITE. */
  readonly headers?: readonly HeaderLine[];
  /** How long it may ring, in milliseconds from the call of this function; 180,000 when absent. */
  readonly ringLimitMs?: number;
  readonly sessionTimer?: Partial<SessionTimerPolicy>;
  /** Takes the call back, or ends it when it is answered already. */
  readonly signal?: AbortSignal;
  onProgress?(progress: Progress): void;
}

export interface Answered {
  readonly kind: 'answered';
  readonly call: Call;
  readonly media: NegotiatedMedia;
}

export type CallOutcome = Answered | Ended;

export interface OutgoingCall {
  readonly callId: string;
  /** Whether anything at all has come back, even a 100. */
  readonly responded: boolean;
  /** Resolves when the call is answered or has ended. Never rejects. */
  readonly outcome: Promise<CallOutcome>;
  /** Takes the call back; nothing happens once it is answered or ended. Throws for line breaks in the reason. */
  cancel(reason?: Reason): void;
}

const DEFAULT_RING_LIMIT_MS = 180_000;
/** Several 422 on one path, each asking for more, must end. */
const MAX_INTERVAL_RAISES = 3;

export class Outgoing implements OutgoingCall {
  readonly callId: string;
  readonly outcome: Promise<CallOutcome>;
  readonly #host: Host;
  readonly #options: CallOptions;
  readonly #uri: SipUri;
  readonly #target: SipUri;
  readonly #from: Address;
  readonly #authenticator: Authenticator | undefined;
  readonly #offered: Negotiation;
  readonly #branches: Branches;
  readonly #user: string | undefined;
  #resolve: (outcome: CallOutcome) => void = () => undefined;
  #state: OutgoingState = 'starting';
  #timerPolicy: SessionTimerPolicy;
  #hops: Hop[] = [];
  #sequence = 1;
  #transaction: ClientTransaction | undefined;
  #authorizedTries = 0;
  #intervalRaises = 0;
  #provisional: number | undefined;
  #responded = false;
  #stopped: { readonly reason: EndReason; readonly lines: readonly HeaderLine[] } | undefined;
  #ringLimit: Timer | undefined;

  /** Throws `TypeError` or `UnsafeTextError` for options that can not be sent. */
  constructor(host: Host, options: CallOptions) {
    const { stack, settings } = host;
    this.#host = host;
    this.#options = options;
    requireExtraHeaders(options.headers ?? []);
    this.#uri = requireSipUri(options.to, 'to');
    this.#target = options.proxy === undefined ? this.#uri : requireSipUri(options.proxy, 'proxy');
    const from = requireSipUri(options.from, 'from');
    this.#user = from.user;
    this.#from = {
      display: options.fromName === undefined ? '' : quote(options.fromName),
      uri: from,
      params: new Map([['tag', randomToken(stack.random)]]),
    };
    this.#timerPolicy = { ...settings.sessionTimer, ...options.sessionTimer };
    this.#authenticator = options.credentials && new Authenticator(options.credentials, stack.random);
    this.#offered = offer(startNegotiation(options.media, stack.random)).negotiation;
    this.#branches = new Branches({
      host,
      authenticator: this.#authenticator,
      offered: this.#offered,
      user: this.#user,
      handlers: options,
    });
    this.callId = randomToken(stack.random, 16);
    this.outcome = new Promise((resolve) => (this.#resolve = resolve));
  }

  get responded(): boolean {
    return this.#responded;
  }

  start(): void {
    const { signal, ringLimitMs = DEFAULT_RING_LIMIT_MS } = this.#options;
    const { clock } = this.#host.stack;
    this.#ringLimit = clock.setTimer(ringLimitMs, () => this.#stop('ring_limit', []));
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted) this.#onAbort();
    void hopsFor(this.#host.stack, this.#target).then((hops) => {
      if (this.#state !== 'starting') return;
      this.#hops = hops;
      if (hops.length === 0) this.#dispatch('failure', () => endedByNetwork('unreachable'));
      else {
        this.#dispatch('sent');
        this.#sendInvite();
      }
    });
  }

  readonly #onAbort = (): void => this.#stop('aborted', []);

  cancel(reason?: Reason): void {
    this.#stop('cancelled', reason === undefined ? [] : [['Reason', writeReason(reason)]]);
  }

  /** Gives up waiting for the far end's reaction to a cancellation: the user agent closes. */
  abandon(): void {
    this.#dispatch('giveUp');
  }

  #stop(reason: EndReason, lines: readonly HeaderLine[]): void {
    this.#stopped ??= { reason, lines };
    this.#dispatch('stop');
  }

  /** `ending` says how the call ends if this event ends it; `response` is the 2xx of a success. */
  #dispatch(event: OutgoingEvent, ending?: () => Ended, response?: SipResponse): void {
    const { state, effects } = nextOutgoing(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect, ending, response);
  }

  #carryOut(
    effect: OutgoingEffect,
    ending: (() => Ended) | undefined,
    response: SipResponse | undefined,
  ): void {
    switch (effect) {
      case 'sendInvite':
        return this.#sendInvite();
      case 'sendCancel':
        return this.#sendCancel();
      case 'confirm':
        return response && this.#confirm(response);
      case 'release':
        return response && this.#releaseAnswered(response);
      case 'finish':
        return this.#finish(this.#howItEnded(ending));
    }
  }

  /** What the far end said counts, unless it only says that it obeyed us (487). */
  #howItEnded(ending: (() => Ended) | undefined): Ended {
    const stated = ending?.();
    const stopped = this.#stopped;
    if (stopped === undefined) return stated ?? endedByNetwork('no_response', this.#provisional);
    const refused =
      stated?.sipStatus !== undefined && stated.sipStatus !== 487 && stated.reason !== 'unauthorized';
    if (refused) return stated;
    return {
      ...endedByUs(stopped.reason, stated?.sipStatus),
      q850: stated?.q850,
      provisional: this.#provisional,
    };
  }

  #finish(outcome: CallOutcome): void {
    this.#ringLimit?.cancel();
    if (outcome.kind === 'ended') {
      this.#options.signal?.removeEventListener('abort', this.#onAbort);
      this.#branches.releaseEarly(outcome);
    }
    this.#resolve(outcome);
  }

  #sendInvite(): void {
    const [hop] = this.#hops;
    if (hop === undefined) return;
    const { layer } = this.#host.stack;
    const transaction = layer.request(this.#makeInvite(hop), hop, {
      onResponse: (response) => this.#onResponse(response),
      onFailure: (failure) => {
        if (this.#transaction !== transaction) return;
        // What was too large for UDP found no TCP there: the same place gets it over UDP after all.
        const overUdp = failure === 'transport_error' && transaction.hop !== hop;
        if (overUdp) this.#dispatch('retry');
        else this.#onSilence(failure);
      },
    });
    this.#transaction = transaction;
  }

  #makeInvite(hop: Hop): SipRequest {
    const uriText = writeUri(this.#uri);
    const headers: HeaderLine[] = [
      ['Max-Forwards', '70'],
      contactLine(this.#host, hop, this.#user, this.#uri.scheme === 'sips'),
      ...(this.#authenticator?.headersFor('INVITE', uriText) ?? []),
      ALLOW,
      SUPPORTED,
      ...requestHeaders(this.#timerPolicy),
      ['User-Agent', this.#host.settings.name],
      ...(this.#options.headers ?? []),
      SDP_TYPE,
    ];
    return {
      kind: 'request',
      method: 'INVITE',
      uri: this.#uri,
      via: [],
      from: this.#from,
      to: { display: '', uri: this.#uri, params: NO_PARAMS },
      callId: this.callId,
      cseq: { number: this.#sequence, method: 'INVITE' },
      headers: Headers.from(headers),
      body: Buffer.from(this.#offered.text),
    };
  }

  #sendCancel(): void {
    if (this.#transaction === undefined) return;
    this.#host.stack.layer.cancel(this.#transaction, this.#stopped?.lines);
  }

  #onSilence(failure: 'timeout' | 'transport_error'): void {
    if (this.#nextHop()) this.#dispatch('retry');
    else
      this.#dispatch('failure', () =>
        endedByNetwork(failure === 'timeout' ? 'no_response' : 'unreachable', this.#provisional),
      );
  }

  /** Moves on to the next place while no phone can have rung; false when there is none. */
  #nextHop(): boolean {
    if (this.#hops.length < 2 || (this.#provisional ?? 0) > 100) return false;
    this.#hops.shift();
    return true;
  }

  #onResponse(response: SipResponse): void {
    this.#responded = true;
    if (response.status < 200) {
      this.#provisional = Math.max(this.#provisional ?? 0, response.status);
      this.#dispatch('provisional');
      if (this.#state === 'proceeding' && response.status > 100) this.#onProgress(response);
    } else if (isSuccess(response)) {
      const branch = this.#branches.find(response);
      if (branch?.acknowledged) branch.call.channel.repeatAck(response);
      else this.#dispatch('success', undefined, response);
    } else {
      const ending = (): Ended => endedByResponse(response, this.#provisional);
      this.#dispatch(this.#curable(response) ? 'retry' : 'failure', ending);
    }
  }

  /**
   * Prepares another try if the failure lets hope for one. The next hop gets the same CSeq: should both reach
   * one phone, it refuses the second as merged (RFC 3261 §8.2.2.2) and does not ring twice.
   */
  #curable(response: SipResponse): boolean {
    const { status, headers } = response;
    if (status === 401 || status === 407) {
      if (this.#authenticator?.challenged(response, this.#authorizedTries) !== true) return false;
      this.#authorizedTries += 1;
      this.#sequence += 1;
      return true;
    }
    if (status === 422 && this.#intervalRaises < MAX_INTERVAL_RAISES) {
      const raised = raisedPolicy(this.#timerPolicy, headers);
      if (raised === undefined) return false;
      this.#timerPolicy = raised;
      this.#intervalRaises += 1;
      this.#sequence += 1;
      return true;
    }
    return status === 503 && this.#nextHop();
  }

  #onProgress(response: SipResponse): void {
    const { status, reason } = response;
    const branch = this.#branch(response);
    if (branch === undefined) this.#options.onProgress?.({ status, reason });
    else if (this.#branches.acceptProvisional(branch, response)) {
      const media = this.#branches.takeAnswer(branch, response);
      if (media !== undefined) this.#options.onMedia?.(media);
      this.#options.onProgress?.({ status, reason, media });
    }
  }

  #branch(response: SipResponse): Branch | undefined {
    return this.#transaction && this.#branches.open(response, this.#transaction, this.#timerPolicy);
  }

  /** Acknowledges a 2xx; undefined when it opens no dialog. */
  #acknowledge(response: SipResponse): Branch | undefined {
    const branch = this.#branch(response);
    if (branch !== undefined && this.#transaction !== undefined) {
      this.#branches.confirm(branch, response, this.#transaction);
    }
    return branch;
  }

  #confirm(response: SipResponse): void {
    const branch = this.#acknowledge(response);
    // Somebody answered all the same: the status must show it, or the caller would try elsewhere.
    if (branch === undefined)
      return this.#finish({
        ...endedByNetwork('no_response', this.#provisional),
        sipStatus: response.status,
      });
    const { call } = branch;
    const early = call.media;
    // A reliable early answer is not repeated in the 2xx (RFC 6337 §2.2); an unusable one refuses the media.
    const media = sdpOf(response) === undefined ? early : this.#branches.takeAnswer(branch, response);
    this.#branches.releaseEarly(endedByUs('cancelled'));
    if (media === undefined) {
      this.#host.track(call.endFor('media_refused'));
      return this.#finish({ ...endedByUs('media_refused', response.status), provisional: this.#provisional });
    }
    if (media !== early) this.#options.onMedia?.(media);
    const { signal } = this.#options;
    const endCall = (): void => void call.endFor('aborted');
    signal?.removeEventListener('abort', this.#onAbort);
    signal?.addEventListener('abort', endCall);
    void call.ended.then(() => signal?.removeEventListener('abort', endCall));
    return this.#finish({ kind: 'answered', call, media });
  }

  #releaseAnswered(response: SipResponse): void {
    const branch = this.#acknowledge(response);
    if (branch !== undefined) this.#host.track(branch.call.endFor('cancelled'));
  }
}
