/** Places in a task that its writer has not filled in. */

export interface MissingInput {
  /** What stands there, without its marks; at most 60 characters. */
  readonly name: string;
  readonly question: string;
}

const maxInputs = 20;
const name = "[\\p{L}][\\p{L}\\p{N} _.'’/-]{0,59}";
const patterns: readonly RegExp[] = [
  // `{{name}}`, `${name}`, `{name}`
  /\{\{\s*(?<name>[^{}\n]{0,60}?)\s*\}\}/gu,
  new RegExp(`\\$?(?<!\\{)\\{\\s*(?<name>${name}?)\\s*\\}(?!\\})`, 'gu'),
  // `[customer name]`; not a link, and not a heading on a line of its own
  new RegExp(
    `(?<!\\]|^[ \\t]*(?=\\[[^\\]\\n]{0,80}\\][ \\t]*$))\\[\\s*(?<name>${name}?)\\s*\\](?![(\\[:])`,
    'gmu',
  ),
  // `<date>`
  new RegExp(`<(?<name>${name}?)(?<!\\s)>`, 'gu'),
  // `____`
  /(?<![\p{L}\p{N}_])(?<name>_{3,})(?![\p{L}\p{N}_])/gu,
  // `TODO`; in a sentence of capitals it is Spanish for "all"
  /(?<!\p{Lu}{2}\s)\b(?<name>TODO|TBD|FIXME)\b(?!\s\p{Lu}{2})/gu,
  // `XXX`, also in a number
  /(?<![\p{L}])(?<name>X{3,})(?![\p{L}])/gu,
];

/** What brackets hold when it is not to be filled in. */
const remarks = new Set(
  'x sic note notes important optional required pause beep silence laughs redacted ok yes no end start example'.split(
    ' ',
  ),
);
const htmlTags = new Set('a b br code div em hr i li ol p pre span strong u ul'.split(' '));

/** The places left open in a task, in its order, each once; at most 20. */
export function missingInputs(task: string): MissingInput[] {
  const closed = new Set([...task.matchAll(/<\/([^<>\n]{1,60})>/g)].map(([, tag = '']) => tag.toLowerCase()));
  const found = patterns
    .flatMap((pattern) => [...task.matchAll(pattern)])
    .filter((match) => isOpen(match, closed))
    .sort((a, b) => a.index - b.index);
  const names = new Set(found.map(({ groups }) => (groups?.['name'] ?? '').slice(0, 60)));
  return [...names].slice(0, maxInputs).map((name) => ({ name, question: questionFor(name) }));
}

function isOpen({ 0: whole, groups }: RegExpExecArray, closed: ReadonlySet<string>): boolean {
  const name = (groups?.['name'] ?? '').toLowerCase();
  if (whole.startsWith('<')) return !htmlTags.has(name) && !closed.has(name);
  return !(whole.startsWith('[') && remarks.has(name));
}

function questionFor(name: string): string {
  if (/^(_+|X+|TODO|TBD|FIXME|)$/.test(name)) return `What should stand in place of ${name || '{{}}'}?`;
  return `What is the ${name.replace(/[_\s-]+/g, ' ').trim()}?`;
}
