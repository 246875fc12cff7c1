/** Header fields in their order. Immutable: the `with…` functions return a new list. */

import { isToken, singleLine, splitOutside, UnsafeTextError } from './grammar.ts';

const COMPACT_NAMES: Readonly<Record<string, string>> = {
  a: 'Accept-Contact',
  b: 'Referred-By',
  c: 'Content-Type',
  d: 'Request-Disposition',
  e: 'Content-Encoding',
  f: 'From',
  i: 'Call-ID',
  j: 'Reject-Contact',
  k: 'Supported',
  l: 'Content-Length',
  m: 'Contact',
  n: 'Identity-Info',
  o: 'Event',
  r: 'Refer-To',
  s: 'Subject',
  t: 'To',
  u: 'Allow-Events',
  v: 'Via',
  x: 'Session-Expires',
  y: 'Identity',
};

/** The long form of a header name; other names are returned as they are. */
export function longName(name: string): string {
  return (name.length === 1 ? COMPACT_NAMES[name.toLowerCase()] : undefined) ?? name;
}

export type HeaderLine = readonly [name: string, value: string];

interface Field {
  readonly name: string;
  readonly key: string;
  readonly value: string;
}

export class Headers {
  static readonly none = new Headers([]);
  readonly #fields: readonly Field[];

  private constructor(fields: readonly Field[]) {
    this.#fields = fields;
  }

  /** Throws `UnsafeTextError` for a name that is no token or a value with a line break. */
  static from(pairs: Iterable<HeaderLine>): Headers {
    const fields: Field[] = [];
    for (const [name, value] of pairs) {
      if (!isToken(name)) throw new UnsafeTextError('a header name must be a token');
      fields.push({ name, key: name.toLowerCase(), value: singleLine(value, `header ${name}`) });
    }
    return fields.length === 0 ? Headers.none : new Headers(fields);
  }

  /** The value of the first field of that name, in any case. */
  get(name: string): string | undefined {
    const key = name.toLowerCase();
    return this.#fields.find((field) => field.key === key)?.value;
  }

  all(name: string): string[] {
    const key = name.toLowerCase();
    return this.#fields.filter((field) => field.key === key).map((field) => field.value);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The items of a comma-separated header over all of its fields, lower case; for option tags and methods. */
  tokens(name: string): string[] {
    return this.all(name)
      .flatMap((value) => splitOutside(value, ',') ?? [])
      .map((item) => item.toLowerCase())
      .filter((item) => item !== '');
  }

  /** The fields with `more` behind them. Throws as `from` does. */
  with(more: Iterable<HeaderLine>): Headers {
    return new Headers([...this.#fields, ...Headers.from(more).#fields]);
  }

  without(name: string): Headers {
    const key = name.toLowerCase();
    return new Headers(this.#fields.filter((field) => field.key !== key));
  }

  *[Symbol.iterator](): Generator<HeaderLine> {
    for (const { name, value } of this.#fields) yield [name, value];
  }

  get size(): number {
    return this.#fields.length;
  }
}
