/** How messages find their transaction (RFC 3261 §17.1.3, §17.2.3). */

import { tagOf } from '../message/address.ts';
import { type SipMessage, type SipRequest, topVia } from '../message/message.ts';
import { BRANCH_COOKIE, branchOf } from '../message/via.ts';
import { writeHostPort, writeUri } from '../message/uri.ts';

/** The key of a client transaction, from its request or from a response to it. */
export function clientKey(message: SipMessage): string {
  return `${branchOf(topVia(message)) ?? ''} ${message.cseq.method}`;
}

/** The key of a server transaction; an ACK has that of the INVITE whose failure it acknowledges. */
export function serverKey(request: SipRequest): string {
  const via = topVia(request);
  const branch = branchOf(via);
  const method = request.method === 'ACK' ? 'INVITE' : request.method;
  if (branch !== undefined && branch.startsWith(BRANCH_COOKIE) && branch.length > BRANCH_COOKIE.length) {
    return `${branch} ${writeHostPort(via)} ${method}`.toLowerCase();
  }
  // A peer of RFC 2543: the request as a whole identifies it. Its ACK carries the To tag of our response,
  // which its INVITE did not have, so the tag can not be part of the key.
  const { number } = request.cseq;
  return `2543 ${writeUri(request.uri)} ${tagOf(request.from) ?? ''} ${request.callId} ${number} ${writeHostPort(via)} ${method}`;
}

/** The key of the INVITE that a CANCEL means. */
export function cancelledKey(cancel: SipRequest): string {
  return serverKey({ ...cancel, method: 'INVITE' });
}

/** Requests that reached us over two paths share this key but not their branch (RFC 3261 §8.2.2.2). */
export function mergeKey(request: SipRequest): string {
  return `${request.callId} ${tagOf(request.from) ?? ''} ${request.cseq.number} ${request.method}`;
}
