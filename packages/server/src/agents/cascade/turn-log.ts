import type { Note, TranscriptSink, Turn } from '../agent.ts';

/**
 * Reports turns in order. The callee's last turn waits for what the model notes about it, at most until our answer
 * is complete; whatever comes first lets it go.
 */
export class TurnLog {
  #sink: TranscriptSink;
  #held: Turn | null = null;
  /** A wish that must be on record, and found no turn of the callee. */
  #owed: Note | null = null;

  constructor(sink: TranscriptSink) {
    this.#sink = sink;
  }

  /** A turn of the callee, about which something may yet be noted. */
  hold(turn: Turn): void {
    this.release(null);
    this.#held = turn;
  }

  /** Reports the held turn with a note, if there is one. */
  release(note: Note | null): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#sink.turn({ ...held, note: held.note ?? note });
    else if (note?.kind === 'opted_out') this.#owed = note;
  }

  /** What we said, as heard. */
  said(turn: Omit<Turn, 'speaker' | 'note'>): void {
    this.release(null);
    this.#sink.turn({ ...turn, speaker: 'bot', note: this.#owed });
    this.#owed = null;
  }

  /** Reports what is held, and nothing that comes later: the conversation is over. */
  close(): void {
    this.release(null);
    this.#sink = { turn: () => undefined };
  }
}
