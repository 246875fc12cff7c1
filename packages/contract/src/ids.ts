/**
 * Identifiers. Each is a prefix that names the kind of thing and the 128 bits of a UUIDv7 (RFC 9562 §5.7:
 * 48 bits of Unix milliseconds, 74 random bits) in 26 lower-case Crockford base-32 characters. They sort by
 * creation time, so tables grow at the right edge of their indexes. Clients must treat them as opaque.
 */

export const idPrefixes = [
  'acct',
  'key',
  'goal',
  'rspec',
  'grun',
  'run',
  'call',
  'rcp',
  'num',
  'att',
  'xfer',
  'evt',
  'req',
  'wrk',
  'whe',
  'dlv',
  'prsn',
  'aud',
  'tcall',
] as const;
export type IdPrefix = (typeof idPrefixes)[number];

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const suffixPattern = /^[0-9a-hjkmnp-tv-z]{26}$/;

/**
 * Builds an id from a time and 10 random bytes.
 *
 * `unixMs` must be an integer in [0, 2^48). Throws: RangeError on a bad time or too few bytes.
 */
export function formatId(prefix: IdPrefix, unixMs: number, random: Uint8Array): string {
  if (!Number.isInteger(unixMs) || unixMs < 0 || unixMs >= 2 ** 48)
    throw new RangeError('unixMs out of range');
  if (random.length < 10) throw new RangeError('10 random bytes are needed');
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Math.floor(unixMs / 2 ** 16));
  view.setUint16(4, unixMs % 2 ** 16);
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return `${prefix}_${base32(bytes)}`;
}

/** Tells whether `text` has the form of an id with this prefix. Never throws. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && suffixPattern.test(text.slice(prefix.length + 1));
}

function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 2; // 128 bits in 26 digits of 5: two leading zero bits
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    held += 8;
    while (held >= 5) {
      held -= 5;
      text += alphabet[(bits >>> held) & 31];
      bits &= (1 << held) - 1;
    }
  }
  return text;
}
