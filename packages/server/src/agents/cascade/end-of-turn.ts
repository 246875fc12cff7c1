/**
 * How long a pause must be before a turn is over, judged by the words so far.
 *
 * A silence alone says little: people pause in the middle of a number and of "and…". So a finished sentence is
 * answered quickly, and what asks for a continuation is waited for.
 */

/** Milliseconds since the callee's last sound. */
const pauses = {
  /** A whole sentence, or an answer that needs no more. */
  complete: 500,
  /** Nothing says whether there is more. */
  open: 900,
  /** Digits in a row: the next group is on its way. */
  dictating: 1_600,
  /** It ends with a word, or a mark, that something follows. */
  unfinished: 1_800,
} as const;

/** Between two keys of one entry, milliseconds. */
export const pauseAfterKeysMs = 2_000;

interface Hints {
  /** Words that something follows. */
  readonly leading: RegExp;
  /** Answers that need no more. */
  readonly answer: RegExp;
  readonly digit: string;
}

const en: Hints = {
  leading:
    /\b(and|or|but|so|because|if|when|that|which|the|a|an|my|your|our|to|of|for|from|in|at|on|with|is|it's|i'm|are|was|will|um|uh|er|erm|hmm|well|like|let me see|wait|hold on|one moment)$/,
  answer:
    /^(yes|yeah|yep|no|nope|sure|okay|ok|right|correct|exactly|of course|thank you|thanks|hello|hi|goodbye|bye)( (please|thanks|thank you|sir|ma'am))?$/,
  digit: 'zero|oh|one|two|three|four|five|six|seven|eight|nine|double',
};
const es: Hints = {
  leading:
    /\b(y|e|o|u|pero|porque|si|cuando|que|como|el|la|los|las|un|una|mi|su|de|del|para|por|en|a|al|con|es|son|eh|em|este|pues|bueno|a ver|espere|un momento)$/,
  answer:
    /^(sí|si|no|claro|vale|bueno|correcto|exacto|de acuerdo|por supuesto|gracias|hola|diga|dígame|adiós)( (por favor|gracias|señor|señora))?$/,
  digit: 'cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|doble',
};
const hints: Readonly<Record<string, Hints>> = { en, es };

/** The pause that ends a turn with this text, milliseconds. `language` is ISO 639; unknown ones go by marks alone. */
export function pauseAfterMs(text: string, language: string): number {
  const trimmed = text.trim();
  if (/[,;:…–—-]$|\.\.\.$/u.test(trimmed)) return pauses.unfinished;
  const bare = trimmed
    .toLowerCase()
    .replace(/[¿¡.!?]/gu, '')
    .replace(/,/g, ' ')
    .replace(/\s+/g, ' ');
  const known = Object.hasOwn(hints, language) ? hints[language] : undefined;
  if (known?.answer.test(bare) === true) return pauses.complete;
  if (endsInDigits(bare, known?.digit ?? '\\d')) return pauses.dictating;
  if (/[?!]["'»”)]*$/u.test(trimmed)) return pauses.complete;
  // A transcriber puts a full stop after "and" as well.
  if (known?.leading.test(bare) === true) return pauses.unfinished;
  return /\.["'»”)]*$/u.test(trimmed) ? pauses.complete : pauses.open;
}

/** Three digits or more at the end, spoken or written one by one or in groups; not an amount or a year in a sentence. */
function endsInDigits(bare: string, spoken: string): boolean {
  const tail = new RegExp(`(?:^|\\s)((?:(?:\\d+|${spoken})(?:[\\s-]+|$))+)$`, 'u').exec(bare)?.[1] ?? '';
  const groups = tail.trim().split(/[\s-]+/);
  if (groups.length >= 3) return true;
  return groups.length === 2 && groups.every((group) => /^\d{2,}$/.test(group));
}
