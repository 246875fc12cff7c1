import { Refusal } from '../platform/refusal.ts';

/**
 * All values of a header in the order in which they came. `name` is in lower case.
 *
 * From Node's raw list, because its ready-made object joins two `Idempotency-Key` headers with a comma and
 * keeps only the first of two `Authorization` headers.
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index];
    if (candidate?.length === name.length && candidate.toLowerCase() === name) {
      values.push(rawHeaders[index + 1] ?? '');
    }
  }
  return values;
}

/** Keeps a leading U+FEFF as a character: two keys that differ are not one. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the one `Idempotency-Key`: UTF-8, trimmed of spaces and tabs (what HTTP calls white space; JavaScript's
 * `trim` would strip more), 1–255 code points. Throws: Refusal `invalid_request`.
 */
export function idempotencyKey(rawHeaders: readonly string[]): string {
  const [sent, second] = headerValues(rawHeaders, 'idempotency-key');
  if (sent === undefined) throw new Refusal('invalid_request', 'the Idempotency-Key header is missing');
  if (second !== undefined) throw new Refusal('invalid_request', 'more than one Idempotency-Key header');
  const key = trimBlanks(decodeHeader(sent));
  // Two UTF-16 units per code point at most; so a long text is not spread out to be counted.
  if (key === '' || key.length > 510 || Array.from(key).length > 255) {
    throw new Refusal('invalid_request', 'the Idempotency-Key header must have 1 to 255 characters');
  }
  return key;
}

/** Node hands header bytes over as Latin-1. */
function decodeHeader(sent: string): string {
  try {
    return utf8.decode(Buffer.from(sent, 'latin1'));
  } catch (cause) {
    throw new Refusal('invalid_request', 'the Idempotency-Key header is not UTF-8', { cause });
  }
}

/** A loop, because a regular expression for the trailing blanks takes quadratic time on inner ones. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

const jsonContentForm = /^application\/json(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?$/i;

/** Makes sure that the body is announced as JSON in UTF-8, not encoded. Throws: Refusal `invalid_request`. */
export function requireJsonContent(rawHeaders: readonly string[]): void {
  const [type, secondType] = headerValues(rawHeaders, 'content-type');
  if (type === undefined || secondType !== undefined || !jsonContentForm.test(type)) {
    throw new Refusal('invalid_request', 'the Content-Type header must be application/json (in UTF-8)');
  }
  const [encoding, secondEncoding] = headerValues(rawHeaders, 'content-encoding');
  if (secondEncoding !== undefined || (encoding !== undefined && encoding.toLowerCase() !== 'identity')) {
    throw new Refusal('invalid_request', 'the body must not have a Content-Encoding');
  }
}
