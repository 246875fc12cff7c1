/**
 * Draws a result with a chat model from everything that was said.
 *
 * What the agent noted during the call stands: it asked, understood and read back. The model reads the conversation
 * for what is still open, which is everything when the agent notes nothing.
 */
import type { ResultSchema } from '@trunkcall/contract';
import type { Chat, Question } from '../../platform/chat/chat.ts';
import type { AnswerProblem } from '../../platform/chat/answer-schema.ts';
import type { SpokenTurn } from '../../agents/agent.ts';
import type { ExtractionTask, Extractor, FieldEvidence } from '../extractor.ts';
import { createScriptedExtractor } from '../scripted-extractor.ts';
import { claimsIn, claimsSchema } from './evidence.ts';
import { supportOf, usable } from './support.ts';
import { fencedTranscript, transcriptRules } from './transcript.ts';

export function createModelExtractor(chat: Chat): Extractor {
  const notes = createScriptedExtractor();
  return {
    async extract(task, signal) {
      const { resultSchema, turns } = task;
      const noted = await notes.extract(task, signal);
      const known = noted.kind === 'fields' ? noted.fields : {};
      const open = without(resultSchema, Object.keys(known));
      const hasSpoken = turns.some(({ speaker }) => speaker !== 'bot');
      if (!hasSpoken || Object.keys(open.properties).length === 0) return noted;
      const reply = await chat.ask(questionOf({ ...task, resultSchema: open }), signal);
      switch (reply.kind) {
        case 'failed':
          return reply;
        case 'invalid':
          return noted.kind === 'fields' ? noted : reply;
        case 'answer': {
          const drawn = Object.fromEntries(supported(open, turns, reply.answer));
          const nothing = Object.keys(drawn).length === 0 && !reply.answer.replied;
          return nothing ? noted : { kind: 'fields', fields: { ...drawn, ...known } };
        }
      }
    },
  };
}

interface Answer {
  /** The callee has replied to a question, be it without a usable value. */
  readonly replied: boolean;
  readonly fields: object;
}

function without(schema: ResultSchema, known: readonly string[]): ResultSchema {
  const open = Object.entries(schema.properties).filter(([name]) => !known.includes(name));
  return { ...schema, properties: Object.fromEntries(open) };
}

function questionOf({ resultSchema: schema, turns, heldOn }: ExtractionTask): Question<Answer> {
  return {
    name: 'extraction',
    instructions,
    data: `${heldOn === undefined ? '' : `The call was on ${heldOn}.\n`}${fencedTranscript(turns)}`,
    schema: {
      type: 'object',
      properties: { replied: { type: 'boolean' }, fields: claimsSchema(schema, null) },
      required: ['replied', 'fields'],
    },
    problems: ({ fields }) =>
      claimsIn(schema, fields, '/fields').flatMap((placed): AnswerProblem[] => {
        const support = supportOf(placed, turns);
        return support.ok ? [] : [{ pointer: placed.pointer, problem: support.problem }];
      }),
  };
}

/** The claims that the callee's words support, by field. */
function supported(
  schema: ResultSchema,
  turns: readonly SpokenTurn[],
  { fields }: Answer,
): [string, FieldEvidence][] {
  return claimsIn(schema, fields).flatMap((placed): [string, FieldEvidence][] => {
    const evidence = usable(supportOf(placed, turns));
    return evidence === null ? [] : [[String(placed.tokens[0]), evidence]];
  });
}

const instructions = `You draw facts from the transcript of a telephone call that our agent made.

${transcriptRules}

For each field of "fields":
- value: what the callee said, in the field's type. Of several members of an enum the one that the callee meant. The last word counts: what was corrected or taken back does not. Free text is in the callee's own words, shortened.
- turns: the numbers of the turns in which the callee said it.
- quote: the callee's words that say it, copied literally from one of these turns, as short as they can be understood. Never words of ours.
- confidence: how sure it is that the callee meant this, 0 to 1.
A field that the callee did not answer is null. Never guess, infer from what is usual, calculate, or take over what only our agent said; when the callee agrees to something that our agent said, quote the callee's agreement. Write a day as YYYY-MM-DD when the date of the call and the callee's words tell which one it is; otherwise in the callee's words.
"replied" is true when the callee replied to at least one of our questions, also if it was only to say that they do not know.`;
