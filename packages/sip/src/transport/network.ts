/**
 * What the transaction layer needs of a network. `openNetwork` is the real one; tests put one between that
 * loses packets.
 */

import type { SipMessage, SipRequest } from '../message/message.ts';
import type { HostPort } from '../message/uri.ts';

export type TransportName = 'udp' | 'tcp' | 'tls';

/** One place to send to. */
export interface Hop {
  readonly transport: TransportName;
  /** An IP address, no brackets. */
  readonly address: string;
  readonly port: number;
  /** The name that a TLS peer's certificate must carry. */
  readonly serverName?: string | undefined;
}

/** Where a message came from. */
export interface Source {
  readonly transport: TransportName;
  readonly address: string;
  readonly port: number;
  /** The connection that it came over; responses go back on it while it lives (RFC 3261 §18.2.2). */
  readonly connection?: number | undefined;
}

export type SendOutcome = { readonly kind: 'sent' } | { readonly kind: 'failed'; readonly why: string };

export interface NetworkReceiver {
  onMessage(message: SipMessage, source: Source): void;
  /** A malformed request that can be answered with `status`. */
  onMalformed(answerable: SipRequest, status: number, source: Source): void;
}

export interface NetworkStats {
  readonly connections: number;
  /** Messages thrown away: malformed, too large, or over a connection limit. */
  readonly dropped: number;
}

export interface Network {
  readonly transports: readonly TransportName[];
  canReach(hop: Hop): boolean;
  /** The host and port to put into Via and Contact for what goes to this hop; undefined when it is out of reach. */
  sentBy(hop: Hop): HostPort | undefined;
  /** Never rejects. `sent` means handed to the operating system; a message with a line break in a header is not. */
  sendRequest(message: SipMessage, hop: Hop): Promise<SendOutcome>;
  /** Never rejects. Goes back over the source's connection, or over a new one to its Via when that is gone. */
  sendResponse(message: SipMessage, source: Source): Promise<SendOutcome>;
  /** Must be called once, before anything arrives. */
  receive(receiver: NetworkReceiver): void;
  stats(): NetworkStats;
  /** Closes every socket. Never rejects. Safe to repeat. */
  close(): Promise<void>;
}

export const SENT: SendOutcome = { kind: 'sent' };

export function failed(why: string): SendOutcome {
  return { kind: 'failed', why };
}
