import { createHash } from 'node:crypto';

/**
 * Fingerprints a request by value, as it was sent: key order, white space, `1` or `1.0` and escapes make no
 * difference; defaults that a schema would add are not yet in. (SHA-256, 32 bytes.)
 *
 * `variables` must hold scalars only; anything else is written too, so that it differs from all that was
 * ever accepted.
 */
export function fingerprint(phone: string, variables: Readonly<Record<string, unknown>>): Buffer {
  const entries = Object.keys(variables)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(variables[name])}`);
  return createHash('sha256')
    .update(`${JSON.stringify(phone)}{${entries.join(',')}}`)
    .digest();
}
