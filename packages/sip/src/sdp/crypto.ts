/** SRTP keys in session descriptions: the `crypto` attribute (RFC 4568), the two AES-CM suites. */

export const SRTP_SUITES = ['AES_CM_128_HMAC_SHA1_80', 'AES_CM_128_HMAC_SHA1_32'] as const;

export type SrtpSuite = (typeof SRTP_SUITES)[number];

/** Master key (16 bytes) and master salt (14 bytes), in this order. */
export const SRTP_KEY_BYTES = 30;

export interface CryptoLine {
  readonly tag: string;
  readonly suite: SrtpSuite;
  /** `SRTP_KEY_BYTES` long. */
  readonly key: Buffer;
}

/**
 * Parses the value of one `crypto` attribute. Undefined for a suite, a key parameter (MKI, several keys) or a
 * session parameter that we do not speak: using such a line half would break the media or weaken it.
 */
export function parseCrypto(value: string): CryptoLine | undefined {
  const match =
    /^(\d{1,9})\s+(\S+)\s+inline:([A-Za-z0-9+/]{40}={0,2})(?:\|(?:2\^\d{1,2}|\d{1,15}))?\s*$/.exec(value);
  const suite = SRTP_SUITES.find((candidate) => candidate === match?.[2]?.toUpperCase());
  const key = Buffer.from(match?.[3] ?? '', 'base64');
  if (suite === undefined || key.length !== SRTP_KEY_BYTES) return undefined;
  return { tag: match?.[1] ?? '', suite, key };
}

export function writeCrypto({ tag, suite, key }: CryptoLine): string {
  return `${tag} ${suite} inline:${key.toString('base64')}`;
}
