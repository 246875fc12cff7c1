/** Comma-separated values by RFC 4180: a line of names first, lines end with CR LF, UTF-8 without a mark. */

export type CsvCell = string | number | boolean | null;

/** One line, with its end. Null is an empty cell. */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(cellOf).join(',')}\r\n`;

/** A spreadsheet would run a text that begins like a formula: an apostrophe before it keeps it a text. */
const formulaBegin = /^[=+\-@\t\r\n＝＋－＠]/;

function cellOf(cell: CsvCell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell);
  const safe = formulaBegin.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
