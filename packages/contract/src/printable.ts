/**
 * What people write for people to read shows all that it holds: no control characters, and none of the marks that turn the
 * reading direction of what stands around them (U+202A–202E, U+2066–2069). With those a name could steer a terminal, or pass
 * for another one.
 *
 * As formats of the schemas, so that whatever takes something in asks for the same. A format holds no answer back: what was
 * stored before is shown as it is.
 */
import { Type } from 'typebox';

interface Bounds {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly description?: string;
}

/** A name, a title, a label. */
export const printableLine = (bounds: Bounds) => Type.String({ ...bounds, format: 'printable-line' });

/** Instructions, a description: it may have several lines. */
export const printableText = (bounds: Bounds) => Type.String({ ...bounds, format: 'printable-text' });

interface Format {
  readonly form: RegExp;
  /** What would be right. */
  readonly rule: string;
}

const formats: Readonly<Record<string, Format>> = {
  'printable-line': {
    form: /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/u,
    rule: 'must be one line without control characters and marks that turn the reading direction',
  },
  'printable-text': {
    form: /^(?:[^\p{Cc}\u202a-\u202e\u2066-\u2069]|\t|\r?\n)*$/u,
    rule: 'must have no control characters but line breaks and tabs, and no marks that turn the reading direction',
  },
};

/** For a validator of JSON Schema. */
export const printableFormats = Object.fromEntries(
  Object.entries(formats).map(([name, { form }]) => [name, form]),
);

/** What would be right, and the first character that is not; undefined when all is well, or the format is another one. */
export function unprintable(format: string, written: string): string | undefined {
  const { form, rule = '' } = formats[format] ?? {};
  const found = Array.from(written.replaceAll('\r\n', '\n')).find((each) => form?.test(each) === false);
  if (found === undefined) return undefined;
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `${rule}; it has U+${code}`;
}
