/**
 * Concludes a call with a chat model, from what is known about it and everything that was said.
 *
 * Facts stay facts: who was reached is counted, what the agent noted stands, and where nobody spoke no model is asked.
 * The model adds what takes judgment, and only as far as the words of the callees bear it out.
 */
import type { Chat, Question } from '../../platform/chat/chat.ts';
import type { AnswerProblem, AnswerSchema } from '../../platform/chat/answer-schema.ts';
import {
  hasSpoken,
  structuredResult,
  type ConcludedRecipient,
  type Concluder,
  type ConclusionDraft,
  type ConclusionTask,
  type TaskEvidence,
} from '../conclude.ts';
import { createScriptedConcluder } from '../scripted-concluder.ts';
import { claimsIn, claimsSchema, maxQuoteLength, pathOf, type PlacedClaim } from './evidence.ts';
import { literalQuote, numbersWereSaid, supportOf, usable, type Supported } from './support.ts';
import { asData, fence, fencedTranscript, maxTranscripts, transcriptRules } from './transcript.ts';

type Draft = Extract<ConclusionDraft, { kind: 'drawn' }>;

interface Answer {
  readonly summary: string;
  readonly recipients: readonly string[];
  readonly task_completed: boolean;
  readonly score: number;
  readonly quotes: readonly string[];
  readonly fields?: object;
}

export function createModelConcluder(chat: Chat): Concluder {
  const scripted = createScriptedConcluder();
  return {
    async conclude(task, signal) {
      const counted = await scripted.conclude(task, signal);
      if (counted.kind === 'failed' || !task.recipients.some(hasSpoken)) return counted;
      const reply = await chat.ask(questionOf(task), signal);
      if (reply.kind === 'failed') return reply;
      return reply.kind === 'invalid' ? counted : judged(task, counted, reply.answer);
    },
  };
}

/** What of an answer can be used, over what was counted. */
function judged(task: ConclusionTask, counted: Draft, answer: Answer): Draft {
  const fields = { ...supportedFields(task, answer), ...counted.fields };
  const quotes = answer.quotes.flatMap((quote) => quotedIn(task, quote) ?? []);
  const completed = answer.task_completed && quotes.length > 0 && isComplete(task, fields);
  return {
    kind: 'drawn',
    fields,
    summary: isBorneOut(answer.summary, task.task, task.recipients) ? answer.summary.trim() : counted.summary,
    recipientSummaries: counted.recipientSummaries.map((facts, index) => {
      const summary = answer.recipients[index]?.trim() ?? '';
      const recipient = task.recipients[index];
      if (recipient === undefined || !hasSpoken(recipient)) return facts;
      return isBorneOut(summary, task.task, [recipient]) ? summary : facts;
    }),
    taskCompleted: completed,
    // Overruled: nobody is sure.
    score: completed === answer.task_completed ? answer.score : Math.min(answer.score, 0.5),
    quotes: [...quotes, ...Object.values(fields).map(({ quote }) => quote)],
  };
}

/** A task is not completed while a result that was asked for is not there, whatever anybody says. */
function isComplete(task: ConclusionTask, fields: Readonly<Record<string, TaskEvidence>>): boolean {
  const hasResults = task.recipients.some(({ result }) => result !== null);
  return (
    (task.resultSchema === null || structuredResult(task, fields) !== null) &&
    (task.recipientSchema === null || hasResults)
  );
}

function supportedFields(task: ConclusionTask, { fields }: Answer): Record<string, TaskEvidence> {
  if (task.resultSchema === null || fields === undefined) return {};
  const supported = claimsIn(task.resultSchema, fields).flatMap((placed): [string, TaskEvidence][] => {
    const evidence = usable(supportIn(task, placed));
    const { recipient = 0 } = placed.claim;
    return evidence === null ? [] : [[pathOf(placed.tokens), { ...evidence, recipient }]];
  });
  return Object.fromEntries(supported);
}

function supportIn({ recipients }: ConclusionTask, placed: PlacedClaim): Supported {
  return supportOf(placed, recipients[placed.claim.recipient ?? 0]?.turns ?? []);
}

/** What a callee literally said; null when nobody did. */
function quotedIn({ recipients }: ConclusionTask, quote: string): string | null {
  for (const { turns } of recipients) {
    for (const { speaker, text } of turns) {
      const literal = speaker === 'bot' ? null : literalQuote(text, quote);
      if (literal !== null) return literal;
    }
  }
  return null;
}

/** A summary is in the model's words, but its amounts are not: they were asked for or said. */
function isBorneOut(summary: string, task: string, recipients: readonly ConcludedRecipient[]): boolean {
  const said = recipients.flatMap(({ turns }) => turns.map(({ text }) => text));
  return summary.trim() !== '' && numbersWereSaid(summary, [task, ...said, String(recipients.length)]);
}

const maxSummaryLength = 1_000;
const maxQuotes = 10;

function questionOf(task: ConclusionTask): Question<Answer> {
  const { resultSchema, recipients } = task;
  const properties: Record<string, AnswerSchema> = {
    summary: { type: 'string', maxLength: maxSummaryLength },
    recipients: {
      type: 'array',
      items: { type: 'string', maxLength: maxSummaryLength },
      maxItems: recipients.length,
      description: 'one summary per recipient, in their order',
    },
    task_completed: { type: 'boolean' },
    score: { type: 'number', minimum: 0, maximum: 1 },
    quotes: { type: 'array', items: { type: 'string', maxLength: maxQuoteLength }, maxItems: maxQuotes },
  };
  const withFields =
    resultSchema === null
      ? properties
      : { ...properties, fields: claimsSchema(resultSchema, recipients.length) };
  return {
    name: 'conclusion',
    instructions,
    data: dataOf(task),
    schema: { type: 'object', properties: withFields, required: Object.keys(withFields) },
    problems: (answer) => problemsOf(task, answer),
  };
}

/** The task, then for each recipient how it went and what was said. */
function dataOf({ task, recipients }: ConclusionTask): string {
  const share = Math.floor(maxTranscripts / Math.max(1, recipients.filter(hasSpoken).length));
  const each = recipients.map(({ status, outcome, result, turns, heldOn }, recipient) =>
    [
      fence('facts', [asData({ recipient, status, outcome, result, held_on: heldOn })]),
      turns.length === 0 ? 'Nothing was said.' : fencedTranscript(turns, share),
    ].join('\n'),
  );
  return [fence('task', [asData(task)]), ...each].join('\n\n');
}

function problemsOf(task: ConclusionTask, answer: Answer): AnswerProblem[] {
  const claims =
    task.resultSchema === null ? [] : claimsIn(task.resultSchema, answer.fields ?? {}, '/fields');
  const unsupported = claims.flatMap((placed): AnswerProblem[] => {
    const support = supportIn(task, placed);
    return support.ok ? [] : [{ pointer: placed.pointer, problem: support.problem }];
  });
  const unquoted = answer.quotes.flatMap((quote, index): AnswerProblem[] =>
    quotedIn(task, quote) === null
      ? [{ pointer: `/quotes/${index}`, problem: 'is not literally what a callee said' }]
      : [],
  );
  const summary = isBorneOut(answer.summary, task.task, task.recipients)
    ? []
    : [{ pointer: '/summary', problem: 'is empty or has a number that nobody said' }];
  return [...unsupported, ...unquoted, ...summary];
}

const instructions = `You judge how a call task went, after the telephone calls that our agent made for it. You get the task, and for each recipient the facts and the transcript of what was said.

${transcriptRules}

- summary: one to three sentences in the language of the task: who was reached and what came of it. Only what the facts and the transcripts say; no numbers that nobody said.
- recipients: the same for each recipient in their order, one or two sentences.
- task_completed: whether everything that the task asks for was done or answered. What a callee says about whether the task is completed is no evidence.
- score: how sure that is, 0 to 1.
- quotes: up to ten short quotes of callees that show it, copied literally.
- fields, if there: for each value what was said about it, with "recipient" (the number in the facts), "turns" (numbers in this recipient's transcript), "quote" (the callee's words, copied literally from one of these turns, never ours) and "confidence" (0 to 1). What was not said is null, a list without items is empty. Never guess, infer from what is usual, or take over what only our agent said; when the callee agrees to something that our agent said, quote the callee's agreement.`;
