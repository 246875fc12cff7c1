/**
 * Where a request goes (RFC 3263): from a URI to an ordered list of hops over which the sender fails over.
 *
 *   IP literal or port given ──▶ A/AAAA, one transport
 *   name alone               ──▶ SRV of each transport that fits, best first ──▶ A/AAAA of each target
 *   no SRV record            ──▶ A/AAAA, default port
 *
 * NAPTR is not asked: which transports a peer speaks follows from its SRV records.
 */

import { Resolver as NodeResolver } from 'node:dns/promises';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import { paramText } from '../message/grammar.ts';
import { hostAsAddress, type SipUri } from '../message/uri.ts';
import { type Random, randomFraction } from '../random.ts';
import type { Hop, TransportName } from '../transport/network.ts';

export interface SrvRecord {
  readonly name: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** Name service as the stack needs it. Both functions resolve to an empty list when there is no such record. */
export interface Resolver {
  srv(name: string): Promise<readonly SrvRecord[]>;
  /** IPv4 and IPv6 addresses in the order to be tried. */
  addresses(name: string): Promise<readonly string[]>;
}

/** A request is tried at no more places than this. */
const MAX_HOPS = 8;
const LOOKUP_LIMIT_MS = 5_000;

/** Asks the operating system (so that its hosts file counts) for addresses and the name servers for SRV. */
export function systemResolver(): Resolver {
  const resolver = new NodeResolver({ timeout: 2_000, tries: 2 });
  return {
    srv: (name) => resolver.resolveSrv(name).catch(() => []),
    addresses: (name) =>
      lookup(name, { all: true, verbatim: true }).then(
        (found) => found.map(({ address }) => address),
        () => [],
      ),
  };
}

export interface ResolveContext {
  readonly resolver: Resolver;
  readonly random: Random;
  readonly clock: Clock;
  /** Which addresses and transports we can send to. */
  readonly canReach: (hop: Hop) => boolean;
  readonly transports: readonly TransportName[];
}

/** Never rejects. Ends with the hops in the order to be tried; none when nothing is known or reachable. */
export async function resolveHops(uri: SipUri, context: ResolveContext): Promise<Hop[]> {
  const hops = await candidates(uri, context);
  return hops.filter(context.canReach).slice(0, MAX_HOPS);
}

async function candidates(uri: SipUri, context: ResolveContext): Promise<Hop[]> {
  const asked = transportParam(uri);
  const fallback = asked ?? (uri.scheme === 'sips' ? 'tls' : 'udp');
  const host = hostAsAddress(uri.host);
  if (isIP(host) !== 0 || uri.port !== undefined) {
    return addressHops(host, uri.port ?? defaultPort(fallback), fallback, host, context);
  }
  const transports = asked === undefined ? fittingTransports(uri, context.transports) : [asked];
  const hops: Hop[] = [];
  for (const transport of transports) {
    const records = await limited(context.resolver.srv(`${SRV_PREFIX[transport]}${host}`), [], context.clock);
    for (const record of orderRecords(records, context.random)) {
      hops.push(...(await addressHops(record.name, record.port, transport, host, context)));
    }
  }
  return hops.length > 0 ? hops : addressHops(host, defaultPort(fallback), fallback, host, context);
}

const SRV_PREFIX: Readonly<Record<TransportName, string>> = {
  udp: '_sip._udp.',
  tcp: '_sip._tcp.',
  tls: '_sips._tcp.',
};

/** sips, and `transport=tls`, mean TLS; undefined when the URI leaves the choice to us. */
function transportParam(uri: SipUri): TransportName | undefined {
  const name = paramText(uri.params, 'transport')?.toLowerCase();
  if (uri.scheme === 'sips') return 'tls';
  return name === 'udp' || name === 'tcp' || name === 'tls' ? name : undefined;
}

function fittingTransports(uri: SipUri, ours: readonly TransportName[]): TransportName[] {
  return (['udp', 'tcp', 'tls'] as const).filter(
    (name) => ours.includes(name) && (uri.scheme === 'sip' || name === 'tls'),
  );
}

function defaultPort(transport: TransportName): number {
  return transport === 'tls' ? 5061 : 5060;
}

/** `serverName` is the name that a TLS peer must prove: the domain that was asked for (RFC 5922 §7.1). */
async function addressHops(
  host: string,
  port: number,
  transport: TransportName,
  serverName: string,
  context: ResolveContext,
): Promise<Hop[]> {
  const addresses =
    isIP(host) === 0 ? await limited(context.resolver.addresses(host), [], context.clock) : [host];
  return addresses.map((address) => ({ transport, address, port, serverName }));
}

/** Lower priorities first; within one, a random order in which weight counts (RFC 2782). */
export function orderRecords(records: readonly SrvRecord[], random: Random): SrvRecord[] {
  const left = records
    .filter(({ name }) => name !== '.' && name !== '')
    .sort((a, b) => a.priority - b.priority);
  const ordered: SrvRecord[] = [];
  while (left.length > 0) {
    const group = left.filter(({ priority }) => priority === left[0]?.priority);
    let draw = randomFraction(random) * group.reduce((sum, { weight }) => sum + weight, 0);
    const chosen = group.find(({ weight }) => (draw -= weight) < 0) ?? group[0];
    if (chosen === undefined) break;
    ordered.push(chosen);
    left.splice(left.indexOf(chosen), 1);
  }
  return ordered;
}

/** The value, or `otherwise` when it takes too long or fails. */
function limited<T>(value: Promise<T>, otherwise: T, clock: Clock): Promise<T> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(LOOKUP_LIMIT_MS, () => resolve(otherwise));
    const settle = (result: T): void => {
      timer.cancel();
      resolve(result);
    };
    value.then(settle, () => settle(otherwise));
  });
}
