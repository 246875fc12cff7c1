/** SIP and SIPS URIs (RFC 3261 §19.1). Other schemes are carried as opaque text. */

import { isIPv6 } from 'node:net';
import { NO_PARAMS, parseNumber, type Params, writeParams } from './grammar.ts';

export interface SipUri {
  readonly scheme: 'sip' | 'sips';
  /** As written, escapes kept; undefined when the URI names a host alone. */
  readonly user?: string | undefined;
  /** IPv6 addresses stand in brackets. */
  readonly host: string;
  readonly port?: number | undefined;
  readonly params: Params;
  /** What follows `?`, escapes kept. */
  readonly headers?: string | undefined;
}

export interface OpaqueUri {
  readonly scheme: 'other';
  readonly text: string;
}

export type Uri = SipUri | OpaqueUri;

const USER = /^(?:[A-Za-z0-9\-_.!~*'()&=+$,;?/:]|%[0-9A-Fa-f]{2})+$/;
const HOSTNAME =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.?$/;
const PARAM = /^(?:[A-Za-z0-9\-_.!~*'()[\]/:&+$]|%[0-9A-Fa-f]{2})+$/;
const HEADERS = /^(?:[A-Za-z0-9\-_.!~*'()[\]/?:+$=&]|%[0-9A-Fa-f]{2})+$/;
const OPAQUE = /^[A-Za-z][A-Za-z0-9+\-.]*:[A-Za-z0-9\-_.!~*'()%;/?:@&=+$,#[\]]+$/;

/** Parses any absolute URI; undefined when it is none, or is a malformed SIP URI. */
export function parseUri(text: string): Uri | undefined {
  const colon = text.indexOf(':');
  const scheme = text.slice(0, Math.max(colon, 0)).toLowerCase();
  if (scheme === 'sip' || scheme === 'sips') return parseSipUri(scheme, text.slice(colon + 1));
  return OPAQUE.test(text) ? { scheme: 'other', text } : undefined;
}

function parseSipUri(scheme: 'sip' | 'sips', rest: string): SipUri | undefined {
  const at = rest.indexOf('@');
  const user = at < 0 ? undefined : rest.slice(0, at);
  if (user !== undefined && !USER.test(user)) return undefined;
  const tail = at < 0 ? rest : rest.slice(at + 1);
  const question = tail.indexOf('?');
  const headers = question < 0 ? undefined : tail.slice(question + 1);
  if (headers !== undefined && !HEADERS.test(headers)) return undefined;
  const [hostport = '', ...rawParams] = (question < 0 ? tail : tail.slice(0, question)).split(';');
  const where = parseHostPort(hostport);
  const params = parseUriParams(rawParams);
  if (where === undefined || params === undefined) return undefined;
  return { scheme, user, ...where, params, headers };
}

function parseUriParams(parts: readonly string[]): Params | undefined {
  if (parts.length === 0) return NO_PARAMS;
  const params = new Map<string, string | null>();
  for (const part of parts) {
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    const value = equals < 0 ? null : part.slice(equals + 1);
    if (!PARAM.test(name) || (value !== null && !PARAM.test(value))) return undefined;
    params.set(name.toLowerCase(), value);
  }
  return params;
}

export interface HostPort {
  /** A name, an IPv4 address or an IPv6 address in brackets. */
  readonly host: string;
  readonly port?: number | undefined;
}

/** Parses `host`, `host:port`, `[v6]` and `[v6]:port`. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? '';
  const valid = host.startsWith('[') ? isIPv6(host.slice(1, -1)) : HOSTNAME.test(host);
  if (!valid) return undefined;
  if (match?.[2] === undefined) return { host };
  const port = parseNumber(match[2], 65_535);
  return port === undefined ? undefined : { host, port };
}

export function writeUri(uri: Uri): string {
  if (uri.scheme === 'other') return uri.text;
  const user = uri.user === undefined ? '' : `${uri.user}@`;
  const headers = uri.headers === undefined ? '' : `?${uri.headers}`;
  return `${uri.scheme}:${user}${writeHostPort(uri)}${writeParams(uri.params)}${headers}`;
}

export function writeHostPort({ host, port }: HostPort): string {
  return port === undefined ? host : `${host}:${port}`;
}

/** The form of an IP address that URIs and Via use: IPv6 in brackets. */
export function addressAsHost(address: string): string {
  return isIPv6(address) ? `[${address}]` : address;
}

/** The reverse of `addressAsHost`. */
export function hostAsAddress(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

/** Characters of a user part that need no escape (RFC 3261 §25.1), made safe from any text. */
export function escapeUser(text: string): string {
  return encodeURIComponent(text).replace(/%(?:2B|26|3D|24|2C|3B|3F|2F)/gi, decodeURIComponent);
}
