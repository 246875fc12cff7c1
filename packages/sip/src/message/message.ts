/**
 * A SIP message. What every message must have (RFC 3261 §8.1.1) is parsed and typed; everything else stays
 * text in `headers`, so a message in hand is always one that can be answered and routed.
 */

import type { Address } from './address.ts';
import { Headers } from './headers.ts';
import { tagOf, withTag } from './address.ts';
import type { Uri } from './uri.ts';
import type { Via } from './via.ts';

export interface CSeq {
  readonly number: number;
  readonly method: string;
}

interface Envelope {
  /** Topmost first. Empty only in a request that has not been given to the transaction layer yet. */
  readonly via: readonly Via[];
  readonly from: Address;
  readonly to: Address;
  readonly callId: string;
  readonly cseq: CSeq;
  /** Every other header field; never Via, From, To, Call-ID, CSeq or Content-Length. */
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface SipRequest extends Envelope {
  readonly kind: 'request';
  readonly method: string;
  readonly uri: Uri;
}

export interface SipResponse extends Envelope {
  readonly kind: 'response';
  /** 100 to 699. */
  readonly status: number;
  readonly reason: string;
}

export type SipMessage = SipRequest | SipResponse;

export const NO_BODY = Buffer.alloc(0);

const REASONS: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  183: 'Session Progress',
  200: 'OK',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  415: 'Unsupported Media Type',
  416: 'Unsupported URI Scheme',
  420: 'Bad Extension',
  422: 'Session Interval Too Small',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  482: 'Loop Detected',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  491: 'Request Pending',
  500: 'Server Internal Error',
  503: 'Service Unavailable',
  505: 'Version Not Supported',
  603: 'Decline',
};

export interface ResponseParts {
  readonly reason?: string;
  /** Put on To when the request had none; every response but 100 needs one (RFC 3261 §8.2.6.2). */
  readonly toTag?: string | undefined;
  readonly headers?: Headers;
  readonly body?: Buffer;
}

/** Builds the response to `request` with the fields that RFC 3261 §8.2.6.2 tells it to copy. */
export function responseTo(request: SipRequest, status: number, parts: ResponseParts = {}): SipResponse {
  const tagged = parts.toTag !== undefined && tagOf(request.to) === undefined && status > 100;
  const timestamp = status === 100 ? request.headers.get('Timestamp') : undefined;
  const headers = parts.headers ?? Headers.none;
  return {
    kind: 'response',
    status,
    reason: parts.reason ?? REASONS[status] ?? 'Unknown',
    via: request.via,
    from: request.from,
    to: tagged ? withTag(request.to, parts.toTag ?? '') : request.to,
    callId: request.callId,
    cseq: request.cseq,
    headers: timestamp === undefined ? headers : headers.with([['Timestamp', timestamp]]),
    body: parts.body ?? NO_BODY,
  };
}

/** The topmost Via. Programmer's mistake when there is none: only unsent requests lack it. */
export function topVia(message: SipMessage): Via {
  const via = message.via[0];
  if (via === undefined) throw new Error('message has no Via');
  return via;
}
