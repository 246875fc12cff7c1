/** Keeps a binding at a registrar alive (RFC 3261 §10.2). */

import { Authenticator, type Credentials } from '../auth/digest.ts';
import type { Timer } from '../clock.ts';
import type { ExchangeOutcome } from '../dialog/exchange.ts';
import { parseAddressList } from '../message/address.ts';
import { deltaSeconds } from '../message/fields.ts';
import { paramText } from '../message/grammar.ts';
import type { SipResponse } from '../message/message.ts';
import { randomFraction, randomToken } from '../random.ts';
import { contactLine, type Host, isSuccess, requireSipUri } from './host.ts';
import { sendStandalone } from './standalone.ts';

export interface RegisterOptions {
  /** SIP URI of the registrar, without a user part. */
  readonly registrar: string;
  /** SIP URI of the address that is bound; its user part is the one of our Contact. */
  readonly address: string;
  readonly proxy?: string;
  readonly credentials?: Credentials;
  /** What we ask for; the registrar may grant less. 3,600 when absent. */
  readonly expiresSeconds?: number;
  readonly signal?: AbortSignal;
  onChange?(state: RegistrationState): void;
}

export type RegistrationState =
  | { readonly kind: 'registering' }
  | { readonly kind: 'registered'; readonly grantedSeconds: number }
  /** It is tried again by itself. `status` is absent when nobody answered. */
  | { readonly kind: 'failed'; readonly status?: number | undefined; readonly failures: number }
  | { readonly kind: 'stopped' };

export interface Registration {
  readonly state: RegistrationState;
  /** Removes the binding, as far as the registrar can be reached. Never rejects. Safe to repeat. */
  stop(): Promise<void>;
}

const DEFAULT_EXPIRES_SECONDS = 3_600;
/** RFC 5626 §4.5. */
const FIRST_RETRY_SECONDS = 30;
const LONGEST_RETRY_SECONDS = 1_800;

export interface RegistrationPlan {
  readonly state: RegistrationState;
  readonly againInMs: number;
  /** What to ask for next time. */
  readonly expiresSeconds: number;
}

/**
 * What follows from the outcome of a REGISTER. Pure; `jitter` in [0, 1) spreads the tries of many agents.
 * A binding is refreshed after 80 to 90 % of its time; failures wait 30 s, doubling up to 30 min.
 */
export function planRegistration(
  before: RegistrationState,
  outcome: ExchangeOutcome,
  asked: number,
  jitter: number,
): RegistrationPlan {
  const response = outcome.kind === 'response' ? outcome.response : undefined;
  if (response !== undefined && isSuccess(response)) {
    const grantedSeconds = grantedBy(response, asked);
    return {
      state: { kind: 'registered', grantedSeconds },
      againInMs: grantedSeconds * (800 + jitter * 100),
      expiresSeconds: asked,
    };
  }
  const failures = (before.kind === 'failed' ? before.failures : 0) + 1;
  const state: RegistrationState = { kind: 'failed', status: response?.status, failures };
  const least = response?.status === 423 ? deltaSeconds(response.headers.get('Min-Expires')) : undefined;
  if (least !== undefined && least > asked) return { state, againInMs: 0, expiresSeconds: least };
  const backoffSeconds =
    Math.min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** (failures - 1)) * (0.5 + jitter / 2);
  const askedToWait = Math.min(
    LONGEST_RETRY_SECONDS,
    deltaSeconds(response?.headers.get('Retry-After')) ?? 0,
  );
  return { state, againInMs: Math.max(backoffSeconds, askedToWait) * 1_000, expiresSeconds: asked };
}

/** The time of our binding: the longest of the contacts that the registrar lists, at least a second. */
function grantedBy(response: SipResponse, asked: number): number {
  const contacts = parseAddressList(response.headers.all('Contact')) ?? [];
  const listed = contacts.flatMap(({ params }) => deltaSeconds(paramText(params, 'expires')) ?? []);
  const granted =
    listed.length > 0 ? Math.max(...listed) : (deltaSeconds(response.headers.get('Expires')) ?? asked);
  return Math.max(1, Math.min(granted, asked));
}

/** Starts at once. Throws `TypeError` for URIs that are none. */
export function startRegistration(host: Host, options: RegisterOptions): Registration {
  const registrar = requireSipUri(options.registrar, 'registrar');
  const address = requireSipUri(options.address, 'address');
  const proxy = options.proxy === undefined ? undefined : requireSipUri(options.proxy, 'proxy');
  const { clock, random } = host.stack;
  const authenticator = options.credentials && new Authenticator(options.credentials, random);
  const callId = randomToken(random, 16);
  const stopping = new AbortController();
  let expiresSeconds = options.expiresSeconds ?? DEFAULT_EXPIRES_SECONDS;
  let state: RegistrationState = { kind: 'registering' };
  let sequence = 0;
  let again: Timer | undefined;
  let stopped: Promise<void> | undefined;

  const send = (seconds: number, signal?: AbortSignal): Promise<ExchangeOutcome> =>
    sendStandalone(host, {
      method: 'REGISTER',
      uri: registrar,
      proxy,
      from: address,
      to: address,
      callId,
      nextSequence: () => (sequence += 1),
      authenticator,
      signal,
      headers: (hop) => [
        contactLine(host, hop, address.user, registrar.scheme === 'sips'),
        ['Expires', String(seconds)],
      ],
    });
  const change = (next: RegistrationState): void => {
    state = next;
    options.onChange?.(next);
  };
  const refresh = async (): Promise<void> => {
    const outcome = await send(expiresSeconds, stopping.signal);
    if (stopped !== undefined) return;
    const plan = planRegistration(state, outcome, expiresSeconds, randomFraction(random));
    expiresSeconds = plan.expiresSeconds;
    again = clock.setTimer(plan.againInMs, () => void refresh());
    change(plan.state);
  };
  const remove = async (): Promise<void> => {
    const wasBound = state.kind === 'registered';
    change({ kind: 'stopped' });
    if (wasBound) await send(0);
  };
  const stop = (): Promise<void> => {
    again?.cancel();
    stopping.abort();
    host.services.delete(stop);
    options.signal?.removeEventListener('abort', onAbort);
    return (stopped ??= remove());
  };
  const onAbort = (): void => host.track(stop());

  if (options.signal?.aborted) onAbort();
  else {
    options.signal?.addEventListener('abort', onAbort);
    host.services.add(stop);
    void refresh();
  }
  return {
    get state() {
      return state;
    },
    stop,
  };
}
