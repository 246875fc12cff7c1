/**
 * Concludes a call from the notes that the agent made: by counting, without judgment of what was said.
 *
 * The whole-call result is that of the first recipient whose words alone satisfy the schema, so that its fields belong
 * together; only if nobody's do, the first usable value of each field counts.
 *
 * The task is completed when everybody whom the call reached for has spoken and all results that were asked for are
 * there. Recipients that were skipped do not count.
 */
import type { CallSchema, DetailCode, Scalar } from '@trunkcall/contract';
import { hasOptedOut } from '../agents/notes.ts';
import { humanise } from '../agents/scripted/understanding/text.ts';
import { cut } from '../platform/cut.ts';
import {
  hasSpoken,
  structuredResult,
  type ConcludedRecipient,
  type Concluder,
  type ConclusionDraft,
  type ConclusionTask,
  type TaskEvidence,
} from './conclude.ts';
import { drawCallResult } from './draw-call-result.ts';
import { drawFields, type DrawnFields } from './draw-result.ts';
import type { FieldEvidence } from './extractor.ts';
import { leavesOf, questionsOf } from '../calls/fields.ts';
import { createScriptedExtractor } from './scripted-extractor.ts';

type Fields = ReadonlyMap<string, FieldEvidence>;

const maxValueLength = 100;

export function createScriptedConcluder(): Concluder {
  const extractor = createScriptedExtractor();
  return {
    async conclude(task, signal) {
      const resultSchema = questionsOf(task.recipientSchema, task.resultSchema);
      const answers: Fields[] = [];
      for (const { turns } of task.recipients) {
        const drawn = await drawFields({ resultSchema, turns }, extractor, signal);
        if (drawn.kind === 'retry') return { kind: 'failed', note: drawn.note };
        answers.push(answersIn(drawn, Object.keys(resultSchema.properties)));
      }
      return draftFrom(task, answers, Object.keys(resultSchema.properties).length);
    },
  };
}

/** The answers to what was asked, in the order of the questions. */
function answersIn(drawn: Exclude<DrawnFields, { kind: 'retry' }>, asked: readonly string[]): Fields {
  if (drawn.kind !== 'fields') return new Map();
  return new Map(
    asked.flatMap((path) => {
      const evidence = drawn.fields.get(path);
      return evidence === undefined ? [] : [[path, evidence] as const];
    }),
  );
}

function draftFrom(task: ConclusionTask, answers: readonly Fields[], questions: number): ConclusionDraft {
  const fields = task.resultSchema === null ? {} : wholeCallFields(task.resultSchema, answers);
  return {
    kind: 'drawn',
    fields,
    summary: summaryOf(task.recipients, answers),
    recipientSummaries: task.recipients.map((recipient, index) =>
      recipient.status === 'skipped' ? null : summaryOf([recipient], answers.slice(index, index + 1)),
    ),
    ...judge(task, fields, answers, questions),
    quotes: [
      ...Object.values(fields).map(({ quote }) => quote),
      ...answers.flatMap((each) => [...each.values()].map(({ quote }) => quote)),
      ...task.recipients.flatMap(optOuts),
    ],
  };
}

function wholeCallFields(schema: CallSchema, answers: readonly Fields[]): Record<string, TaskEvidence> {
  const merged = new Map<string, TaskEvidence>();
  for (const [recipient, fields] of answers.entries()) {
    const own = leavesOf(schema).flatMap(({ path }): [string, TaskEvidence][] => {
      const evidence = fields.get(path);
      return evidence === undefined ? [] : [[path, { ...evidence, recipient }]];
    });
    const suffices = drawCallResult(schema, { kind: 'fields', fields }).kind === 'result';
    if (suffices && own.length > 0) return Object.fromEntries(own);
    for (const [path, evidence] of own) if (!merged.has(path)) merged.set(path, evidence);
  }
  return Object.fromEntries(merged);
}

/**
 * Whether the task is completed, and how sure that is. Completed: the more of the questions were answered, the surer.
 * Not completed: surest when nobody spoke, and the less sure the more of what was wanted is there.
 */
function judge(
  task: ConclusionTask,
  fields: Readonly<Record<string, TaskEvidence>>,
  answers: readonly Fields[],
  questions: number,
): { readonly taskCompleted: boolean; readonly score: number } {
  const wanted = task.recipients.filter(({ status }) => status !== 'skipped');
  const reached = wanted.filter(hasSpoken);
  if (reached.length === 0) return { taskCompleted: false, score: 1 };
  const goals = [
    ...(task.resultSchema === null ? [] : [structuredResult(task, fields) !== null]),
    ...wanted.map((each) => hasSpoken(each) && !wasCutOff(each) && hasResult(task, each)),
  ];
  const answered = answers.reduce((sum, each) => sum + each.size, 0) / (questions * reached.length);
  if (goals.every(Boolean)) return { taskCompleted: true, score: 0.55 + 0.4 * Math.min(1, answered) };
  return { taskCompleted: false, score: 0.9 - 0.4 * (goals.filter(Boolean).length / goals.length) };
}

function hasResult({ recipientSchema }: ConclusionTask, { result }: ConcludedRecipient): boolean {
  return recipientSchema === null || result !== null;
}

/** The sentences with which callees asked not to be called again. */
function optOuts({ turns }: ConcludedRecipient): string[] {
  return turns.filter(hasOptedOut).map(({ text }) => text);
}

function summaryOf(recipients: readonly ConcludedRecipient[], answers: readonly Fields[]): string {
  const sentences = [whoWasReached(recipients)];
  if (recipients.some(hasSpoken)) sentences.push(whatWasAnswered(answers));
  const optedOut = recipients.filter((recipient) => optOuts(recipient).length > 0).length;
  if (optedOut > 0) {
    sentences.push(
      `${optedOut === 1 ? 'A recipient' : `${optedOut} recipients`} asked not to be called again.`,
    );
  }
  return sentences.join(' ');
}

function whoWasReached(recipients: readonly ConcludedRecipient[]): string {
  const wanted = recipients.filter(({ status }) => status !== 'skipped');
  const reached = wanted.filter(hasSpoken).length;
  const [only, second] = wanted;
  if (only === undefined) return 'Nobody was called.';
  if (second === undefined) return `The recipient ${hasSpoken(only) ? howItEnded(only) : whyNot(only)}.`;
  if (reached === 0) return `None of the ${wanted.length} recipients was reached.`;
  const cut = wanted.filter((each) => hasSpoken(each) && wasCutOff(each)).length;
  const sentences = [`${reached} of ${wanted.length} recipients were reached.`];
  if (cut > 0)
    sentences.push(`The time limit cut off ${cut === 1 ? 'one of these calls' : `${cut} of these calls`}.`);
  return sentences.join(' ');
}

/** Whether the time limit ended the call: then nobody may claim success. */
const wasCutOff = ({ outcome }: ConcludedRecipient): boolean => outcome === 'call_limit';

function howItEnded(recipient: ConcludedRecipient): string {
  return wasCutOff(recipient) ? 'was spoken with until the time limit cut the call off' : 'was reached';
}

const reasons: Readonly<Partial<Record<DetailCode, string>>> = {
  ring_timeout: 'did not answer',
  busy: 'was busy',
  voicemail: 'did not answer; a machine did',
  declined: 'declined the call',
  invalid_number: 'has no number that is in service',
  do_not_call: 'has asked not to be called',
};

function whyNot({ outcome, status }: ConcludedRecipient): string {
  if (outcome === null) return status === 'completed' ? 'said nothing' : 'was not called';
  return reasons[outcome] ?? 'could not be reached';
}

function whatWasAnswered(answers: readonly Fields[]): string {
  const several = answers.length > 1;
  const facts = answers.flatMap((fields, index) =>
    [...fields].map(([path, { value }]) => {
      const fact = `${fieldName(path)}: ${spoken(value)}`;
      return several ? `recipient ${index + 1}, ${fact}` : fact;
    }),
  );
  return facts.length === 0 ? 'No question was answered.' : `Answers: ${facts.join('; ')}.`;
}

/** `address/zip_code` as people read it: "address zip code". */
function fieldName(path: string): string {
  const tokens = path.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  return humanise(tokens.join(' '));
}

function spoken(value: Scalar): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = String(value);
  return text.length > maxValueLength ? `${cut(text, maxValueLength).trimEnd()}…` : text;
}
