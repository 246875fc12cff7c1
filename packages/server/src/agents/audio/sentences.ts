/** Texts in pieces that are synthesized and played one after the other. */
import { maxSpokenLength } from './synthesizer.ts';

/** Sentence by sentence; longer ones than a synthesizer takes are cut between words. Joined by blanks they are the text. */
export function sentencesOf(text: string): string[] {
  return text
    .trim()
    .split(/(?<=[.!?;])\s+/u)
    .flatMap(inPieces)
    .filter((piece) => piece !== '');
}

function inPieces(sentence: string): string[] {
  const pieces: string[] = [];
  let left = sentence;
  while (left.length > maxSpokenLength) {
    const blank = left.lastIndexOf(' ', maxSpokenLength);
    const end = blank > 0 ? blank : maxSpokenLength;
    pieces.push(left.slice(0, end));
    left = left.slice(end).trimStart();
  }
  return [...pieces, left];
}

/** The whole words that were heard when `share` of the sentence was played. */
export function heardOf(sentence: string, share: number): string {
  if (share >= 1) return sentence;
  const end = sentence.lastIndexOf(' ', Math.floor(sentence.length * share));
  return end <= 0 ? '' : sentence.slice(0, end);
}
