import type { AnsweredBy } from '@trunkcall/contract';
import type { Spoken } from '../../carriers/carrier.ts';
import type { Note, TranscriptSink, Turn } from '../agent.ts';
import { hasOptedOut, withNotes } from '../notes.ts';

/**
 * Reports turns in order. The callee's last turn waits for what the model notes about it, at most until our answer
 * is complete; whatever comes first lets it go.
 */
export class TurnLog {
  #sink: TranscriptSink;
  #held: Turn | null = null;
  #heardSoFar: (() => Spoken | null) | null = null;
  /** A wish that must be on record, and found no turn of the callee. */
  #owed: readonly Note[] = [];

  constructor(sink: TranscriptSink) {
    this.#sink = sink;
  }

  /** We have begun to say something; null when it is told how that went. */
  speaking(heardSoFar: (() => Spoken | null) | null): void {
    this.#heardSoFar = heardSoFar;
  }

  /** A turn of the callee, about which something may yet be noted. */
  hold(turn: Turn): void {
    this.release([]);
    if (hasOptedOut(turn)) this.optedOut();
    this.#held = turn;
  }

  /** The callee wants no more calls: told at once, whatever the held turn waits for. */
  optedOut(): void {
    this.#sink.optedOut();
  }

  answeredBy(who: AnsweredBy): void {
    this.#sink.answeredBy(who);
  }

  /** Reports the held turn, if there is one, with what was noted about it. */
  release(notes: readonly Note[]): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#sink.turn({ ...held, notes: withNotes(held.notes, notes) });
    else if (hasOptedOut({ notes })) this.#owed = [{ kind: 'opted_out' }];
  }

  /** What we said, as heard. */
  said(turn: Omit<Turn, 'speaker' | 'notes'>): void {
    this.release([]);
    this.#sink.turn({ ...turn, speaker: 'bot', notes: this.#owed });
    this.#owed = [];
  }

  /** What we did on the line. */
  did(turn: Turn): void {
    this.release([]);
    this.#sink.turn(turn);
  }

  /**
   * Reports what is held, what was heard of what we are saying, and then what the callee said beside it; nothing that
   * comes later: the conversation is over. Safe to repeat.
   */
  close(untold: readonly Turn[]): void {
    this.release([]);
    const ours = this.#heardSoFar?.() ?? null;
    if (ours !== null && ours.heard !== '') {
      const { heard: text, startedAtMs: offsetMs, interrupted } = ours;
      this.said({ text, offsetMs, interrupted, latency: null });
    }
    for (const turn of untold) {
      if (hasOptedOut(turn)) this.optedOut();
      this.#sink.turn(turn);
    }
    this.#sink = { turn: () => undefined, optedOut: () => undefined, answeredBy: () => undefined };
  }
}
