/**
 * Cuts a text that is still being written into sentences to speak, as early as they are whole.
 *
 * What no voice should read is left out: markup, and the thoughts that some models write between `<think>` marks.
 */
import { sentencesOf } from '../audio/sentences.ts';
import { maxSpokenLength } from '../audio/synthesizer.ts';

const abbreviation =
  /(?:^|[\s(])(?:mr|mrs|ms|dr|st|no|vs|etc|e\.g|i\.e|[ap]\.m|approx|sra?|srta|dra?|ud|uds|núm|[a-z])\.$/iu;
/** The end of a sentence, with what closes it; only when something follows, for "3." may become "3.50". */
const sentenceEnd = /[.!?…]+["'»”)*_]*(?=\s)|\n+/gu;
const openThought = '<think>';
const closeThought = '</think>';

export class SentenceCutter {
  /** What has come and may be the beginning of a mark, or is a thought. */
  #raw = '';
  #thinking = false;
  /** What is to be said, and is no whole sentence yet. */
  #text = '';

  /** Takes the next piece of text; returns the sentences that are now whole. */
  take(piece: string): string[] {
    this.#raw += piece;
    this.#separateThoughts();
    const sentences: string[] = [];
    let from = 0;
    for (const match of this.#text.matchAll(sentenceEnd)) {
      const end = match.index + match[0].length;
      const sentence = this.#text.slice(from, end);
      if (abbreviation.test(sentence)) continue;
      sentences.push(sentence);
      from = end;
    }
    this.#text = this.#text.slice(from);
    return [...sentences, this.#tooLong()].flatMap(spoken);
  }

  /** The rest, at the end of the text. */
  finish(): string[] {
    const rest = this.#thinking ? this.#text : this.#text + this.#raw;
    this.#raw = this.#text = '';
    return spoken(rest);
  }

  /** The whole words of a sentence that does not end. */
  #tooLong(): string {
    if (this.#text.length <= maxSpokenLength) return '';
    const blank = this.#text.lastIndexOf(' ');
    const part = this.#text.slice(0, blank > 0 ? blank : maxSpokenLength);
    this.#text = this.#text.slice(part.length);
    return part;
  }

  /** Moves what is no thought from the raw text to what is said. */
  #separateThoughts(): void {
    for (;;) {
      const mark = this.#thinking ? closeThought : openThought;
      const at = this.#raw.indexOf(mark);
      const end = at < 0 ? this.#raw.length - beginningOf(mark, this.#raw) : at;
      if (!this.#thinking) this.#text += this.#raw.slice(0, end);
      this.#raw = this.#raw.slice(at < 0 ? end : at + mark.length);
      if (at < 0) return;
      this.#thinking = !this.#thinking;
    }
  }
}

/** How many characters at the end of the text may be the beginning of the mark. */
function beginningOf(mark: string, text: string): number {
  for (let length = mark.length - 1; length > 0; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}

/** Without markup, on one line, in pieces that a voice takes. Nothing when there is nothing in it to say. */
function spoken(sentence: string): string[] {
  const plain = sentence
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`]+/g, '')
    .replace(/[#|<>]+|\p{Extended_Pictographic}/gu, ' ')
    .replace(/[\p{C}\s]+/gu, ' ')
    .replace(/^\s*[-•]\s+/u, '')
    .trim();
  if (!/[\p{L}\p{N}]/u.test(plain)) return [];
  return plain.length <= maxSpokenLength ? [plain] : sentencesOf(plain);
}
