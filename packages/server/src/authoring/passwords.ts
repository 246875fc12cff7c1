/**
 * Passwords, hashed with scrypt (RFC 7914). The hash names its parameters, so that they can be raised later:
 *
 *     scrypt$<N>$<r>$<p>$<salt>$<hash>        salt and hash in base64url
 *
 * 32 MiB and about 0.2 s for each; at most two are worked out at a time, so that a flood of sign-ins neither takes the
 * memory nor starves what else uses Node's threads.
 */
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { Refusal } from '../platform/refusal.ts';

/** As strong as OWASP's recommendation (N=2^17, p=1), with a quarter of its memory. */
const cost = { N: 2 ** 15, r: 8, p: 3 };
const hashBytes = 32;
const maxAtOnce = 2;
/** About 3 s of work; more is refused. */
const maxWaiting = 30;

let atWork = 0;
const waiting: (() => void)[] = [];

/** Hashes a password. Throws: Refusal `rate_limit_exceeded` when too many wait. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await inTurn(() => derive(password, salt, cost));
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * Tells whether the password is the one of the hash, in constant time. With null (there is no such person) it works as
 * long, and says no. Throws: as `hashPassword`.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = (stored ?? nobody).split('$');
  const options = { N: Number(N), r: Number(r), p: Number(p) };
  const derived = await inTurn(() => derive(password, Buffer.from(salt, 'base64url'), options));
  const same = timingSafeEqual(derived, Buffer.from(hash, 'base64url'));
  return same && stored !== null;
}

const nobody = ['scrypt', cost.N, cost.r, cost.p, 'AAAA', Buffer.alloc(hashBytes).toString('base64url')].join(
  '$',
);

function derive(password: string, salt: Uint8Array, options: ScryptOptions): Promise<Buffer> {
  const { N = cost.N, r = cost.r, p = cost.p } = options;
  // One text, one password, however the keyboard composed its letters.
  const text = password.normalize('NFKC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, hashBytes, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (atWork < maxAtOnce) atWork += 1;
  else await turn();
  try {
    return await work();
  } finally {
    // The place is handed on, so nobody slips in between.
    const next = waiting.shift();
    if (next === undefined) atWork -= 1;
    else next();
  }
}

function turn(): Promise<void> {
  if (waiting.length >= maxWaiting) {
    const headers = { 'retry-after': '3' };
    throw new Refusal('rate_limit_exceeded', 'too many people are signing in', { headers });
  }
  return new Promise((resolve) => waiting.push(resolve));
}
