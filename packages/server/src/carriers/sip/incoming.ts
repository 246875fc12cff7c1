/** Calls that trunks bring us, as the carrier port has them. */
import { createHash } from 'node:crypto';
import type { RefusalReason, Trunk } from '@trunkcall/contract';
import {
  parseAddress,
  type Ended,
  type HeaderLine,
  type IncomingCall,
  type MediaEngine,
  type Uri,
} from '@trunkcall/sip';
import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Accepted, AnswerOrder, AudioMedia, Ending, Incoming, Rejection } from '../carrier.ts';
import { endingOf } from './endings.ts';
import { createLeg } from './leg.ts';
import { recordCall, type PlaceDependencies } from './place.ts';
import type { Recordings } from './recordings.ts';
import type { Route } from './route.ts';
import { Sound } from './sound.ts';

export interface IncomingDependencies {
  readonly engine: MediaEngine;
  /** Null: nothing is recorded. */
  readonly recordings: Recordings | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly mediaAddress: string;
  readonly mediaSilenceMs: number;
  readonly transfer: PlaceDependencies['transfer'];
  /** What closing waits for. */
  readonly track: <T>(work: Promise<T>) => Promise<T>;
}

/** What each refusal is in SIP. */
const statusOf: Readonly<Record<RefusalReason, number>> = {
  unknown_number: 404,
  not_answered: 480,
  outside_hours: 480,
  busy: 486,
  // A proxy in front of several of us tries the next one.
  unavailable: 503,
  duplicate: 482,
};

export function incomingOf(
  deps: IncomingDependencies,
  call: IncomingCall,
  route: Route,
): Incoming<AudioMedia> {
  const { trunk } = route;
  return {
    providerCallId: call.callId,
    identity: identityOf(call),
    to: dialledNumbers(call, trunk),
    from: callerOf(call, trunk),
    trunk: trunk.name,
    signal: call.signal,
    ring: () => call.ring(),
    accept: (order, signal) => deps.track(accept(deps, call, route, order, signal)),
    reject: (rejection) => refuse(call, trunk, rejection),
  };
}

export function refuse(call: IncomingCall, trunk: Trunk, { reason, retryAfterSeconds }: Rejection): void {
  const isTrunks = dialledNumbers(call, trunk).some((number) => trunk.caller_numbers.includes(number));
  const status = reason === 'unknown_number' && isTrunks ? 480 : statusOf[reason];
  const headers: HeaderLine[] =
    retryAfterSeconds === null ? [] : [['Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds)))]];
  call.reject(status, { headers });
}

/** Copies of one request, on their way over several proxies, agree in these (RFC 3261 §8.2.2.2). */
function identityOf({ callId, from, headers }: IncomingCall): string {
  const parts = [callId, from.params.get('tag') ?? '', headers.get('CSeq') ?? ''];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** What may have been dialled: the Request-URI tells, else To, which a proxy leaves as the caller wrote it. */
export function dialledNumbers(
  { requestUri, to }: Pick<IncomingCall, 'requestUri' | 'to'>,
  { inbound_country: country }: Pick<Trunk, 'inbound_country'>,
): string[] {
  return [...new Set([requestUri, to.uri].flatMap((uri) => readings(uri, country)))];
}

/** Who calls, as the trunk asserts it (RFC 3325) or else as From has it; null when it is hidden or no number. */
export function callerOf(
  { from, headers }: Pick<IncomingCall, 'from' | 'headers'>,
  { inbound_country: country }: Pick<Trunk, 'inbound_country'>,
): string | null {
  const privacy = (headers.get('Privacy') ?? '').toLowerCase().split(/[;\s]+/);
  if (privacy.includes('id') || privacy.includes('user')) return null;
  const asserted = parseAddress(headers.get('P-Asserted-Identity') ?? '')?.uri;
  for (const uri of [asserted, from.uri]) {
    const [number] = uri === undefined ? [] : readings(uri, country);
    if (number !== undefined) return number;
  }
  return null;
}

const e164 = /^\+[1-9]\d{6,14}$/;

/** The telephone numbers, E.164, that a URI may stand for; the likeliest first. */
function readings(uri: Uri, country: string | undefined): string[] {
  const written = uri.scheme === 'other' ? /^tel:(.*)$/i.exec(uri.text)?.[1] : uri.user;
  const digits =
    (written ?? '')
      .split(';')[0]
      ?.replace(/%2B/i, '+')
      .replace(/[-.()]/g, '') ?? '';
  if (!/^\+?\d{3,18}$/.test(digits)) return [];
  const national =
    !digits.startsWith('+') && country !== undefined && isSupportedCountry(country)
      ? parsePhoneNumberFromString(digits, country)
      : undefined;
  const whole = digits.startsWith('+') ? digits : `+${digits}`;
  return [...(national?.isPossible() === true ? [national.number] : []), whole].filter((number) =>
    e164.test(number),
  );
}

async function accept(
  deps: IncomingDependencies,
  call: IncomingCall,
  route: Route,
  order: AnswerOrder,
  signal: AbortSignal,
): Promise<Accepted<AudioMedia>> {
  const over = new AbortController();
  const sound = await Sound.open({
    engine: deps.engine,
    silenceLimitMs: deps.mediaSilenceMs,
    sleep: (ms) => deps.clock.sleep(ms, over.signal),
  });
  if (sound === null) {
    refuse(call, route.trunk, { reason: 'unavailable', retryAfterSeconds: null });
    return { kind: 'failed', ending: noPort };
  }
  const outcome = await call.accept({
    media: route.media(deps.mediaAddress, sound.port),
    signal,
    onMedia: (media) => sound.connect(media),
  });
  if (outcome.kind === 'ended') {
    over.abort();
    sound.close();
    return isWithdrawn(outcome)
      ? { kind: 'gave_up' }
      : {
          kind: 'failed',
          ending: endingOf(outcome, route.trunk.profile, signal.aborted ? 'aborted' : 'waiting'),
        };
  }
  const first = { call: outcome.call, route, order: { ...order, from: null }, over: over.signal };
  const leg = createLeg({
    answered: outcome,
    sound,
    clock: deps.clock,
    over,
    transfer: (own, to, stop) => deps.transfer({ ...first, leg: own }, to, stop),
  });
  if (order.recordMs !== undefined && deps.recordings !== null) {
    recordCall(deps.recordings.pathOf(order.attemptId), order, sound, deps.log);
  }
  void deps.track(leg.ended);
  return { kind: 'answered', leg };
}

const noPort: Ending = {
  outcome: 'carrier_error',
  endedBy: 'us',
  sipStatus: 503,
  q850: null,
  note: 'no media port is free',
};

/** CANCEL, or BYE before the answer was acknowledged. */
const isWithdrawn = ({ by, reason }: Ended): boolean =>
  by === 'remote' && (reason === 'cancelled' || reason === 'hangup');
