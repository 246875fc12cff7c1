/** How calls end, as values. */

import { deltaSeconds, q850Cause } from '../message/fields.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';

export type EndReason =
  /** BYE after the call was answered. */
  | 'hangup'
  /** A final response of 400 to 699: `sipStatus` says which. */
  | 'rejected'
  /** A final response of 300 to 399, which is never followed: it would let the far end choose whom we pay. */
  | 'redirected'
  /** The caller took the call back before it was answered. */
  | 'cancelled'
  /** Our own limit on ringing passed. */
  | 'ring_limit'
  /** Our `AbortSignal` fired, or the user agent closed. */
  | 'aborted'
  /** Nobody answered the INVITE, or the 2xx was never acknowledged. */
  | 'no_response'
  /** No hop could be resolved or reached. */
  | 'unreachable'
  /** Credentials are missing or were refused. */
  | 'unauthorized'
  /** Offer and answer have nothing in common, or one side demands encryption that the other does not give. */
  | 'media_refused'
  /** The session interval passed without a refresh (RFC 4028), or the peer has forgotten the call. */
  | 'session_expired';

export interface Ended {
  readonly kind: 'ended';
  /** `network`: nobody decided it, something between us failed. */
  readonly by: 'local' | 'remote' | 'network';
  readonly reason: EndReason;
  /** The final response that ended it, if one did. */
  readonly sipStatus?: number | undefined;
  readonly sipReason?: string | undefined;
  /** The cause that the network below SIP gave (Reason header); it says more than the status. */
  readonly q850?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /**
   * The highest provisional status that came, over all tries (credentials, other places); undefined when not even a
   * 100 did. Above 100 a phone may have rung.
   */
  readonly provisional?: number | undefined;
}

/** Reads the failure that a peer's final response states. */
export function endedByResponse(response: SipResponse, provisional: number | undefined): Ended {
  const { status, reason: sipReason, headers } = response;
  const unauthorized = status === 401 || status === 407;
  return {
    kind: 'ended',
    by: 'remote',
    reason: unauthorized ? 'unauthorized' : status < 400 ? 'redirected' : 'rejected',
    sipStatus: status,
    sipReason,
    q850: q850Cause(headers),
    retryAfterSeconds: deltaSeconds(headers.get('Retry-After')),
    provisional,
  };
}

/** Reads the end that a peer's BYE or CANCEL states. */
export function endedByRequest(request: SipRequest): Ended {
  const reason = request.method === 'CANCEL' ? 'cancelled' : 'hangup';
  return { kind: 'ended', by: 'remote', reason, q850: q850Cause(request.headers) };
}

export function endedByUs(reason: EndReason, sipStatus?: number): Ended {
  return { kind: 'ended', by: 'local', reason, sipStatus };
}

export function endedByNetwork(reason: EndReason, provisional?: number): Ended {
  return { kind: 'ended', by: 'network', reason, provisional };
}
