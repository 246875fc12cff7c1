/** Header fields with a syntax of their own that more than one layer reads. */

import { paramText, parseNumber, parseParams, quote, splitOutside } from './grammar.ts';
import type { Headers } from './headers.ts';
import type { SipMessage } from './message.ts';

/** The Q.850 cause of a Reason header (RFC 3326, RFC 6432), 0 to 127; undefined without one. */
export function q850Cause(headers: Headers): number | undefined {
  for (const value of headers.all('Reason').flatMap((text) => splitOutside(text, ',') ?? [])) {
    const semicolon = value.indexOf(';');
    if (semicolon < 0 || value.slice(0, semicolon).trim().toLowerCase() !== 'q.850') continue;
    const params = parseParams(value.slice(semicolon));
    const cause = params && parseNumber(paramText(params, 'cause'), 127);
    if (cause !== undefined) return cause;
  }
  return undefined;
}

/** Why a call is ended, as told to the other side. */
export interface Reason {
  readonly protocol: 'SIP' | 'Q.850';
  readonly cause: number;
  readonly text?: string | undefined;
}

export function writeReason({ protocol, cause, text }: Reason): string {
  return `${protocol};cause=${cause}${text === undefined ? '' : `;text=${quote(text)}`}`;
}

export interface SessionExpires {
  readonly seconds: number;
  readonly refresher?: 'uac' | 'uas' | undefined;
}

/** RFC 4028 §4. */
export function parseSessionExpires(headers: Headers): SessionExpires | undefined {
  const value = headers.get('Session-Expires');
  if (value === undefined) return undefined;
  const semicolon = value.indexOf(';');
  const seconds = deltaSeconds(semicolon < 0 ? value : value.slice(0, semicolon));
  const params = parseParams(semicolon < 0 ? '' : value.slice(semicolon));
  if (seconds === undefined || params === undefined) return undefined;
  const refresher = paramText(params, 'refresher')?.toLowerCase();
  return { seconds, refresher: refresher === 'uac' || refresher === 'uas' ? refresher : undefined };
}

/** A number of seconds; anything above 2^31−1 counts as that (RFC 3261 §20.19). Parameters and comments are ignored. */
export function deltaSeconds(text: string | undefined): number | undefined {
  const digits = /^\s*(\d{1,20})\s*(?:$|[;(])/.exec(text ?? '')?.[1];
  return digits === undefined ? undefined : Math.min(Number(digits), 2 ** 31 - 1);
}

/** RFC 3262 §7.2: which reliable response a PRACK acknowledges. */
export interface RAck {
  readonly rseq: number;
  readonly cseq: number;
  readonly method: string;
}

export function parseRAck(headers: Headers): RAck | undefined {
  const match = /^(\d+)\s+(\d+)\s+(\S+)$/.exec(headers.get('RAck') ?? '');
  const rseq = parseNumber(match?.[1], 2 ** 32 - 1);
  const cseq = parseNumber(match?.[2], 2 ** 31 - 1);
  if (match === null || rseq === undefined || cseq === undefined) return undefined;
  return { rseq, cseq, method: match[3] ?? '' };
}

/**
 * The session description of a message: its body, or the SDP part of a multipart body (RFC 5621), which
 * interworking gateways send. Undefined when it has none, whatever else its body is.
 */
export function sdpOf(message: SipMessage): string | undefined {
  if (message.body.length === 0 || message.headers.has('Content-Encoding')) return undefined;
  const type = message.headers.get('Content-Type') ?? '';
  if (/^application\/sdp\s*(;|$)/i.test(type)) return message.body.toString('utf8');
  const boundary = /^multipart\/\w+\s*;.*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(type);
  const marker = boundary?.[1] ?? boundary?.[2];
  return marker === undefined ? undefined : sdpPart(message.body.toString('utf8'), marker);
}

/** True when a message has a body that is no session description, where only one would do: answer 415. */
export function hasForeignBody(message: SipMessage): boolean {
  return message.body.length > 0 && sdpOf(message) === undefined;
}

function sdpPart(body: string, boundary: string): string | undefined {
  for (const part of body.split(`--${boundary}`).slice(1)) {
    const headEnd = part.indexOf('\r\n\r\n');
    if (headEnd >= 0 && /^(content-type|c)\s*:\s*application\/sdp/im.test(part.slice(0, headEnd))) {
      return part.slice(headEnd + 4);
    }
  }
  return undefined;
}
