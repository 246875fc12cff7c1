/**
 * Where webhooks may go: HTTPS receivers on public addresses.
 *
 *     creation   checkDestination   the form of the URL, and every address that its name has now
 *     each try   vet                the same again; the connection is made to exactly these addresses
 *
 * D1 Every address of a name must be public: a name with one public and one private address is refused.
 * D2 The address that was vetted is the one that is connected to: whoever changes the name in between gains nothing.
 * D3 Addresses that only translate to others (IPv4-mapped, NAT64) are judged by what they translate to.
 * D4 Addresses of this machine are refused, public ones too.
 * D5 Exempt are only the exact `host:port` pairs that the operator's setting names.
 */
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { Clock } from '../platform/clock.ts';

/** Gives all addresses of a host name. Rejects when it has none or can not be resolved in time. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface DestinationOptions {
  /** `host:port` pairs, as in `allowedReceivers`. */
  readonly allow: ReadonlySet<string>;
  readonly resolve: Resolve;
  readonly clock: Clock;
  /** Addresses of this machine. */
  readonly ownAddresses?: () => readonly string[];
}

export type Vetted =
  /** Not empty. */
  | { readonly kind: 'allowed'; readonly addresses: readonly string[] }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'unresolved' };

export interface Destinations {
  /**
   * What is wrong with a URL that somebody wants webhooks sent to, in words that fit behind the field's name and
   * repeat nothing of it; null when it may be used. A name that can not be resolved within `creationLookupMs` passes:
   * each try checks again. Never rejects.
   */
  readonly checkDestination: (url: string) => Promise<string | null>;
  /** Resolves and judges a URL that is about to be connected to. Never rejects. */
  readonly vet: (url: URL) => Promise<Vetted>;
}

const creationLookupMs = 2_000;
const maxUrlLength = 2_048;

/** Names that are no public names, whatever they resolve to. */
const privateNames = /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa)$/;

/** Public by their range, but special: the virtual machine's host in a large cloud, with its credentials. */
const specialAddresses: ReadonlySet<string> = new Set(['168.63.129.16']);

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

export function createDestinations(options: DestinationOptions): Destinations {
  const { allow, resolve, clock, ownAddresses = addressesOfThisMachine } = options;

  const isAllowed = (url: URL): boolean => allow.has(`${hostOf(url)}:${portOf(url)}`);

  function judge(addresses: readonly string[]): Vetted {
    const own = new Set(ownAddresses().map(canonical));
    const bad = addresses.some((address) => !isPublicAddress(address) || own.has(canonical(address)));
    if (bad) return { kind: 'refused', problem: 'must lead to public addresses only' };
    return addresses.length === 0 ? { kind: 'unresolved' } : { kind: 'allowed', addresses };
  }

  async function addressesOf(url: URL): Promise<readonly string[] | null> {
    const host = hostOf(url);
    if (isIP(host) !== 0) return [host];
    // Never asked of anybody (RFC 6761, section 6.3).
    if (host === 'localhost') return ['127.0.0.1', '::1'];
    return resolve(host).catch(() => null);
  }

  async function vet(url: URL): Promise<Vetted> {
    const allowed = isAllowed(url);
    const problem = allowed ? schemeProblem(url) : problemOfForm(url);
    if (problem !== null) return { kind: 'refused', problem };
    const addresses = await addressesOf(url);
    if (addresses === null || addresses.length === 0) return { kind: 'unresolved' };
    return allowed ? { kind: 'allowed', addresses } : judge(addresses);
  }

  async function checkDestination(text: string): Promise<string | null> {
    const url = parse(text);
    if (typeof url === 'string') return url;
    if (isAllowed(url)) return schemeProblem(url);
    const late = new AbortController();
    const vetted = await Promise.race([vet(url), clock.sleep(creationLookupMs, late.signal)]);
    late.abort();
    return typeof vetted === 'object' && vetted.kind === 'refused' ? vetted.problem : null;
  }

  return { checkDestination, vet };
}

/** The URL, or what is wrong with its text. */
function parse(text: string): URL | string {
  if (text.length > maxUrlLength) return `must have at most ${maxUrlLength} characters`;
  // A parser would drop, trim or turn these, and what was checked would not be what was written.
  if (/[\s\\\p{Cc}]/u.test(text)) return 'must not contain white space, backslashes or control characters';
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return 'must be an https URL';
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return 'must not contain a user name or password';
  if (text.includes('#')) return 'must not have a fragment';
  return new URL(text);
}

/** Plain HTTP is for receivers on this machine that the operator names. */
function schemeProblem(url: URL): string | null {
  return url.protocol === 'https:' || isLoopback(hostOf(url)) ? null : 'must be an https URL';
}

/** What speaks against a URL before anybody is asked for its addresses; null: nothing. */
function problemOfForm(url: URL): string | null {
  if (url.protocol !== 'https:') return 'must be an https URL';
  const host = hostOf(url).replace(/\.$/, '');
  const port = portOf(url);
  if (port !== 443 && port < 1_024) return 'must use port 443 or one from 1024 on';
  if (isIP(host) !== 0) return null;
  const isPublicName = host.includes('.') && !privateNames.test(host);
  return isPublicName ? null : 'must have a public host name';
}

/** Whether packets to this address go to the public internet. False for what is no address. */
export function isPublicAddress(text: string): boolean {
  // The library alone would also take `1.2.3`.
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) {
    return address.range() === 'unicast' && !specialAddresses.has(address.toString());
  }
  if (address.isIPv4MappedAddress()) return isPublicAddress(address.toIPv4Address().toString());
  if (address.match(nat64))
    return isPublicAddress(ipaddr.fromByteArray(address.toByteArray().slice(12)).toString());
  return address.match(globalUnicast) && address.range() === 'unicast';
}

/** Reads the entries of the setting: `host:port`, or `[address]:port`. Undefined when one is of another form. */
export function allowedReceivers(text: string): readonly string[] | undefined {
  const entries = text
    .split(',')
    .flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim().toLowerCase()]));
  const read = entries.map((entry) => {
    const url =
      /:\d{1,5}$/.test(entry) && URL.canParse(`https://${entry}`) ? new URL(`https://${entry}`) : null;
    const bare = url !== null && url.pathname === '/' && url.username === '' && url.search + url.hash === '';
    return bare ? `${hostOf(url)}:${portOf(url)}` : undefined;
  });
  return read.every((entry) => entry !== undefined) ? read : undefined;
}

/**
 * Resolves names by the DNS servers of the system (or those given), at most about 6 s. Not by its hosts file, which is
 * for this machine's own purposes.
 */
export function createResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw new Error('the name has no address');
    return addresses;
  };
}

/** Without the brackets of an IPv6 address. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');
const portOf = ({ protocol, port }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
const isLoopback = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && ipaddr.process(host).range() === 'loopback');
const canonical = (address: string): string => ipaddr.process(address.replace(/%.*$/, '')).toString();

function addressesOfThisMachine(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
