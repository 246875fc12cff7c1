/**
 * The pieces of RFC 3261 §25 that many header fields share: tokens, quoted strings, lists, parameters.
 * Everything here runs in time linear in its input.
 */

/** Parameter names are lower case; values are the raw text (quotes kept), or null for a bare name. */
export type Params = ReadonlyMap<string, string | null>;

export const NO_PARAMS: Params = new Map();

const TOKEN = /^[A-Za-z0-9\-.!%*_+`'~]+$/;
/** What may stand to the right of `=` without quotes: a token, a host or an IPv6 reference. */
const BARE_VALUE = /^[A-Za-z0-9\-.!%*_+`'~:[\]/@$&?]+$/;
// eslint-disable-next-line no-control-regex
const QUOTED = /^"(?:[^"\\\r\n]|\\[\u0000-\u0009\u000b\u000c\u000e-\u007f])*"$/;
const LINE_BREAK = /[\r\n]/;

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

export function isQuoted(text: string): boolean {
  return QUOTED.test(text);
}

/** The text inside a quoted string; text without quotes is returned as it is. */
export function unquote(text: string): string {
  return isQuoted(text) ? text.slice(1, -1).replace(/\\([^])/g, '$1') : text;
}

/** Throws `UnsafeTextError` when the text has a line break. */
export function quote(text: string): string {
  return `"${singleLine(text, 'quoted text').replace(/["\\]/g, '\\$&')}"`;
}

/** A caller tried to put a line break where it would start a header field of its own. */
export class UnsafeTextError extends Error {
  override readonly name = 'UnsafeTextError';
}

/** Returns `text`, or throws `UnsafeTextError` when it has a carriage return or a line feed. */
export function singleLine(text: string, what: string): string {
  if (LINE_BREAK.test(text)) throw new UnsafeTextError(`${what} must not contain a line break`);
  return text;
}

/**
 * Splits at `separator` where it stands outside quotes and angle brackets, and trims the parts.
 * Ends with undefined when a quote or a bracket stays open.
 */
export function splitOutside(text: string, separator: ',' | ';'): string[] | undefined {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  let bracketed = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (quoted) {
      if (char === '\\') at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '<') bracketed = true;
    else if (char === '>') bracketed = false;
    else if (char === separator && !bracketed) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  if (quoted || bracketed) return undefined;
  parts.push(text.slice(start).trim());
  return parts;
}

/** Parses `;a=1;b` (white space allowed around every piece). The empty string has no parameters. */
export function parseParams(text: string): Params | undefined {
  if (text.trim() === '') return NO_PARAMS;
  const parts = splitOutside(text, ';');
  if (parts === undefined || parts[0] !== '') return undefined;
  const params = new Map<string, string | null>();
  for (const part of parts.slice(1)) {
    const equals = part.indexOf('=');
    const name = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase();
    if (!isToken(name)) return undefined;
    const value = equals < 0 ? null : part.slice(equals + 1).trim();
    if (value !== null && !BARE_VALUE.test(value) && !isQuoted(value)) return undefined;
    if (!params.has(name)) params.set(name, value);
  }
  return params;
}

export function writeParams(params: Params): string {
  let text = '';
  for (const [name, value] of params) text += value === null ? `;${name}` : `;${name}=${value}`;
  return text;
}

/** The value of a parameter without its quotes; undefined when it is absent or has no value. */
export function paramText(params: Params, name: string): string | undefined {
  const value = params.get(name);
  return value === undefined || value === null ? undefined : unquote(value);
}

export function withParam(params: Params, name: string, value: string | null): Params {
  return new Map(params).set(name, value);
}

/** A decimal number of at most `max`, leading zeros allowed; undefined for anything else. */
export function parseNumber(text: string | undefined, max: number): number | undefined {
  if (text === undefined || !/^\d{1,20}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= max ? value : undefined;
}
