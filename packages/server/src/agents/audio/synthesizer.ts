/** The synthesizer port: makes speech of sentences, for legs that carry sound. */

/** Linear 16-bit samples, mono, 8,000 a second: what a telephone line carries. */
export type Pcm = Int16Array;

export type Synthesized =
  | { readonly kind: 'speech'; readonly pcm: Pcm }
  /** For operators; none of the words. */
  | { readonly kind: 'failed'; readonly note: string };

export interface Synthesizer {
  /**
   * Speaks a text of at most `maxSpokenLength` characters in a BCP 47 locale.
   *
   * Ends within 10 s of its turn; a few run at once, the others wait. The samples are shared: not to be changed.
   * Throws: never.
   */
  speak(text: string, locale: string): Promise<Synthesized>;
}

/** About half a minute of speech. */
export const maxSpokenLength = 400;
