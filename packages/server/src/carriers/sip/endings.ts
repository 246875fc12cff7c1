/**
 * What the ends of SIP calls mean. Pure.
 *
 * The cause that the telephone network gave (Q.850, in a Reason header) says more than the SIP status that a gateway
 * made of it (RFC 3398), so it goes first; causes that say nothing ("normal", "interworking") leave it to the status.
 */
import type { TrunkProfile } from '@trunkcall/contract';
import type { Ended } from '@trunkcall/sip';
import type { EndedBy, Ending, LegEnd } from '../carrier.ts';

type Outcome = Ending['outcome'];

/** Causes of ITU-T Q.850 that settle the matter. */
const byCause: ReadonlyMap<number, Outcome> = new Map([
  [1, 'invalid_number'], // unallocated number
  [17, 'busy'],
  [18, 'unreachable'], // no user responding
  [19, 'ring_timeout'], // alerted, no answer
  [20, 'unreachable'], // subscriber absent
  [21, 'declined'],
  [22, 'invalid_number'], // number changed
  [27, 'unreachable'], // destination out of order
  [28, 'invalid_number'], // invalid number format
  // No route, no circuit, congestion, network out of order, refused or unknown services, protocol errors.
  ...[2, 3, 29, 34, 38, 41, 42, 44, 47, 50, 55, 57, 58, 63, 65, 69, 79, 88, 95, 102, 111].map(
    (cause) => [cause, 'carrier_error'] as const,
  ),
]);

/** How a call that nobody answered ended. `given` says whether our side had given it up. */
export function endingOf(
  ended: Ended,
  profile: TrunkProfile = {},
  given: 'aborted' | 'waiting' = 'waiting',
): Ending {
  const outcome = given === 'aborted' ? 'canceled' : outcomeOf(ended, profile);
  return {
    outcome,
    endedBy: endedByOf(outcome, ended),
    sipStatus: ended.sipStatus ?? null,
    q850: ended.q850 ?? null,
    note: noteOf(ended, outcome),
  };
}

function outcomeOf(ended: Ended, profile: TrunkProfile): Outcome {
  switch (ended.reason) {
    case 'ring_limit':
      // Without any response it is not the callee who kept us waiting.
      return ended.provisional === undefined ? 'carrier_error' : 'ring_timeout';
    case 'cancelled':
    case 'aborted':
      return 'canceled';
    case 'rejected':
      return byCause.get(ended.q850 ?? -1) ?? byStatus(ended, profile);
    case 'hangup':
    case 'redirected':
    case 'no_response':
    case 'unreachable':
    case 'unauthorized':
    case 'media_refused':
    case 'session_expired':
      return 'carrier_error';
  }
}

function byStatus({ sipStatus = 0, provisional = 0 }: Ended, profile: TrunkProfile): Outcome {
  const rang = provisional >= 180;
  switch (sipStatus) {
    case 404:
    case 410:
    case 484:
    case 604:
      return 'invalid_number';
    case 486:
      return profile.status_486 ?? 'busy';
    case 600:
      return 'busy';
    case 603:
      return profile.status_603 ?? 'declined';
    case 607:
      return 'declined';
    case 403:
      return profile.status_403 ?? 'carrier_error';
    case 408:
    case 480:
      return rang ? 'ring_timeout' : 'unreachable';
    case 487:
      // Not after our CANCEL: a proxy's own limit on ringing.
      return rang ? 'ring_timeout' : 'carrier_error';
    default:
      return 'carrier_error';
  }
}

function endedByOf(outcome: Outcome, ended: Ended): EndedBy {
  switch (outcome) {
    case 'canceled':
      return 'us';
    case 'ring_timeout':
      return ended.by === 'local' ? 'us' : 'callee';
    case 'busy':
    case 'declined':
    case 'unreachable':
      return 'callee';
    case 'invalid_number':
      return 'carrier';
    case 'carrier_error':
      return ended.reason === 'media_refused' && ended.by === 'local' ? 'us' : 'carrier';
  }
}

const notes: Readonly<Partial<Record<Ended['reason'], string>>> = {
  ring_limit: 'the trunk did not respond',
  no_response: 'the trunk did not respond',
  unreachable: 'the trunk could not be reached',
  unauthorized: 'the trunk refused our credentials',
  media_refused: 'no agreement on codec or encryption',
  redirected: 'the trunk redirected the call, which is never followed',
};

function noteOf(ended: Ended, outcome: Outcome): string | null {
  return outcome === 'carrier_error' ? (notes[ended.reason] ?? null) : null;
}

/**
 * Whether the next trunk may be tried (docs/decisions/0011): the fault is the trunk's own, and nothing beyond a 100
 * came, so that no phone can have rung.
 */
export function isTrunkFault(ended: Ended, ending: Ending): boolean {
  if (ending.outcome !== 'carrier_error' || (ended.provisional ?? 0) > 100) return false;
  if (ended.reason === 'unreachable') return true;
  if (ended.reason === 'rejected') return [500, 502, 503, 504].includes(ended.sipStatus ?? 0);
  // A status: somebody did answer, though no call came of it.
  return ended.reason === 'no_response' && ended.provisional === undefined && ended.sipStatus === undefined;
}

/** How an answered call ended. `fault` is set when we hung up for a reason of our own. */
export function legEndOf(ended: Ended, fault: 'media_failed' | null): LegEnd {
  const codes = { sipStatus: ended.sipStatus ?? null, q850: ended.q850 ?? null };
  if (ended.by === 'network') return { reason: 'carrier_error', endedBy: 'carrier', ...codes };
  if (ended.by === 'local') {
    const failed = fault !== null || ended.reason === 'media_refused';
    return failed
      ? { reason: 'media_failed', endedBy: fault === null ? 'us' : 'carrier', ...codes }
      : { reason: 'hung_up', endedBy: 'us', ...codes };
  }
  return isNetworkCause(ended.q850)
    ? { reason: 'carrier_error', endedBy: 'carrier', ...codes }
    : { reason: 'hung_up', endedBy: 'callee', ...codes };
}

/** A BYE with such a cause comes from a gateway whose network broke, not from the callee (Q.850 classes 2, 6 and 7). */
function isNetworkCause(cause: number | undefined): boolean {
  return cause !== undefined && ((cause >= 34 && cause <= 47) || (cause >= 96 && cause <= 111));
}
