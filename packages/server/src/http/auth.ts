import { isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Scope } from '@trunkcall/contract';
import type { Keyring, KeyView } from '../authoring/keys.ts';
import type { Clock } from '../platform/clock.ts';
import { Refusal } from '../platform/refusal.ts';
import { headerValues } from './headers.ts';
import type { HttpSettings } from './settings.ts';
import { TokenBuckets } from '../platform/token-buckets.ts';

/** Who may make Developer API requests, and how often. */
export interface Gate {
  /**
   * Finds out whose request it is: key, scope, rate, in this order.
   *
   * Ends with: the key, also noted on the request for its log line. Throws: Refusal `unauthorized`, `forbidden`,
   * `rate_limit_exceeded`; DatabaseUnavailable.
   */
  admit(request: FastifyRequest, scope: Scope): Promise<KeyView>;
}

const bearerForm = /^bearer +([\w-]{1,200})$/i;

export function createGate(keys: Keyring, clock: Clock, settings: HttpSettings): Gate {
  const requests = new TokenBuckets(clock, settings.keyRate);
  const wrongKeys = new TokenBuckets(clock, settings.wrongKeyRate);
  /** By the text of the key; as many as there are requests at most. */
  const verifying = new Map<string, Promise<KeyView>>();

  async function admit(request: FastifyRequest, scope: Scope): Promise<KeyView> {
    const text = bearerKey(request.raw.rawHeaders);
    const key = keys.recall(text) ?? (await verify(text, request.ip));
    request.caller = key;
    if (!key.scopes.includes(scope)) {
      throw new Refusal('forbidden', `this key lacks the scope ${scope}`);
    }
    const waitSeconds = requests.take(key.id);
    if (waitSeconds > 0) throw tooMany('too many requests with this key', waitSeconds);
    return key;
  }

  /** Verifies a key once for all requests that bring it at the same time: they are one guess, and one question. */
  function verify(text: string, address: string | undefined): Promise<KeyView> {
    const underway = verifying.get(text);
    if (underway !== undefined) return underway;
    const begun = verifyAlone(text, address).finally(() => verifying.delete(text));
    verifying.set(text, begun);
    return begun;
  }

  /**
   * Asks the database, but not for an address that has tried too many wrong keys. A key that was right before is
   * let through even then: others behind the same proxy must not be locked out.
   */
  async function verifyAlone(text: string, address: string | undefined): Promise<KeyView> {
    const guess = !keys.isFamiliar(text);
    const network = networkOf(address);
    const waitSeconds = guess ? wrongKeys.take(network) : 0;
    if (waitSeconds > 0) throw tooMany('too many wrong keys from this address', waitSeconds);
    let key: KeyView | null | undefined;
    try {
      key = await keys.verify(text);
    } finally {
      // Costs nothing unless it was found wrong; not when the database could not be asked either.
      if (guess && key !== null) wrongKeys.giveBack(network);
    }
    if (key === null) throw unauthorized('the API key is not valid');
    return key;
  }

  return { admit };
}

function bearerKey(rawHeaders: readonly string[]): string {
  const [sent, second] = headerValues(rawHeaders, 'authorization');
  if (sent === undefined) throw unauthorized('the Authorization header is missing');
  const key = second === undefined ? bearerForm.exec(sent)?.[1] : undefined;
  if (key === undefined) throw unauthorized('there must be one Authorization header: Bearer and the API key');
  return key;
}

function unauthorized(message: string): Refusal {
  return new Refusal('unauthorized', message, {
    headers: { 'www-authenticate': 'Bearer realm="trunkcall"' },
  });
}

function tooMany(message: string, waitSeconds: number): Refusal {
  return new Refusal('rate_limit_exceeded', message, { headers: { 'retry-after': String(waitSeconds) } });
}

/**
 * What one client can be expected to hold of the address space: an IPv4 address, or the /64 of an IPv6 address,
 * of which every customer line has all 2^64. An IPv4 address mapped into IPv6 counts as itself. A
 * client that has left already has no address any more: they count as one.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return '';
  const mapped = /^::ffff:(.+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%', 1).join('').split('::');
  const left = head.split(':').filter((group) => group !== '');
  const right = (tail ?? '').split(':').filter((group) => group !== '');
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
