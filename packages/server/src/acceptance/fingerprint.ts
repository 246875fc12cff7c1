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

/**
 * Fingerprints the request for a call by what it says: key order and white space make no difference, nor does a field
 * that is null, which means the same as one that is left out. Inside `metadata` and schemas a null is the client's own.
 * (SHA-256, 32 bytes.)
 */
export function fingerprintOfCall(request: Readonly<Record<string, unknown>>): Buffer {
  const { recipients } = request;
  const sent = Array.isArray(recipients)
    ? { ...request, recipients: recipients.map((one: unknown) => (isObject(one) ? withoutNulls(one) : one)) }
    : request;
  return createHash('sha256')
    .update(canonical(withoutNulls(sent)))
    .digest();
}

const withoutNulls = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${entries.join(',')}}`;
}
