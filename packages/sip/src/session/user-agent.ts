/**
 * The user agent: makes calls, takes calls, and answers whatever else arrives.
 *
 * Invariants
 * - A1 Nobody makes us dial: REFER is refused, 3xx is not followed. (We may ask others to, with a REFER of ours.)
 * - A2 An INVITE from a source that `allowSource` does not know gets 403, at a limited rate, then silence.
 * - A3 After a call is over nothing of it is left in any table once its transactions have timed out.
 */

import { type Clock, systemClock } from '../clock.ts';
import { dialogFromRequest, keyOfRequest } from '../dialog/dialog.ts';
import type { Stack } from '../dialog/stack.ts';
import { type Resolver, systemResolver } from '../dns/resolve.ts';
import { tagOf } from '../message/address.ts';
import { hasForeignBody, sdpOf } from '../message/fields.ts';
import { singleLine } from '../message/grammar.ts';
import type { HeaderLine } from '../message/headers.ts';
import type { SipRequest } from '../message/message.ts';
import { type Random, randomToken, systemRandom } from '../random.ts';
import { type ServerTransaction, TransactionLayer } from '../transaction/layer.ts';
import { DEFAULT_TIMERS, type TimerSettings } from '../transaction/machine.ts';
import type { Network, Source } from '../transport/network.ts';
import { type AdmissionLimits, DEFAULT_ADMISSION_LIMITS, SourceLimiter } from './admission.ts';
import {
  ALLOW,
  ALLOWED_METHODS,
  type DialogOwner,
  type Host,
  reply,
  SUPPORTED,
  SUPPORTED_EXTENSIONS,
} from './host.ts';
import { Incoming, type IncomingCall } from './incoming.ts';
import { type Monitor, type MonitorOptions, startMonitor } from './monitor.ts';
import { endedByRequest } from './outcome.ts';
import { type CallOptions, Outgoing, type OutgoingCall } from './outgoing.ts';
import { type RegisterOptions, type Registration, startRegistration } from './registration.ts';
import { answerTimer, DEFAULT_SESSION_TIMER, type SessionTimerPolicy } from './session-timer.ts';

export interface UserAgentOptions {
  /** Opened by the caller, closed by the user agent. */
  readonly network: Network;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly resolver?: Resolver;
  readonly timers?: Partial<TimerSettings>;
  /** Told in User-Agent and Server. */
  readonly name?: string;
  readonly sessionTimer?: Partial<SessionTimerPolicy>;
  readonly admission?: Partial<AdmissionLimits>;
  readonly maxTransactions?: number;
  readonly maxDialogs?: number;
  /** How long a handler may leave an inbound call unanswered, in milliseconds; 180,000 when absent. */
  readonly inboundRingLimitMs?: number;
  /** Whether an INVITE may come from there; nobody may when absent. */
  allowSource?(source: Source): boolean;
  /** Takes an inbound call. Without it every one is refused with 480. */
  onInvite?(call: IncomingCall): void;
}

export interface UserAgentStats {
  readonly transactions: number;
  /** Early ones included. */
  readonly dialogs: number;
  readonly connections: number;
  /** Messages thrown away by the network below. */
  readonly dropped: number;
}

export interface UserAgent {
  /** Starts a call. Throws `TypeError` or `UnsafeTextError` for options that can not be sent. */
  call(options: CallOptions): OutgoingCall;
  register(options: RegisterOptions): Registration;
  monitor(options: MonitorOptions): Monitor;
  stats(): UserAgentStats;
  /** Ends every call, waits at most `limitMs` (2,000) for the far ends to agree, closes the network. Never rejects. */
  close(limitMs?: number): Promise<void>;
}

const DEFAULT_INBOUND_RING_LIMIT_MS = 180_000;

export function createUserAgent(options: UserAgentOptions): UserAgent {
  return new Agent(options);
}

class Agent implements UserAgent {
  readonly #host: Host;
  readonly #dialogs = new Map<string, DialogOwner>();
  readonly #options: UserAgentOptions;
  readonly #limiter: SourceLimiter;
  readonly #incoming = new Map<ServerTransaction, Incoming>();
  readonly #outgoing = new Set<Outgoing>();
  readonly #services: Host['services'] = new Set();
  readonly #work = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(options: UserAgentOptions) {
    const { network, clock = systemClock, random = systemRandom } = options;
    const timers = { ...DEFAULT_TIMERS, ...options.timers };
    const layer = new TransactionLayer(
      { network, clock, random, timers, maxTransactions: options.maxTransactions ?? 20_000 },
      {
        onRequest: (transaction) => this.#onRequest(transaction),
        onAck: (ack) => this.#dialogs.get(keyOfRequest(ack))?.handleAck(ack),
        onCancel: (invite, cancel) => this.#onCancel(invite, cancel),
        onMalformed: (transaction, status) => this.#refuseStranger(transaction, status),
      },
    );
    this.#options = options;
    const stack: Stack = {
      layer,
      network,
      clock,
      random,
      timers,
      resolver: options.resolver ?? systemResolver(),
    };
    const settings = {
      name: singleLine(options.name ?? 'Trunkcall', 'name'),
      sessionTimer: { ...DEFAULT_SESSION_TIMER, ...options.sessionTimer },
      maxDialogs: options.maxDialogs ?? 10_000,
    };
    this.#host = {
      stack,
      settings,
      dialogs: this.#dialogs,
      services: this.#services,
      track: (work) => this.#track(work),
    };
    this.#limiter = new SourceLimiter({ ...DEFAULT_ADMISSION_LIMITS, ...options.admission }, clock);
  }

  call(options: CallOptions): OutgoingCall {
    const call = new Outgoing(this.#host, options);
    this.#outgoing.add(call);
    void call.outcome.then(() => this.#outgoing.delete(call));
    if (this.#closing === undefined) call.start();
    else call.cancel();
    return call;
  }

  register(options: RegisterOptions): Registration {
    return startRegistration(this.#host, options);
  }

  monitor(options: MonitorOptions): Monitor {
    return startMonitor(this.#host, options);
  }

  stats(): UserAgentStats {
    return {
      transactions: this.#host.stack.layer.size,
      dialogs: this.#dialogs.size,
      ...this.#host.stack.network.stats(),
    };
  }

  #track(work: Promise<unknown>): void {
    this.#work.add(work);
    const forget = (): void => void this.#work.delete(work);
    work.then(forget, forget);
  }

  close(limitMs = 2_000): Promise<void> {
    return (this.#closing ??= this.#close(limitMs));
  }

  async #close(limitMs: number): Promise<void> {
    for (const stop of this.#services) this.#track(Promise.resolve(stop()));
    for (const call of this.#outgoing) {
      call.cancel();
      this.#track(call.outcome);
    }
    for (const call of this.#incoming.values()) call.close();
    for (const dialog of this.#dialogs.values()) dialog.close();
    await new Promise<void>((resolve) => {
      const limit = this.#host.stack.clock.setTimer(limitMs, resolve);
      void this.#settled().then(() => {
        limit.cancel();
        resolve();
      });
    });
    for (const call of this.#outgoing) call.abandon();
    this.#host.stack.layer.close();
    await this.#host.stack.network.close();
  }

  /** Work can bring more work (a cancelled call that was answered wants its BYE). */
  async #settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  #onRequest(transaction: ServerTransaction): void {
    const { request } = transaction;
    if (tagOf(request.to) === undefined) return this.#onFreshRequest(transaction);
    const dialog = this.#dialogs.get(keyOfRequest(request));
    const unsupported = unsupportedExtensions(request);
    if (dialog === undefined) return this.#refuseStranger(transaction, 481);
    if (unsupported !== undefined) return reply(transaction, 420, [unsupported]);
    return dialog.handleRequest(transaction);
  }

  #onFreshRequest(transaction: ServerTransaction): void {
    const { request, source } = transaction;
    const { method } = request;
    if (this.#closing !== undefined) return this.#refuseStranger(transaction, 503);
    const unsupported = unsupportedExtensions(request);
    const known = (ALLOWED_METHODS as readonly string[]).includes(method);
    if (!known) return this.#refuseStranger(transaction, 405, [ALLOW]);
    if (method === 'INVITE' && this.#options.allowSource?.(source) !== true)
      return this.#refuseStranger(transaction, 403);
    if (unsupported !== undefined && method !== 'CANCEL')
      return this.#refuseStranger(transaction, 420, [unsupported]);
    if (method === 'INVITE') return this.#onInvite(transaction);
    if (method === 'OPTIONS') {
      return this.#refuseStranger(transaction, 200, [
        ALLOW,
        SUPPORTED,
        ['Accept', 'application/sdp'],
        ['Server', this.#host.settings.name],
      ]);
    }
    return this.#refuseStranger(transaction, 481);
  }

  /** Answers a request that belongs to no call, at the rate that its source may claim; beyond that, silence. */
  #refuseStranger(transaction: ServerTransaction, status: number, lines: readonly HeaderLine[] = []): void {
    const { source } = transaction;
    const welcome = this.#options.allowSource?.(source) === true || this.#limiter.take(source.address);
    if (welcome) reply(transaction, status, lines, randomToken(this.#host.stack.random));
    else transaction.drop();
  }

  #onInvite(transaction: ServerTransaction): void {
    const { request } = transaction;
    const localTag = randomToken(this.#host.stack.random);
    const refuse = (status: number, lines: readonly HeaderLine[] = []): void =>
      reply(transaction, status, lines, localTag);
    const sdp = sdpOf(request);
    const timer = answerTimer(request.headers, this.#host.settings.sessionTimer);
    const dialog = dialogFromRequest(request, localTag);
    const flaw = invitationFlaw(request);
    if (this.#host.stack.layer.isMerged(transaction)) return refuse(482);
    if (flaw !== undefined) return refuse(flaw);
    if (hasForeignBody(request)) return refuse(415, [['Accept', 'application/sdp']]);
    if (dialog === undefined) return refuse(400);
    if (timer.kind === 'too_small') return refuse(422, timer.headers);
    if (this.#options.onInvite === undefined) return refuse(480);
    if (this.#dialogs.size >= this.#host.settings.maxDialogs) return refuse(503, [['Retry-After', '10']]);
    const incoming = new Incoming({
      host: this.#host,
      transaction,
      dialog,
      localTag,
      offered: sdp,
      timer,
      user: request.uri.scheme === 'other' ? undefined : request.uri.user,
      ringLimitMs: this.#options.inboundRingLimitMs ?? DEFAULT_INBOUND_RING_LIMIT_MS,
    });
    this.#incoming.set(transaction, incoming);
    void incoming.outcome.then(() => this.#incoming.delete(transaction));
    return this.#options.onInvite(incoming);
  }

  #onCancel(invite: ServerTransaction, cancel: ServerTransaction): void {
    reply(cancel, 200, [], randomToken(this.#host.stack.random));
    this.#incoming.get(invite)?.withdraw(endedByRequest(cancel.request));
  }
}

/** The Unsupported header for the extensions that a request demands and we lack. */
function unsupportedExtensions(request: SipRequest): HeaderLine | undefined {
  const known: readonly string[] = SUPPORTED_EXTENSIONS;
  const missing = request.headers.tokens('Require').filter((tag) => !known.includes(tag));
  return missing.length === 0 ? undefined : ['Unsupported', missing.join(', ')];
}

/** The status that refuses an INVITE for what it asks, apart from its session description. */
function invitationFlaw(request: SipRequest): number | undefined {
  if (request.uri.scheme === 'other' && !/^tel:/i.test(request.uri.text)) return 416;
  const accepted = request.headers.tokens('Accept').map((item) => item.split(';')[0]?.trim());
  const takesSdp =
    accepted.length === 0 ||
    accepted.some((type) => type === 'application/sdp' || type === 'application/*' || type === '*/*');
  return takesSdp ? undefined : 406;
}
