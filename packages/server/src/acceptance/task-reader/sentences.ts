/** The sentences of a task. */

export interface Sentence {
  readonly startsAt: number;
  /** Behind its last character. */
  readonly endsAt: number;
}

/** "Dr." and the like end no sentence, nor does an initial. */
const endOfSentence =
  /(?<!(?<!\p{L})(?:\p{L}|dr|mr|mrs|ms|st|no|nr|nº|num|núm|tel|tél|ph|mob|ext|prof|sr|sra|dra|herr|fr|dott|approx|vs|e\.g|i\.e|z\.b))\.\s|[!?]\s|[。！？\n]/giu;

/** All sentences in order; a line break ends one. Together they are the whole text. */
export function sentencesOf(text: string): Sentence[] {
  const ends = [...text.matchAll(endOfSentence)].map(({ index, 0: mark }) => index + mark.length);
  const starts = [0, ...ends];
  return starts.map((startsAt, index) => ({ startsAt, endsAt: ends[index] ?? text.length }));
}
