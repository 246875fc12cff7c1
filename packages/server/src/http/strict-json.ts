/**
 * A JSON parser (RFC 8259) for requests that start phone calls: it accepts what `JSON.parse` accepts and
 * gives the same value, but tells about everything that would be lost or changed on the way.
 *
 * `JSON.parse` keeps the last of two equal names, turns 1e999 into Infinity and 9007199254740993 into …992;
 * PostgreSQL refuses U+0000 and stores a lone surrogate as U+FFFD. In each case two different requests would
 * become one. Such problems do not stop the parser, because their place decides what they mean: inside
 * `variables` they are reported in their turn, elsewhere at once.
 */
import { plainName } from '../platform/plain-name.ts';
import { isExactNumber } from './exact-number.ts';

/** Deepest nesting of objects and arrays, the outermost being 1. Bounds the recursion. */
export const maxDepth = 32;

/** The names and indexes that lead from the root to a value. */
export type JsonPath = readonly (string | number)[];

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  /** `offset` is where the text stops being JSON, in UTF-16 units. */
  | { readonly ok: false; readonly offset: number };

/**
 * Parses `text`, and calls `report` for each value or object that would not survive, with its path.
 *
 * Ends with: the value (what was reported about is in it in some form, or left out), or where the text is not
 * JSON. Throws: never.
 */
export function parseStrictJson(text: string, report: (path: JsonPath, problem: string) => void): ParsedJson {
  const parser = new Parser(text, report);
  try {
    return { ok: true, value: parser.document() };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, offset: error.offset };
    throw error;
  }
}

/** Leaves the recursion; never leaves this file. */
class NotJson extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super('not JSON');
    this.offset = offset;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const hexForm = /[0-9a-fA-F]{4}/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

class Parser {
  readonly #text: string;
  readonly #report: (path: JsonPath, problem: string) => void;
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string, report: (path: JsonPath, problem: string) => void) {
    this.#text = text;
    this.#report = report;
  }

  document(): unknown {
    const value = this.#value(1);
    if (!Number.isNaN(this.#next())) throw new NotJson(this.#at);
    return value;
  }

  #value(depth: number): unknown {
    switch (this.#next()) {
      case openBrace:
        return depth > maxDepth ? this.#skipTooDeep() : this.#object(depth);
      case openBracket:
        return depth > maxDepth ? this.#skipTooDeep() : this.#array(depth);
      case quote:
        return this.#string();
      case 0x74:
        return this.#word('true', true);
      case 0x66:
        return this.#word('false', false);
      case 0x6e:
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#at += 1;
    if (this.#next() === closeBrace) {
      this.#at += 1;
      return object;
    }
    for (;;) {
      if (this.#next() !== quote) throw new NotJson(this.#at);
      const name = this.#string();
      // Assigning to `__proto__` would change the object's prototype instead of its content. `constructor` and
      // the like become plain own properties, and what follows looks at own properties only.
      const isProto = name === '__proto__';
      if (isProto) this.#problem('has a field named __proto__');
      else if (Object.hasOwn(object, name)) this.#problem(`has the field ${plainName(name)} twice`);
      this.#expect(colon);
      this.#path.push(name);
      const value = this.#value(depth + 1);
      this.#path.pop();
      if (!isProto) object[name] = value;
      if (!this.#continues(closeBrace)) return object;
    }
  }

  #array(depth: number): unknown[] {
    const array: unknown[] = [];
    this.#at += 1;
    if (this.#next() === closeBracket) {
      this.#at += 1;
      return array;
    }
    for (;;) {
      this.#path.push(array.length);
      array.push(this.#value(depth + 1));
      this.#path.pop();
      if (!this.#continues(closeBracket)) return array;
    }
  }

  /** Steps over the value at `#at` without recursion; whether it is JSON is left to `JSON.parse`, which has none either. */
  #skipTooDeep(): null {
    this.#problem(`is nested deeper than ${maxDepth}`);
    const start = this.#at;
    let open = 0;
    do {
      const code = this.#text.charCodeAt(this.#at);
      if (code === quote) {
        this.#string();
        continue;
      }
      if (code === openBrace || code === openBracket) open += 1;
      else if (code === closeBrace || code === closeBracket) open -= 1;
      else if (Number.isNaN(code)) throw new NotJson(this.#at);
      this.#at += 1;
    } while (open > 0);
    try {
      JSON.parse(this.#text.slice(start, this.#at));
    } catch {
      throw new NotJson(start);
    }
    return null;
  }

  #string(): string {
    const text = this.#text;
    let from = this.#at + 1;
    let at = from;
    let value = '';
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === quote) break;
      if (code < 0x20 || Number.isNaN(code)) throw new NotJson(at);
      if (code === backslash) {
        value += text.slice(from, at) + this.#escape(at + 1);
        from = this.#at;
        at = from;
      } else {
        at += 1;
      }
    }
    value += text.slice(from, at);
    this.#at = at + 1;
    if (!value.isWellFormed()) this.#problem('holds half of a surrogate pair');
    if (value.includes('\u0000')) this.#problem('holds the character U+0000');
    return value;
  }

  /** Reads what follows a backslash at `at`, and leaves `#at` behind it. */
  #escape(at: number): string {
    const letter = this.#text.charAt(at);
    if (letter === 'u') {
      hexForm.lastIndex = at + 1;
      if (!hexForm.test(this.#text)) throw new NotJson(at);
      this.#at = at + 5;
      return String.fromCharCode(Number.parseInt(this.#text.slice(at + 1, at + 5), 16));
    }
    if (!Object.hasOwn(escapes, letter)) throw new NotJson(at);
    this.#at = at + 1;
    return escapes[letter] ?? '';
  }

  #number(): number {
    numberForm.lastIndex = this.#at;
    if (!numberForm.test(this.#text)) throw new NotJson(this.#at);
    const written = this.#text.slice(this.#at, numberForm.lastIndex);
    this.#at = numberForm.lastIndex;
    const value = Number(written);
    if (!isExactNumber(written, value)) this.#problem('is a number that a double can not hold');
    return value;
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw new NotJson(this.#at);
    this.#at += word.length;
    return value;
  }

  /** Skips white space and peeks at the next character; NaN at the end. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      this.#at += 1;
    }
  }

  #expect(code: number): void {
    if (this.#next() !== code) throw new NotJson(this.#at);
    this.#at += 1;
  }

  /** Steps over a comma (true) or over the end of the container (false). */
  #continues(end: number): boolean {
    const code = this.#next();
    if (code !== comma && code !== end) throw new NotJson(this.#at);
    this.#at += 1;
    return code === comma;
  }

  #problem(problem: string): void {
    this.#report(this.#path.slice(), problem);
  }
}

/** Names that may be repeated in a message: those that look like a field's, not like a phone number or a sentence. */
const nameable = /^[A-Za-z_][\w.-]{0,63}$/;

/**
 * Writes a path as a JSON pointer (RFC 6901) for an error message; names that may be private (I10) become `…`.
 */
export function describePath(path: JsonPath): string {
  return path.map((step) => `/${typeof step === 'number' || nameable.test(step) ? step : '…'}`).join('');
}

/** The name in quotes when it may be repeated in a message, else what it is. */
export function describeName(name: string): string {
  return nameable.test(name) ? `'${name}'` : 'a field';
}
