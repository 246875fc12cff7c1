/** What was understood from one turn: several facts, each field once, in its last wording. Pure. */
import type { Note, SpokenTurn } from './agent.ts';

export function withNote(notes: readonly Note[], note: Note): readonly Note[] {
  return [...notes.filter((other) => subjectOf(other) !== subjectOf(note)), note];
}

export function withNotes(notes: readonly Note[], more: readonly Note[]): readonly Note[] {
  return more.reduce(withNote, notes);
}

/** Whether the turn asks us not to call again. */
export function hasOptedOut({ notes }: Pick<SpokenTurn, 'notes'>): boolean {
  return notes.some(({ kind }) => kind === 'opted_out');
}

/** No field is written in brackets. */
const subjectOf = (note: Note): string => ('field' in note ? note.field : `(${note.kind})`);
