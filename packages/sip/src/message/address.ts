/** name-addr and addr-spec as in From, To, Contact, Route and Record-Route (RFC 3261 §20.10). */

import {
  isQuoted,
  isToken,
  paramText,
  parseParams,
  type Params,
  splitOutside,
  unquote,
  withParam,
  writeParams,
} from './grammar.ts';
import { parseUri, type Uri, writeUri } from './uri.ts';

export interface Address {
  /** The display name as written, quotes kept; empty when there is none. */
  readonly display: string;
  readonly uri: Uri;
  readonly params: Params;
}

/** Parses one address. The angle brackets may be absent when the URI has no comma, semicolon or question mark. */
export function parseAddress(text: string): Address | undefined {
  const open = findOpeningBracket(text);
  if (open === undefined) return undefined;
  return open < 0 ? parseBare(text) : parseBracketed(text, open);
}

/** The index of the first `<` outside quotes, −1 without one; undefined when a quote stays open. */
function findOpeningBracket(text: string): number | undefined {
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\' && quoted) at += 1;
    else if (char === '"') quoted = !quoted;
    else if (char === '<' && !quoted) return at;
  }
  return quoted ? undefined : -1;
}

function parseBracketed(text: string, open: number): Address | undefined {
  const close = text.indexOf('>', open);
  if (close < 0) return undefined;
  const display = text.slice(0, open).trim();
  if (display !== '' && !isQuoted(display) && !display.split(/[ \t]+/).every(isToken)) return undefined;
  const uri = parseUri(text.slice(open + 1, close));
  const params = parseParams(text.slice(close + 1));
  return uri && params && { display, uri, params };
}

function parseBare(text: string): Address | undefined {
  const semicolon = text.indexOf(';');
  const spec = (semicolon < 0 ? text : text.slice(0, semicolon)).trim();
  if (/[,?]/.test(spec)) return undefined;
  const uri = parseUri(spec);
  const params = parseParams(semicolon < 0 ? '' : text.slice(semicolon));
  return uri && params && { display: '', uri, params };
}

/** Parses every address of a comma-separated list; undefined when any of them is malformed. */
export function parseAddressList(values: readonly string[]): Address[] | undefined {
  const addresses: Address[] = [];
  for (const value of values) {
    for (const part of splitOutside(value, ',') ?? ['']) {
      const address = parseAddress(part);
      if (address === undefined) return undefined;
      addresses.push(address);
    }
  }
  return addresses;
}

export function writeAddress({ display, uri, params }: Address): string {
  return `${display === '' ? '' : `${display} `}<${writeUri(uri)}>${writeParams(params)}`;
}

/** The display name as a person reads it. */
export function displayName(address: Address): string {
  return unquote(address.display);
}

export function tagOf(address: Address): string | undefined {
  return paramText(address.params, 'tag');
}

export function withTag(address: Address, tag: string): Address {
  return { ...address, params: withParam(address.params, 'tag', tag) };
}
