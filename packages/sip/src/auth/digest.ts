/**
 * Digest access authentication, the client side (RFC 3261 §22, RFC 7616, RFC 8760): MD5 and SHA-256,
 * qop=auth or none, stale nonces.
 */

import { createHash } from 'node:crypto';
import { paramText, parseParams, quote, singleLine, splitOutside, type Params } from '../message/grammar.ts';
import type { SipResponse } from '../message/message.ts';
import { randomToken, type Random } from '../random.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

interface Challenge {
  readonly header: 'Authorization' | 'Proxy-Authorization';
  readonly realm: string;
  readonly nonce: string;
  readonly opaque?: string | undefined;
  readonly algorithm: 'MD5' | 'SHA-256';
  /** The algorithm as the challenge spelt it; undefined when it named none. */
  readonly algorithmText?: string | undefined;
  readonly qop: boolean;
  readonly stale: boolean;
  /** How often its nonce has been used. */
  readonly uses: number;
}

const HASHES = { MD5: 'md5', 'SHA-256': 'sha256' } as const;
/** Realms and proxies on one path; a hostile chain of challenges must end. */
const MAX_CHALLENGES = 4;
/** Answers to one realm before its refusal is final: the first, and one more for a stale nonce. */
const MAX_TRIES = 2;

/**
 * Holds what one peer (a call, a registration) was asked for and answers it.
 *
 * The nonce is kept, so that later requests carry their authorization at once with a rising nonce count.
 */
export class Authenticator {
  readonly #credentials: Credentials;
  readonly #random: Random;
  readonly #challenges = new Map<string, Challenge>();

  /** Throws `UnsafeTextError` for a user name with a line break. */
  constructor(credentials: Credentials, random: Random) {
    singleLine(credentials.username, 'user name');
    this.#credentials = credentials;
    this.#random = random;
  }

  /** The header fields that answer every challenge so far. Each call uses up one nonce count. */
  headersFor(method: string, uri: string): [name: string, value: string][] {
    return [...this.#challenges].map(([key, challenge]) => {
      const next = { ...challenge, uses: challenge.uses + 1 };
      this.#challenges.set(key, next);
      return [challenge.header, answer(next, this.#credentials, method, uri, randomToken(this.#random))];
    });
  }

  /**
   * Takes the challenges of a 401 or 407. Ends with true when another try has a chance: the challenge is new,
   * or its nonce has gone stale. `tries` counts the authorized tries of this request; two is the most.
   */
  challenged(response: SipResponse, tries: number): boolean {
    if (tries >= MAX_TRIES) return false;
    const challenge = strongest(readChallenges(response));
    if (challenge === undefined) return false;
    const key = `${challenge.header} ${challenge.realm}`;
    const known = this.#challenges.get(key);
    const refused = tries > 0 && known !== undefined && !challenge.stale;
    if (refused || (known === undefined && this.#challenges.size >= MAX_CHALLENGES)) return false;
    this.#challenges.set(key, challenge);
    return true;
  }
}

function readChallenges(response: SipResponse): Challenge[] {
  const proxy = response.status === 407;
  const values = response.headers.all(proxy ? 'Proxy-Authenticate' : 'WWW-Authenticate');
  return values.flatMap((value) => {
    const challenge = readChallenge(value, proxy);
    return challenge === undefined ? [] : [challenge];
  });
}

function readChallenge(value: string, proxy: boolean): Challenge | undefined {
  const params = digestParams(value);
  const realm = params && paramText(params, 'realm');
  const nonce = params && paramText(params, 'nonce');
  if (params === undefined || realm === undefined || nonce === undefined) return undefined;
  const algorithmText = paramText(params, 'algorithm');
  const algorithm = algorithmText?.toUpperCase() ?? 'MD5';
  const qop = paramText(params, 'qop');
  const offersAuth = qop !== undefined && /(?:^|[\s,])auth(?:$|[\s,])/i.test(qop);
  if ((algorithm !== 'MD5' && algorithm !== 'SHA-256') || (qop !== undefined && !offersAuth))
    return undefined;
  return {
    header: proxy ? 'Proxy-Authorization' : 'Authorization',
    realm,
    nonce,
    opaque: paramText(params, 'opaque'),
    algorithm,
    algorithmText,
    qop: offersAuth,
    stale: paramText(params, 'stale')?.toLowerCase() === 'true',
    uses: 0,
  };
}

/** The parameters of `Digest a=b, c="d"`; undefined for another scheme. */
export function digestParams(value: string): Params | undefined {
  const match = /^Digest[ \t]+([^]*)$/i.exec(value);
  const parts = match === null ? undefined : splitOutside(match[1] ?? '', ',');
  return (
    parts &&
    parseParams(
      parts
        .filter((part) => part !== '')
        .map((part) => `;${part}`)
        .join(''),
    )
  );
}

/** SHA-256 before MD5 (RFC 8760 §2.4). */
function strongest(challenges: readonly Challenge[]): Challenge | undefined {
  return challenges.find(({ algorithm }) => algorithm === 'SHA-256') ?? challenges[0];
}

/** Everything that goes into a digest response. */
export interface DigestInput extends Credentials {
  readonly algorithm: 'MD5' | 'SHA-256';
  readonly realm: string;
  readonly nonce: string;
  readonly method: string;
  readonly uri: string;
  /** Undefined for the older form without qop. */
  readonly qop?: { readonly cnonce: string; readonly count: string } | undefined;
}

/** RFC 7616 §3.4.1. */
export function digestResponse(input: DigestInput): string {
  const hash = (text: string): string => createHash(HASHES[input.algorithm]).update(text).digest('hex');
  const secret = hash(`${input.username}:${input.realm}:${input.password}`);
  const request = hash(`${input.method}:${input.uri}`);
  const middle = input.qop === undefined ? '' : `${input.qop.count}:${input.qop.cnonce}:auth:`;
  return hash(`${secret}:${input.nonce}:${middle}${request}`);
}

function answer(
  challenge: Challenge,
  credentials: Credentials,
  method: string,
  uri: string,
  cnonce: string,
): string {
  const { realm, nonce, algorithm, opaque } = challenge;
  const qop = challenge.qop ? { cnonce, count: challenge.uses.toString(16).padStart(8, '0') } : undefined;
  const fields = [
    `username=${quote(credentials.username)}`,
    `realm=${quote(realm)}`,
    `nonce=${quote(nonce)}`,
    `uri=${quote(uri)}`,
    `response="${digestResponse({ ...credentials, algorithm, realm, nonce, method, uri, qop })}"`,
    ...(challenge.algorithmText === undefined ? [] : [`algorithm=${challenge.algorithm}`]),
    ...(opaque === undefined ? [] : [`opaque=${quote(opaque)}`]),
    ...(qop === undefined ? [] : ['qop=auth', `nc=${qop.count}`, `cnonce="${cnonce}"`]),
  ];
  return `Digest ${fields.join(', ')}`;
}
