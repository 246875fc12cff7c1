/**
 * Reads tasks by rules, and then with a chat model, which narrows what the rules found and never widens it: a model
 * takes numbers away, tells alternatives from further recipients, asks for what is missing, and words the title.
 *
 * Which numbers may be called at all, and the region of each, which a key's policy is judged by, is for the rules to
 * say. What the rules ask stands.
 */
import type { AnswerProblem } from '../../platform/chat/answer-schema.ts';
import type { Chat, Question } from '../../platform/chat/chat.ts';
import { cut } from '../../platform/cut.ts';
import {
  askForPhone,
  onlyLiteral,
  type ReadRecipient,
  type TaskReader,
  type TaskReading,
  type TaskRequest,
} from '../task-reader.ts';
import { withAsciiDigits } from './digits.ts';
import { maskNumbers } from './phones.ts';
import { maxPhones } from './recipients.ts';
import { readTask, type RuleReaderOptions } from './rule-reader.ts';

type Ready = Extract<TaskReading, { kind: 'ready' }>;

interface Answer {
  readonly title: string;
  /** Empty when everything is there. */
  readonly questions: readonly string[];
  readonly recipients: readonly {
    /** Indexes into what the rules found. */
    readonly numbers: readonly number[];
    /** BCP 47; absent when the task does not say how they are to be spoken with. */
    readonly locale?: string;
  }[];
}

export interface ModelReaderOptions extends RuleReaderOptions {
  readonly chat: Chat;
}

export function createModelReader({ chat, speaks }: ModelReaderOptions): TaskReader {
  return {
    async read(request, signal) {
      const ruled = readTask(request, speaks);
      if (ruled.kind !== 'ready') return ruled;
      const known = request.recipients === null ? numbersOf(ruled) : targetsOf(ruled);
      const reply = await chat.ask(questionOf(request, known), signal);
      switch (reply.kind) {
        case 'failed':
          return reply;
        case 'invalid':
          return { kind: 'failed', note: 'the chat model did not keep to the schema' };
        case 'answer':
          return onlyLiteral(request, narrowed(request, ruled, reply.answer, speaks));
      }
    },
  };
}

interface KnownNumber {
  readonly phone: string;
  readonly recipient: ReadRecipient;
}

function numbersOf({ recipients }: Ready): KnownNumber[] {
  return recipients.flatMap((recipient) => recipient.phones.map((phone) => ({ phone, recipient })));
}

/** Explicit targets, each once, whatever numbers it has. */
function targetsOf({ recipients }: Ready): KnownNumber[] {
  return recipients.map((recipient) => ({ phone: recipient.phones[0] ?? '', recipient }));
}

/** What the rules read, narrowed to what the model says. Pure. */
function narrowed(
  request: TaskRequest,
  ruled: Ready,
  answer: Answer,
  speaks: RuleReaderOptions['speaks'],
): TaskReading {
  const questions = answer.questions.map((question) => question.trim()).filter((question) => question !== '');
  if (questions.length > 0) return { kind: 'not_ready', reasonCode: 'missing_information', questions };
  const title = titleFrom(answer.title, request, ruled.title);
  const recipients = recipientsFrom(request, ruled, answer, speaks);
  if (recipients.length > 0) return { kind: 'ready', recipients, title };
  return { kind: 'not_ready', reasonCode: 'missing_phone', questions: [askForPhone] };
}

/** Explicit targets stay as they were sent; of numbers found in the task each is called for one recipient. */
function recipientsFrom(
  request: TaskRequest,
  ruled: Ready,
  answer: Answer,
  speaks: RuleReaderOptions['speaks'],
): ReadRecipient[] {
  if (request.recipients !== null) {
    return ruled.recipients.map((recipient, index) => {
      const isOpen = request.recipients?.[index]?.locale === null;
      return isOpen ? spokenWith(recipient, answer.recipients[index]?.locale, speaks) : recipient;
    });
  }
  const known = numbersOf(ruled);
  const taken = new Set<number>();
  return answer.recipients.flatMap(({ numbers, locale }) => {
    const fresh = numbers
      .filter((number) => known[number] !== undefined && !taken.has(number))
      .slice(0, maxPhones);
    for (const number of fresh) taken.add(number);
    const first = known[fresh[0] ?? -1];
    if (first === undefined) return [];
    const phones = fresh.flatMap((number) => known[number]?.phone ?? []);
    return [spokenWith({ ...first.recipient, phones }, locale, speaks)];
  });
}

/** In the locale that the task asks for, if somebody here speaks it. */
function spokenWith(
  recipient: ReadRecipient,
  locale: string | undefined,
  speaks: RuleReaderOptions['speaks'],
): ReadRecipient {
  const known = canonicalLocale(locale ?? '');
  return known !== null && speaks(known) ? { ...recipient, locale: known } : recipient;
}

function canonicalLocale(locale: string): string | null {
  if (!/^[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|\d{3}))?$/.test(locale)) return null;
  return Intl.getCanonicalLocales(locale)[0] ?? null;
}

const maxTitleLength = 200;

/** The callee hears the title: without phone numbers, and without any number that is not in the task. */
function titleFrom(proposed: string, { task, defaultRegion }: TaskRequest, ruled: string): string {
  const title = maskNumbers(proposed, defaultRegion, '')
    .replace(/[\p{C}\s]+/gu, ' ')
    .replace(/^[\s,;:.!–-]+|[\s,;:.!。！–-]+$/gu, '');
  const digits: readonly string[] = withAsciiDigits(task).match(/\d+/g) ?? [];
  const isLiteral = (withAsciiDigits(title).match(/\d+/g) ?? []).every((number) => digits.includes(number));
  return /\p{L}/u.test(title) && isLiteral ? cut(title, maxTitleLength).trim() : ruled;
}

const found = ({ phone, recipient }: KnownNumber, number: number) => ({
  number,
  phone,
  region: recipient.region,
});
/** What the task does not say is not the provider's business. */
const sent = ({ recipient }: KnownNumber, number: number) => ({ number, region: recipient.region });

const maxQuestions = 10;
const maxQuestionLength = 300;

function questionOf(request: TaskRequest, known: readonly KnownNumber[]): Question<Answer> {
  return {
    name: 'task_reading',
    instructions: `${instructions}\n${request.recipients === null ? findRecipients : keepRecipients}`,
    data: JSON.stringify({
      task: request.task,
      numbers: known.map<object>(request.recipients === null ? found : sent),
    }),
    schema: {
      type: 'object',
      properties: {
        title: { type: 'string', maxLength: maxTitleLength },
        questions: {
          type: 'array',
          items: { type: 'string', maxLength: maxQuestionLength },
          maxItems: maxQuestions,
        },
        recipients: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              numbers: { type: 'array', items: { type: 'integer', minimum: 0 }, maxItems: known.length },
              locale: { type: 'string', maxLength: 35, description: 'BCP 47, such as es-US' },
            },
            required: ['numbers'],
          },
          maxItems: known.length,
        },
      },
      required: ['title', 'questions', 'recipients'],
    },
    problems: ({ recipients }) =>
      recipients.flatMap(({ numbers: chosen }, index): AnswerProblem[] =>
        chosen.every((number) => number < known.length)
          ? []
          : [{ pointer: `/recipients/${index}/numbers`, problem: 'has a number that is not listed' }],
      ),
  };
}

const instructions = `Somebody gives our telephone agent a task. Read it and prepare the call. You get JSON: the task, and the telephone numbers to call, each with its "number".

- title: what the call is about, as one short phrase that the agent can say to the person called ("the delivery on Friday"), in the language of the task, without telephone numbers.
- questions: only what is missing so that the call can not be made or would be pointless, each as a question to whoever gave the task; empty otherwise. Never ask for what the agent is to find out in the call, nor for more detail than the task needs.
- locale of a recipient: only if the task says in which language they are to be spoken with, else null.`;

const findRecipients = `- recipients: who is to be called, in order. Each has "numbers": the number to call, and behind it those to try when it does not answer. Leave out numbers that are not to be called, such as one that the agent is to pass on or to call back.`;

const keepRecipients = `- recipients: one for each listed number, in order; who is called is settled already.`;
