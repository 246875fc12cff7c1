/** What commands print: one JSON document for machines, or aligned text for people. */

export interface Report {
  readonly json: boolean;
  /** Prints the document, or what `text` makes of it. */
  print<T>(document: T, text: (document: T) => string): void;
  /** Prints a line as it comes; for people only. */
  line(text: string): void;
}

export function createReport(out: (text: string) => void, json: boolean): Report {
  return {
    json,
    print: (document, text) => out(json ? `${JSON.stringify(document, null, 2)}\n` : `${text(document)}\n`),
    line: (text) => {
      if (!json) out(`${text}\n`);
    },
  };
}

/**
 * Text that can not steer the terminal: what callees said and authors wrote is shown, not obeyed. Control
 * characters and the marks that turn the reading direction become U+FFFD.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, '\uFFFD');
}

/** Columns as wide as their widest cell, two spaces apart; `none` when there is no row. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return 'none';
  const lines = [head, ...rows.map((row) => row.map(printable))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ''))));
  return lines
    .map((line) =>
      widths
        .map((width, column) => pad(line[column] ?? '', width))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Code points: exact for the scripts in which letters are one column wide. */
const widthOf = (text: string) => Array.from(text).length;
const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** A title with indented text below it. */
export const section = (title: string, text: string): string => `${title}\n${text.replaceAll(/^/gm, '  ')}`;

/** Names and values below each other; a null value is left out. */
export function fields(entries: Readonly<Record<string, string | number | null>>): string {
  const shown = Object.entries(entries).filter(([, value]) => value !== null);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}`).join('\n');
}

/** `2026-01-31 09:05`, UTC. */
export function shortTime(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

/** The time of day with seconds, UTC. */
export function clockTime(time: string): string {
  return time.slice(11, 19);
}

/** `1:05` for 65 seconds. */
export function minutes(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
