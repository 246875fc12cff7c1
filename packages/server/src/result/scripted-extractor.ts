import type { ResultSchema } from '@trunkcall/contract';
import type { Note, SpokenTurn } from '../agents/agent.ts';
import type { Extraction, ExtractionTask, Extractor, FieldEvidence } from './extractor.ts';
import { literalQuote, supportOf, usable } from './model/support.ts';

/** Draws the result from the notes that the agent made during the call: the last word on each field counts. */
export function createScriptedExtractor(): Extractor {
  return { extract: (task) => Promise.resolve(fieldsOf(task)) };
}

function fieldsOf({ resultSchema, turns }: ExtractionTask): Extraction {
  const fields = new Map<string, FieldEvidence | null>();
  let optedOut = false;
  for (const [index, { notes }] of turns.entries()) {
    for (const note of notes) {
      if (note.kind === 'opted_out') optedOut = true;
      else if (note.kind === 'not_understood') fields.set(note.field, null);
      else if (note.kind === 'answer') {
        const before = fields.get(note.field) ?? null;
        const evidence = evidenceOf(resultSchema, note, turns, index);
        // Noted once more without words for it, the same value stands as it was.
        fields.set(note.field, evidence ?? (before?.value === note.value ? before : null));
      }
    }
  }
  const answered = [...fields].filter((entry): entry is [string, FieldEvidence] => entry[1] !== null);
  if (answered.length === 0 && optedOut) return { kind: 'nothing', why: 'opted_out' };
  if (fields.size === 0) return { kind: 'nothing', why: 'nothing_said' };
  return { kind: 'fields', fields: Object.fromEntries(answered) };
}

/**
 * What supports a note: the callee's last turn up to where it was noted that holds its quote, since agents note some
 * things late, at the read-back or in a reported turn's place. Null when no words of the callee do.
 */
function evidenceOf(
  { properties }: ResultSchema,
  { field, value, quote }: Extract<Note, { kind: 'answer' }>,
  turns: readonly SpokenTurn[],
  notedAt: number,
): FieldEvidence | null {
  const turn = turns.findLastIndex(
    ({ speaker, text }, index) => index <= notedAt && speaker !== 'bot' && literalQuote(text, quote) !== null,
  );
  const literal = literalQuote(turns[turn]?.text ?? '', quote);
  if (literal === null) return null;
  const node = Object.hasOwn(properties, field) ? properties[field] : undefined;
  // A member of an enum was chosen, also as "the second one"; a field that was not asked for is refused by the caller.
  if (node === undefined || node.enum !== undefined) return { value, turns: [turn], quote: literal };
  const claim = { value, turns: [turn], quote: literal, confidence: 1 };
  const supported = usable(supportOf({ claim, node }, turns));
  return supported === null ? null : { value: supported.value, turns: [turn], quote: supported.quote };
}
