/**
 * Reads one SIP message. Strict where looseness could be abused (line ends, single fields, numbers), in time
 * linear in the input, with every size bounded.
 *
 * A message ends in one of three ways: it parses; it is a malformed request whose sender can be told (400 and
 * the like: `answerable` holds what a response must copy); or it is dropped.
 */

import { parseAddress } from './address.ts';
import { isToken, parseNumber, splitOutside } from './grammar.ts';
import { Headers, longName } from './headers.ts';
import { type CSeq, NO_BODY, type SipMessage, type SipRequest } from './message.ts';
import { parseUri, type Uri } from './uri.ts';
import { parseVia, type Via } from './via.ts';

export interface MessageLimits {
  /** Start line, header fields and body together. */
  readonly maxMessageBytes: number;
  readonly maxHeaders: number;
}

export const DEFAULT_MESSAGE_LIMITS: MessageLimits = { maxMessageBytes: 65_535, maxHeaders: 256 };

export type ParseOutcome =
  | { readonly kind: 'parsed'; readonly message: SipMessage }
  | {
      readonly kind: 'malformed';
      readonly why: string;
      readonly status: number;
      readonly answerable?: SipRequest;
    };

/** CSeq numbers stay below 2^31 (RFC 3261 §8.1.1.5). */
const MAX_CSEQ = 2 ** 31 - 1;
const ENVELOPE_NAMES = new Set(['via', 'from', 'to', 'call-id', 'cseq', 'content-length']);
const CALL_ID = /^[^\s\u0000-\u001f]+$/; // eslint-disable-line no-control-regex

/** What the first line says; `flaw` holds why it is wrong. */
interface StartLine {
  readonly request: boolean;
  readonly method: string;
  readonly uri?: Uri | undefined;
  readonly status: number;
  readonly reason: string;
  readonly flaw?: { readonly why: string; readonly status: number } | undefined;
}

type RawField = readonly [name: string, value: string];

interface Envelope {
  readonly via: Via[];
  readonly from: SipMessage['from'];
  readonly to: SipMessage['to'];
  readonly callId: string;
  readonly cseq: CSeq;
}

/** Never throws. A datagram may hold bytes behind its Content-Length; they are ignored (RFC 3261 §18.3). */
export function parseMessage(data: Buffer, limits: MessageLimits = DEFAULT_MESSAGE_LIMITS): ParseOutcome {
  if (data.length > limits.maxMessageBytes) return malformed('message too large', 513);
  let start = 0;
  while (data[start] === 13 && data[start + 1] === 10) start += 2;
  const end = data.indexOf('\r\n\r\n', start);
  if (end < 0) return malformed('no end of headers');
  const [first = '', ...rest] = data.toString('utf8', start, end).split('\r\n');
  const startLine = parseStartLine(first);
  if (startLine === undefined) return malformed('not a SIP message');
  const fields = parseFields(rest, limits.maxHeaders);
  if (typeof fields === 'string') return malformed(fields);
  const envelope = parseEnvelope(fields);
  if (typeof envelope === 'string') return malformed(envelope);

  const headers = Headers.from(fields.filter(([name]) => !ENVELOPE_NAMES.has(name.toLowerCase())));
  const answerable: SipRequest | undefined = startLine.request
    ? {
        kind: 'request',
        method: startLine.method,
        uri: startLine.uri ?? { scheme: 'other', text: 'invalid:' },
        ...envelope,
        headers,
        body: NO_BODY,
      }
    : undefined;
  const flaw =
    startLine.flaw ??
    flawOfMethod(startLine, envelope.cseq) ??
    flawOfNumbers(headers) ??
    flawOfSingles(fields);
  if (flaw !== undefined) return malformed(flaw.why, flaw.status, answerable);
  const body = takeBody(data.subarray(end + 4), fields);
  if (body === undefined) return malformed('wrong Content-Length', 400, answerable);
  if (answerable !== undefined) return { kind: 'parsed', message: { ...answerable, body } };
  const { status, reason } = startLine;
  return { kind: 'parsed', message: { kind: 'response', status, reason, ...envelope, headers, body } };
}

function malformed(why: string, status = 400, answerable?: SipRequest): ParseOutcome {
  return answerable === undefined
    ? { kind: 'malformed', why, status }
    : { kind: 'malformed', why, status, answerable };
}

/** Undefined when the line is so far from SIP that there is nobody to answer. */
function parseStartLine(line: string): StartLine | undefined {
  const response = /^SIP\/2\.0 ([1-6]\d\d)(?: ([^\r\n]*))?$/i.exec(line);
  if (response !== null) {
    return { request: false, method: '', status: Number(response[1]), reason: response[2] ?? '' };
  }
  const method = /^[^ ]+/.exec(line)?.[0] ?? '';
  if (!isToken(method)) return undefined;
  const none = { request: true, method, status: 0, reason: '' } as const;
  const request = /^[^ ]+ ([^ ]+) SIP\/(\d+\.\d+)$/i.exec(line);
  if (request === null) return { ...none, flaw: { why: 'malformed request line', status: 400 } };
  if (request[2] !== '2.0') return { ...none, flaw: { why: 'unknown SIP version', status: 505 } };
  const uri = parseUri(request[1] ?? '');
  // A Request-URI must not carry header fields (RFC 3261 §19.1.1, table 1).
  if (uri === undefined || (uri.scheme !== 'other' && uri.headers !== undefined)) {
    return { ...none, flaw: { why: 'malformed Request-URI', status: 400 } };
  }
  return { ...none, uri };
}

/** Joins folded lines and splits names from values. A string names what is wrong. */
function parseFields(lines: readonly string[], maxHeaders: number): RawField[] | string {
  const fields: { name: string; parts: string[] }[] = [];
  for (const line of lines) {
    if (/[\r\n]/.test(line)) return 'line break inside a header';
    if (line.startsWith(' ') || line.startsWith('\t')) {
      const last = fields.at(-1);
      if (last === undefined) return 'continuation before the first header';
      last.parts.push(line.trim());
      continue;
    }
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trimEnd();
    if (!isToken(name)) return 'malformed header name';
    if (fields.length >= maxHeaders) return 'too many headers';
    fields.push({ name: longName(name), parts: [line.slice(colon + 1).trim()] });
  }
  return fields.map(({ name, parts }) => [name, parts.join(' ').trim()]);
}

function valuesOf(fields: readonly RawField[], name: string): string[] {
  return fields.filter(([candidate]) => candidate.toLowerCase() === name).map(([, value]) => value);
}

/** A string names what is missing, doubled or malformed. */
function parseEnvelope(fields: readonly RawField[]): Envelope | string {
  const via: Via[] = [];
  for (const value of valuesOf(fields, 'via').flatMap((text) => splitOutside(text, ',') ?? [''])) {
    const parsed = parseVia(value);
    if (parsed === undefined) return 'malformed Via';
    via.push(parsed);
  }
  if (via.length === 0) return 'no Via';
  // Doubles are judged by `flawOfSingles`, which can answer; the first of each serves until then.
  const [from] = valuesOf(fields, 'from');
  const [to] = valuesOf(fields, 'to');
  const [callId] = valuesOf(fields, 'call-id');
  const [cseqText] = valuesOf(fields, 'cseq');
  const fromAddress = from === undefined ? undefined : parseAddress(from);
  const toAddress = to === undefined ? undefined : parseAddress(to);
  const cseq = parseCSeq(cseqText ?? '');
  if (fromAddress === undefined) return 'missing or malformed From';
  if (toAddress === undefined) return 'missing or malformed To';
  if (callId === undefined || !CALL_ID.test(callId)) return 'missing or malformed Call-ID';
  if (cseq === undefined) return 'missing or malformed CSeq';
  return { via, from: fromAddress, to: toAddress, callId, cseq };
}

function parseCSeq(text: string): CSeq | undefined {
  const match = /^(\d+)[ \t]+(\S+)$/.exec(text);
  const number = parseNumber(match?.[1], MAX_CSEQ);
  const method = match?.[2] ?? '';
  return number === undefined || !isToken(method) ? undefined : { number, method };
}

type Flaw = { readonly why: string; readonly status: number } | undefined;

function flawOfMethod(startLine: StartLine, cseq: CSeq): Flaw {
  const differs = startLine.request && startLine.method !== cseq.method;
  return differs ? { why: 'CSeq names another method', status: 400 } : undefined;
}

function flawOfNumbers(headers: Headers): Flaw {
  const maxForwards = headers.get('Max-Forwards');
  const wrong = maxForwards !== undefined && parseNumber(maxForwards, 255) === undefined;
  return wrong ? { why: 'wrong Max-Forwards', status: 400 } : undefined;
}

function flawOfSingles(fields: readonly RawField[]): Flaw {
  for (const name of ['from', 'to', 'call-id', 'cseq', 'content-length', 'max-forwards']) {
    if (valuesOf(fields, name).length > 1) return { why: `more than one ${name}`, status: 400 };
  }
  return undefined;
}

/** Undefined when Content-Length is no number or promises more than there is. */
function takeBody(rest: Buffer, fields: readonly RawField[]): Buffer | undefined {
  const [text] = valuesOf(fields, 'content-length');
  if (text === undefined) return rest;
  const length = parseNumber(text, rest.length);
  return length === undefined ? undefined : rest.subarray(0, length);
}
