/**
 * A dialog (RFC 3261 §12) as plain data: who talks to whom, over which route, at which sequence number.
 * Every function is pure and returns the dialog as it is afterwards.
 */

import { type Address, parseAddressList, tagOf, withTag, writeAddress } from '../message/address.ts';
import { Headers } from '../message/headers.ts';
import { NO_BODY, type SipRequest, type SipResponse } from '../message/message.ts';
import { type SipUri, writeUri } from '../message/uri.ts';

export interface Dialog {
  readonly callId: string;
  /** With our tag. */
  readonly local: Address;
  /** With the peer's tag, if it has one: RFC 2543 peers may not. */
  readonly remote: Address;
  /** Where the peer wants to be reached: the Request-URI, unless a strict router stands in the route. */
  readonly target: SipUri;
  /** First hop first. */
  readonly route: readonly Address[];
  /** The CSeq number that we used last; 0 before the first. */
  readonly localSequence: number;
  /** The CSeq number that the peer used last; undefined before the first. */
  readonly remoteSequence: number | undefined;
}

/** Dialogs are found by what every in-dialog request carries. */
function dialogKey(callId: string, localTag: string, remoteTag: string): string {
  return `${callId} ${localTag} ${remoteTag}`;
}

export function keyOfDialog(dialog: Dialog): string {
  return dialogKey(dialog.callId, tagOf(dialog.local) ?? '', tagOf(dialog.remote) ?? '');
}

/** The key of the dialog that a request from the peer belongs to. */
export function keyOfRequest(request: SipRequest): string {
  return dialogKey(request.callId, tagOf(request.to) ?? '', tagOf(request.from) ?? '');
}

/**
 * The caller's side, from a response to its INVITE. A peer that forgets its Contact is reached where the INVITE
 * went, since its call must at least be acknowledged and ended. Undefined when even that is no SIP URI, or the
 * route is malformed.
 */
export function dialogFromResponse(invite: SipRequest, response: SipResponse): Dialog | undefined {
  const route = parseAddressList(response.headers.all('Record-Route'));
  const target = contactUri(response.headers) ?? (invite.uri.scheme === 'other' ? undefined : invite.uri);
  if (target === undefined || route === undefined) return undefined;
  return {
    callId: invite.callId,
    local: invite.from,
    remote: response.to,
    target,
    route: route.reverse(),
    localSequence: invite.cseq.number,
    remoteSequence: undefined,
  };
}

/** The callee's side, from the INVITE that it got. Undefined when that has no usable Contact or Record-Route. */
export function dialogFromRequest(invite: SipRequest, localTag: string): Dialog | undefined {
  const route = parseAddressList(invite.headers.all('Record-Route'));
  const target = contactUri(invite.headers);
  if (target === undefined || route === undefined) return undefined;
  return {
    callId: invite.callId,
    local: withTag(invite.to, localTag),
    remote: invite.from,
    target,
    route,
    localSequence: 0,
    remoteSequence: invite.cseq.number,
  };
}

/** The URI of the one Contact that dialogs want; undefined when there is none, several, or no SIP URI. */
function contactUri(headers: Headers): SipUri | undefined {
  const contacts = parseAddressList(headers.all('Contact'));
  const uri = contacts?.length === 1 ? contacts[0]?.uri : undefined;
  return uri === undefined || uri.scheme === 'other' ? undefined : uri;
}

/** INVITE and UPDATE, and their 2xx, may move the peer (RFC 3261 §12.2, RFC 3311 §5). */
export function refreshTarget(dialog: Dialog, headers: Headers): Dialog {
  const target = contactUri(headers);
  return target === undefined ? dialog : { ...dialog, target };
}

/** Takes the route of the final 2xx: proxies may differ from those of the provisional response (RFC 3261 §13.2.2.4). */
export function confirmDialog(dialog: Dialog, response: SipResponse): Dialog {
  const route = parseAddressList(response.headers.all('Record-Route'));
  return refreshTarget(
    route === undefined ? dialog : { ...dialog, route: route.reverse() },
    response.headers,
  );
}

/** Takes the CSeq of a request from the peer; undefined when it is older than one already taken: answer 500. */
export function takeRequest(dialog: Dialog, request: SipRequest): Dialog | undefined {
  const { number } = request.cseq;
  if (dialog.remoteSequence !== undefined && number <= dialog.remoteSequence) return undefined;
  return { ...dialog, remoteSequence: number };
}

export interface DialogRequest {
  readonly dialog: Dialog;
  readonly request: SipRequest;
  /** The URI to resolve for the next hop. */
  readonly nextHop: SipUri;
}

/**
 * Makes the next request inside the dialog, with the Route of RFC 3261 §12.2.1.1. An ACK repeats the number of
 * its INVITE, which `ackOf` gives.
 */
export function makeRequest(
  dialog: Dialog,
  method: string,
  parts: { readonly headers?: Headers; readonly body?: Buffer; readonly ackOf?: number } = {},
): DialogRequest {
  const number = parts.ackOf ?? dialog.localSequence + 1;
  const { uri, routes, nextHop } = routing(dialog);
  const request: SipRequest = {
    kind: 'request',
    method,
    uri,
    via: [],
    from: dialog.local,
    to: dialog.remote,
    callId: dialog.callId,
    cseq: { number, method },
    headers: Headers.from([
      ['Max-Forwards', '70'],
      ...routes.map((value) => ['Route', value] as const),
      ...(parts.headers ?? []),
    ]),
    body: parts.body ?? NO_BODY,
  };
  return {
    dialog: parts.ackOf === undefined ? { ...dialog, localSequence: number } : dialog,
    request,
    nextHop,
  };
}

/** A strict router (no `lr`) takes the place of the target, which moves to the end of the route. */
function routing(dialog: Dialog): { uri: SipUri; routes: string[]; nextHop: SipUri } {
  const [first, ...rest] = dialog.route;
  if (first === undefined || first.uri.scheme === 'other')
    return { uri: dialog.target, routes: [], nextHop: dialog.target };
  if (first.uri.params.has('lr')) {
    return { uri: dialog.target, routes: dialog.route.map(writeAddress), nextHop: first.uri };
  }
  const strict: SipUri = { ...first.uri, headers: undefined };
  return {
    uri: strict,
    routes: [...rest.map(writeAddress), `<${writeUri(dialog.target)}>`],
    nextHop: strict,
  };
}
