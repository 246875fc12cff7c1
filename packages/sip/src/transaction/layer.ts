/**
 * The transaction layer: carries out what the four machines say, with real messages and timers.
 *
 * Invariants
 * - T1 A transaction is in the table exactly while its machine is not terminated; its timers die with it.
 * - T2 The table is bounded. A request too many is dropped when it comes in (the peer repeats it) and refused
 *   when it would go out.
 */

import type { Clock, Timer } from '../clock.ts';
import { Headers } from '../message/headers.ts';
import { NO_BODY, type SipMessage, type SipRequest, type SipResponse } from '../message/message.ts';
import { BRANCH_COOKIE } from '../message/via.ts';
import { type Random, randomToken } from '../random.ts';
import type { Hop, Network, Source } from '../transport/network.ts';
import { INVITE_CLIENT_START, nextInviteClient } from './invite-client.ts';
import { INVITE_SERVER_START, nextInviteServer } from './invite-server.ts';
import { cancelledKey, clientKey, mergeKey, serverKey } from './keys.ts';
import {
  type ClientEvent,
  type Conditions,
  type Effect,
  responseClass,
  type ServerEvent,
  type Step,
  type TimerName,
  type TimerSettings,
} from './machine.ts';
import { NON_INVITE_CLIENT_START, nextNonInviteClient } from './non-invite-client.ts';
import { NON_INVITE_SERVER_START, nextNonInviteServer } from './non-invite-server.ts';
import { StreamSwitch } from './stream-switch.ts';

export interface ClientHandlers {
  /** Provisional responses, the final one, and for INVITE every further 2xx. */
  onResponse(response: SipResponse): void;
  /** The transaction ended without a final response. Called at most once. */
  onFailure(failure: 'timeout' | 'transport_error'): void;
}

export interface ClientTransaction {
  /** As sent, with its Via. */
  readonly request: SipRequest;
  /** Where it went: over TCP instead of UDP when it is large. If that fails, another try stays with UDP. */
  readonly hop: Hop;
}

export interface ServerTransaction {
  readonly request: SipRequest;
  readonly source: Source;
  /** Sends a response, or repeats a 2xx to INVITE. What comes after the final response is ignored. */
  respond(response: SipResponse): void;
  /** Forgets the request without an answer. */
  drop(): void;
}

/** What the layer hands up. */
export interface TransactionUser {
  onRequest(transaction: ServerTransaction): void;
  /** The ACK of a 2xx: it belongs to a dialog, not to a transaction. */
  onAck(ack: SipRequest, source: Source): void;
  /** `invite` is the transaction that `cancel` means. A CANCEL that means none goes to `onRequest`. */
  onCancel(invite: ServerTransaction, cancel: ServerTransaction): void;
  /** A request that does not parse but whose sender can be told. */
  onMalformed(transaction: ServerTransaction, status: number): void;
}

export interface LayerOptions {
  readonly network: Network;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: TimerSettings;
  readonly maxTransactions: number;
}

/** One machine with its state and its timers. */
interface Runner<Event> {
  dispatch(event: Event, response?: SipResponse): void;
  stop(): void;
}

interface ServerEntry extends Runner<ServerEvent> {
  readonly transaction: ServerTransaction;
}

export class TransactionLayer {
  readonly #options: LayerOptions;
  readonly #user: TransactionUser;
  readonly #streams: StreamSwitch;
  readonly #clients = new Map<string, Runner<ClientEvent>>();
  readonly #servers = new Map<string, ServerEntry>();
  /** Which server transaction came first among merged requests. */
  readonly #merged = new Map<string, string>();

  constructor(options: LayerOptions, user: TransactionUser) {
    this.#options = options;
    this.#user = user;
    this.#streams = new StreamSwitch(options.network, options.clock);
    options.network.receive({
      onMessage: (message, source) => this.#onMessage(message, source),
      onMalformed: (answerable, status, source) => this.#onMalformed(answerable, status, source),
    });
  }

  get size(): number {
    return this.#clients.size + this.#servers.size;
  }

  /**
   * Sends a request as a new transaction. `request` has no Via; a CANCEL is made by `cancel`.
   * The handlers are never called before this returns.
   */
  request(request: SipRequest, hop: Hop, handlers: ClientHandlers): ClientTransaction {
    const branch = `${BRANCH_COOKIE}${randomToken(this.#options.random, 12)}`;
    const made = this.#withVia(request, hop, branch);
    const stream = this.#streams.insteadOf(hop, made);
    if (stream === undefined) return this.#start(made, hop, handlers);
    const onFailure = (failure: 'timeout' | 'transport_error'): void => {
      if (failure === 'transport_error') this.#streams.failed(stream);
      handlers.onFailure(failure);
    };
    return this.#start(this.#withVia(request, stream, branch), stream, { ...handlers, onFailure });
  }

  /**
   * Cancels an INVITE that has been answered provisionally: same branch, same route (RFC 3261 §9.1). The INVITE
   * then ends within 64·T1, by a response or as timed out.
   */
  cancel(invite: ClientTransaction, headers: Iterable<readonly [string, string]> = []): void {
    const { request, hop } = invite;
    const cancel: SipRequest = {
      ...request,
      method: 'CANCEL',
      cseq: { number: request.cseq.number, method: 'CANCEL' },
      headers: routeOf(request).with(headers),
      body: NO_BODY,
    };
    this.#start(cancel, hop, { onResponse: () => undefined, onFailure: () => undefined });
    this.#clients.get(clientKey(request))?.dispatch({ type: 'cancel' });
  }

  /** Sends the ACK of a 2xx: a request without a transaction (RFC 3261 §13.2.2.4), with a branch of its own. */
  sendAck(ack: SipRequest, hop: Hop): SipRequest {
    const sent = this.#withVia(ack, hop, `${BRANCH_COOKIE}${randomToken(this.#options.random, 12)}`);
    void this.#options.network.sendRequest(sent, hop);
    return sent;
  }

  /** Repeats an ACK as it was. */
  repeatAck(ack: SipRequest, hop: Hop): void {
    void this.#options.network.sendRequest(ack, hop);
  }

  /** Stops every transaction and timer without a word to anybody. */
  close(): void {
    for (const entry of [...this.#clients.values(), ...this.#servers.values()]) entry.stop();
  }

  #withVia(request: SipRequest, hop: Hop, branch: string): SipRequest {
    const sentBy = this.#options.network.sentBy(hop) ?? { host: 'invalid' };
    const params = new Map([
      ['branch', branch],
      ['rport', null],
    ]);
    return { ...request, via: [{ transport: hop.transport.toUpperCase(), ...sentBy, params }] };
  }

  #conditions(transport: Hop['transport']): Conditions {
    return { timers: this.#options.timers, reliable: transport !== 'udp' };
  }

  #start(request: SipRequest, hop: Hop, handlers: ClientHandlers): ClientTransaction {
    const key = clientKey(request);
    const transaction: ClientTransaction = { request, hop };
    if (this.size >= this.#options.maxTransactions) {
      queueMicrotask(() => handlers.onFailure('transport_error'));
      return transaction;
    }
    const send = (message: SipRequest): void => {
      void this.#options.network.sendRequest(message, hop).then((outcome) => {
        if (outcome.kind === 'failed') runner.dispatch({ type: 'transportError' });
      });
    };
    const carryOut = (effect: Effect, response: SipResponse | undefined): void => {
      if (effect.do === 'send') send(request);
      else if (effect.do === 'ack' && response !== undefined) send(failureAck(request, response));
      else if (effect.do === 'deliver' && response !== undefined) handlers.onResponse(response);
      else if (effect.do === 'reportTimeout') handlers.onFailure('timeout');
      else if (effect.do === 'reportTransportError') handlers.onFailure('transport_error');
    };
    const invite = request.method === 'INVITE';
    const forget = (): void => void this.#clients.delete(key);
    const runner = invite
      ? this.#run(INVITE_CLIENT_START, nextInviteClient, hop, carryOut, forget)
      : this.#run(NON_INVITE_CLIENT_START, nextNonInviteClient, hop, carryOut, forget);
    this.#clients.set(key, runner);
    runner.dispatch({ type: 'start' });
    return transaction;
  }

  #accept(request: SipRequest, source: Source): ServerTransaction | undefined {
    if (this.size >= this.#options.maxTransactions) return undefined;
    const key = serverKey(request);
    const merge = mergeKey(request);
    let latest: SipResponse | undefined;
    const carryOut = (effect: Effect): void => {
      if (effect.do !== 'send' || latest === undefined) return;
      void this.#options.network.sendResponse(latest, source).then((outcome) => {
        if (outcome.kind === 'failed') runner.dispatch({ type: 'transportError' });
      });
    };
    const forget = (): void => {
      this.#servers.delete(key);
      if (this.#merged.get(merge) === key) this.#merged.delete(merge);
    };
    const runner =
      request.method === 'INVITE'
        ? this.#run(INVITE_SERVER_START, nextInviteServer, source, carryOut, forget)
        : this.#run(NON_INVITE_SERVER_START, nextNonInviteServer, source, carryOut, forget);
    const transaction: ServerTransaction = {
      request,
      source,
      respond: (response) => {
        // After a final response only a 2xx may follow a 2xx: nothing else may replace what is repeated.
        const answered = latest !== undefined && latest.status >= 200;
        const bothSuccess =
          latest !== undefined && latest.status < 300 && response.status >= 200 && response.status < 300;
        if (answered && !bothSuccess) return;
        latest = response;
        runner.dispatch({ type: responseClass(response.status) });
      },
      drop: () => runner.stop(),
    };
    this.#servers.set(key, { ...runner, transaction });
    if (!this.#merged.has(merge)) this.#merged.set(merge, key);
    return transaction;
  }

  #run<State extends { readonly name: string }, Event extends ClientEvent | ServerEvent>(
    start: State,
    next: (
      state: State,
      event: Event | { type: 'timer'; timer: TimerName },
      conditions: Conditions,
    ) => Step<State>,
    { transport }: Pick<Hop, 'transport'>,
    carryOut: (effect: Effect, response: SipResponse | undefined) => void,
    forget: () => void,
  ): Runner<Event> {
    const conditions = this.#conditions(transport);
    const timers = new Map<TimerName, Timer>();
    let state = start;
    let stopped = false;
    const stop = (): void => {
      stopped = true;
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
      forget();
    };
    const dispatch = (event: Event | { type: 'timer'; timer: TimerName }, response?: SipResponse): void => {
      if (stopped) return;
      const result = next(state, event, conditions);
      state = result.state;
      if (state.name === 'terminated') stop();
      for (const effect of result.effects) {
        if (effect.do === 'setTimer') {
          timers.get(effect.timer)?.cancel();
          const fire = (): void => dispatch({ type: 'timer', timer: effect.timer });
          timers.set(effect.timer, this.#options.clock.setTimer(effect.delayMs, fire));
        } else if (effect.do === 'clearTimer') timers.get(effect.timer)?.cancel();
        else carryOut(effect, response);
      }
    };
    return { dispatch, stop };
  }

  #onMessage(message: SipMessage, source: Source): void {
    if (message.kind === 'request') {
      this.#onRequest(message, source);
      return;
    }
    // More than one Via means that it is meant for somebody behind us (RFC 3261 §8.1.3.3).
    if (message.via.length > 1) return;
    this.#clients.get(clientKey(message))?.dispatch({ type: responseClass(message.status) }, message);
  }

  #onRequest(request: SipRequest, source: Source): void {
    const known = this.#servers.get(serverKey(request));
    if (request.method === 'ACK') {
      // An ACK with the branch of an accepted INVITE comes from a peer that is loose about RFC 3261 §17.1.1.3.
      known?.dispatch({ type: 'ack' });
      this.#user.onAck(request, source);
      return;
    }
    if (known !== undefined) {
      known.dispatch({ type: 'retransmission' });
      return;
    }
    const transaction = this.#accept(request, source);
    if (transaction === undefined) return;
    if (request.method === 'CANCEL') this.#onCancel(transaction);
    else this.#user.onRequest(transaction);
  }

  #onCancel(cancel: ServerTransaction): void {
    const invite = this.#servers.get(cancelledKey(cancel.request))?.transaction;
    if (invite === undefined) this.#user.onRequest(cancel);
    else this.#user.onCancel(invite, cancel);
  }

  #onMalformed(answerable: SipRequest, status: number, source: Source): void {
    // An ACK is never answered, however wrong it is.
    if (answerable.method === 'ACK' || this.#servers.has(serverKey(answerable))) return;
    const transaction = this.#accept(answerable, source);
    if (transaction !== undefined) this.#user.onMalformed(transaction, status);
  }

  /** True when another transaction with the same Call-ID, From tag and CSeq was there first. */
  isMerged(transaction: ServerTransaction): boolean {
    const first = this.#merged.get(mergeKey(transaction.request));
    return first !== undefined && first !== serverKey(transaction.request);
  }
}

function routeOf(request: SipRequest): Headers {
  return Headers.from([
    ['Max-Forwards', '70'],
    ...request.headers.all('Route').map((value) => ['Route', value] as const),
  ]);
}

/** RFC 3261 §17.1.1.3: the ACK of a failure repeats the INVITE's branch and route, and the response's To. */
function failureAck(invite: SipRequest, response: SipResponse): SipRequest {
  return {
    ...invite,
    method: 'ACK',
    cseq: { number: invite.cseq.number, method: 'ACK' },
    to: response.to,
    headers: routeOf(invite),
    body: NO_BODY,
  };
}
