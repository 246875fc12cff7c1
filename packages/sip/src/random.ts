import { randomBytes } from 'node:crypto';

/** Where tags, branches, nonces, keys and back-off jitter come from; seeded in tests. */
export interface Random {
  bytes(count: number): Buffer;
}

export const systemRandom: Random = { bytes: (count) => randomBytes(count) };

/** A hexadecimal string of `bytes` random bytes: usable as tag, branch, Call-ID or cnonce. */
export function randomToken(random: Random, bytes = 8): string {
  return random.bytes(bytes).toString('hex');
}

/** A number in [0, 1). */
export function randomFraction(random: Random): number {
  return random.bytes(4).readUInt32BE() / 2 ** 32;
}
