import type { Note, SpokenTurn } from '../agents/agent.ts';
import type { Extraction, Extractor, FieldEvidence } from './extractor.ts';

/** Draws the result from the notes that the agent made during the call: the last word on each field counts. */
export function createScriptedExtractor(): Extractor {
  return { extract: ({ turns }) => Promise.resolve(fieldsOf(turns)) };
}

function fieldsOf(turns: readonly SpokenTurn[]): Extraction {
  const fields = new Map<string, FieldEvidence | null>();
  let optedOut = false;
  for (const [index, { notes, text }] of turns.entries()) {
    for (const note of notes) {
      if (note.kind === 'opted_out') optedOut = true;
      else if (note.kind !== 'transferred') fields.set(note.field, evidenceOf(note, index, text));
    }
  }
  const answered = [...fields].filter((entry): entry is [string, FieldEvidence] => entry[1] !== null);
  if (answered.length === 0 && optedOut) return { kind: 'nothing', why: 'opted_out' };
  if (fields.size === 0) return { kind: 'nothing', why: 'nothing_said' };
  return { kind: 'fields', fields: Object.fromEntries(answered) };
}

/** Null for a reply without a value, and for a note whose words are not in its turn. */
function evidenceOf(
  note: Extract<Note, { readonly field: string }>,
  turn: number,
  text: string,
): FieldEvidence | null {
  if (note.kind === 'not_understood' || !text.includes(note.quote)) return null;
  return { value: note.value, turns: [turn], quote: note.quote };
}
