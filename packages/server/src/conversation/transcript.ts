import type { Note, TranscriptSink, Turn } from '../agents/agent.ts';
import { hasOptedOut } from '../agents/notes.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { recordAnsweredBy, recordOptOut, recordTurn } from '../storage/attempts.ts';
import type { Database } from '../storage/database.ts';
import type { Lease } from '../storage/jobs.ts';
import { persist } from '../storage/persist.ts';

/** Turns beyond these are not kept; no honest call has that many in an hour. */
const maxTurns = 1_000;
const maxTextLength = 8_000;
const maxQuoteLength = 2_000;
/** No sentence holds so many facts. */
const maxNotes = 100;

/**
 * Stores turns in order as they come, beside the conversation: speech never waits for the database, and what
 * was said until a crash is kept.
 */
export interface Transcript extends TranscriptSink {
  readonly length: number;
  /** Stores something else about the call, in its place between the turns: events are numbered one after the other. */
  between<T>(store: () => Promise<T>): Promise<T>;
  /** Resolves when all turns are stored. Throws what storing threw. */
  flush(): Promise<void>;
}

export interface TranscriptOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly lease: Lease;
  readonly attemptId: string;
  /** The turns are stored behind what this stores. */
  readonly after: Promise<unknown>;
}

export function createTranscript({ db, clock, ids, lease, attemptId, after }: TranscriptOptions): Transcript {
  let length = 0;
  let isOptOutKept = false;
  let stored: Promise<unknown> = after;

  function store(turn: Turn, index: number): void {
    const values = [
      attemptId,
      index,
      turn.speaker,
      storable(turn.text, maxTextLength),
      Math.max(0, Math.round(turn.offsetMs)),
      turn.interrupted,
      turn.notes.length === 0 ? null : JSON.stringify(turn.notes.slice(0, maxNotes).map(storableNote)),
      ids.next('evt'),
      eventType(turn),
      turn.latency === null ? null : JSON.stringify(turn.latency),
    ];
    persistNext(() => persist(db, clock, lease, recordTurn, values));
  }

  function keepOptOut(): void {
    if (isOptOutKept) return;
    isOptOutKept = true;
    persistNext(() => persist(db, clock, lease, recordOptOut, []));
  }

  function persistNext(write: () => Promise<unknown>): void {
    stored = stored.then(write);
    stored.catch(() => undefined);
  }

  return {
    get length() {
      return length;
    },
    turn(turn) {
      if (hasOptedOut(turn)) keepOptOut();
      if (length >= maxTurns) return;
      store(turn, length);
      length += 1;
    },
    optedOut: keepOptOut,
    answeredBy(who) {
      persistNext(() => persist(db, clock, lease, recordAnsweredBy, [attemptId, who]));
    },
    between(store) {
      const before = stored;
      const done = before.then(store);
      // What goes wrong with it is its owner's to know, and keeps no turn from being stored.
      stored = done.catch(() => before);
      stored.catch(() => undefined);
      return done;
    },
    async flush() {
      await stored;
    },
  };
}

/** Keys that the callee or we pressed stand in brackets at the beginning of the turn. */
const pressedKeys = /^\[[0-9*#A-D]+\]/;

function eventType(turn: Turn): string {
  if (turn.notes.some(({ kind }) => kind === 'transferred')) return 'call.transferred';
  if (turn.speaker !== 'unknown' && pressedKeys.test(turn.text)) return 'call.dtmf';
  if (turn.interrupted) return 'call.interrupted';
  return turn.speaker === 'bot' ? 'call.speech' : 'call.asr';
}

/** PostgreSQL keeps no NUL in text, and a lone surrogate is no UTF-8. */
function storable(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed().replaceAll('\u0000', '\uFFFD');
}

function storableNote(note: Note): Note {
  if (note.kind !== 'answer') return note;
  const { value, quote } = note;
  return {
    ...note,
    value: typeof value === 'string' ? storable(value, maxQuoteLength) : value,
    quote: storable(quote, maxQuoteLength),
  };
}
