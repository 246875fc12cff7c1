/** What a user agent gives to its calls: the stack, the settings and the table of dialogs. */

import type { Stack } from '../dialog/stack.ts';
import type { HeaderLine } from '../message/headers.ts';
import { type Params, UnsafeTextError } from '../message/grammar.ts';
import { type SipRequest, type SipResponse, responseTo } from '../message/message.ts';
import { parseUri, type SipUri, writeUri } from '../message/uri.ts';
import { Headers } from '../message/headers.ts';
import type { Hop, Source } from '../transport/network.ts';
import type { ServerTransaction } from '../transaction/layer.ts';
import type { SessionTimerPolicy } from './session-timer.ts';

export interface HostSettings {
  /** Told in User-Agent and Server. */
  readonly name: string;
  readonly sessionTimer: SessionTimerPolicy;
  /** Bound on the dialogs of the user agent, early ones included. */
  readonly maxDialogs: number;
}

/** Whoever answers for a dialog. */
export interface DialogOwner {
  handleRequest(transaction: ServerTransaction): void;
  handleAck(ack: SipRequest): void;
  /** The user agent closes. */
  close(): void;
}

export interface Host {
  readonly stack: Stack;
  readonly settings: HostSettings;
  readonly dialogs: Map<string, DialogOwner>;
  /** How to stop what runs until it is told: registrations and monitors. */
  readonly services: Set<() => Promise<void> | void>;
  /** Work that goes on behind an outcome already given (a BYE on its way): closing waits for it. */
  track(work: Promise<unknown>): void;
}

/** REFER is missing on purpose: a peer must not make us dial. NOTIFY is for the progress of REFERs that we send. */
export const ALLOWED_METHODS = [
  'INVITE',
  'ACK',
  'CANCEL',
  'BYE',
  'OPTIONS',
  'INFO',
  'UPDATE',
  'PRACK',
  'NOTIFY',
] as const;
export const SUPPORTED_EXTENSIONS = ['100rel', 'timer'] as const;

export const ALLOW: HeaderLine = ['Allow', ALLOWED_METHODS.join(', ')];
export const SUPPORTED: HeaderLine = ['Supported', SUPPORTED_EXTENSIONS.join(', ')];
export const SDP_TYPE: HeaderLine = ['Content-Type', 'application/sdp'];

/** Our Contact as seen from `hop`. `user` is the user part, `secure` when the dialog is a `sips:` one. */
export function contactLine(
  host: Host,
  hop: Hop | Source,
  user: string | undefined,
  secure: boolean,
): HeaderLine {
  const sentBy = host.stack.network.sentBy(hop) ?? { host: 'invalid' };
  const params: Params = hop.transport === 'udp' ? new Map() : new Map([['transport', hop.transport]]);
  const uri: SipUri = { scheme: secure ? 'sips' : 'sip', user, ...sentBy, params };
  return ['Contact', `<${writeUri(uri)}>`];
}

/** Answers a request with a final response that needs nothing of its own. */
export function reply(
  transaction: ServerTransaction,
  status: number,
  lines: readonly HeaderLine[] = [],
  toTag?: string,
): void {
  transaction.respond(responseTo(transaction.request, status, { headers: Headers.from(lines), toTag }));
}

/** Parses a SIP URI that a caller of this package gave. Throws `TypeError`: it is the caller's mistake. */
export function requireSipUri(text: string, what: string): SipUri {
  const uri = parseUri(text);
  const usable = uri !== undefined && uri.scheme !== 'other' && uri.headers === undefined;
  if (!usable) throw new TypeError(`${what} must be a SIP URI without header fields`);
  return uri;
}

const OWN_FIELDS = new Set(
  [
    'Via',
    'From',
    'To',
    'Call-ID',
    'CSeq',
    'Contact',
    'Content-Length',
    'Content-Type',
    'Max-Forwards',
    'Route',
  ].map((name) => name.toLowerCase()),
);

/** Checks header fields that a caller of this package gave. Throws `UnsafeTextError`. */
export function requireExtraHeaders(lines: readonly HeaderLine[]): readonly HeaderLine[] {
  for (const [name] of Headers.from(lines)) {
    if (OWN_FIELDS.has(name.toLowerCase())) throw new UnsafeTextError(`header ${name} belongs to the stack`);
  }
  return lines;
}

/** True when a response establishes or confirms a dialog. */
export function isSuccess({ status }: SipResponse): boolean {
  return status >= 200 && status < 300;
}
