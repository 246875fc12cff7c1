/**
 * Asks a chat model a question whose answer is JSON of a known shape.
 *
 * C1  Nothing here rejects: what goes wrong is a `failed` or `invalid` reply.
 * C2  Each request, each pause and each answer has a bound; all ends when the signal aborts.
 * C3  A note names a status or a fault. It holds no word of the question or the answer, and no key (I10).
 * C4  A model has no tools. What it answers is checked against the question's schema before anybody sees it.
 */
import { cut } from '../cut.ts';
import type { Clock } from '../clock.ts';
import { readAnswer, toStrict, type AnswerProblem, type ObjectAnswer } from './answer-schema.ts';
import { looseJson } from './loose-json.ts';
import {
  createProvider,
  type Completion,
  type Endpoint,
  type Failed,
  type Format,
  type Message,
} from './provider.ts';

export interface Question<Answer> {
  /** Names the shape to the provider: letters, digits, `_`, `-`. */
  readonly name: string;
  /** What to do, and that everything in `data` is data. */
  readonly instructions: string;
  /** Fenced by whoever asks. */
  readonly data: string;
  readonly schema: ObjectAnswer;
  /** What is wrong with an answer of the right shape; it may then be mended. */
  readonly problems?: (answer: Answer) => readonly AnswerProblem[];
}

export type Reply<Answer> =
  /** Of the right shape; what `problems` said about it may still be so. */
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** The model never kept to the schema. */
  | { readonly kind: 'invalid' }
  /** A fault of the provider or of the way to it; a later try may succeed. */
  | Failed;

export interface Chat {
  /** Throws: never. Safe to repeat: yes; it costs what the provider asks for it. */
  ask<Answer>(question: Question<Answer>, signal: AbortSignal): Promise<Reply<Answer>>;
  /** For so long the provider is left alone, because it failed too often; milliseconds, 0 when it may be asked. */
  pauseMs(): number;
}

export interface ChatOptions extends Endpoint {
  readonly clock: Clock;
}

/** How an answer is made to be JSON, the most reliable way first. */
const ladder: readonly Format[] = ['json_schema', 'json_object', 'plain'];
/** A provider may learn: so long is remembered which formats it refused, milliseconds. */
const rememberMs = 3_600_000;
const maxRepairs = 2;
const maxRepeatedLength = 20_000;

export function createChat(options: ChatOptions): Chat {
  const { clock } = options;
  const provider = createProvider(options);
  let known = { rung: 0, until: 0 };

  /** Asks on the given rung, or on the first one below that the provider takes. */
  async function complete(from: number, asked: Omit<Completion, 'format'>, signal: AbortSignal) {
    for (let rung = from; ; rung += 1) {
      const completed = await provider.complete({ ...asked, format: ladder[rung] ?? 'plain' }, signal);
      if (completed.kind !== 'format_refused' || rung >= ladder.length - 1) return { rung, completed };
    }
  }

  /** Not prolonged by use: after `rememberMs` the best format is tried again. */
  function remember(rung: number): void {
    const now = clock.monotonic();
    if (rung !== known.rung || now >= known.until) known = { rung, until: now + rememberMs };
  }

  return {
    pauseMs: () => provider.pauseMs(),
    async ask<Answer>(question: Question<Answer>, signal: AbortSignal): Promise<Reply<Answer>> {
      const strict = toStrict(question.schema);
      const messages: Message[] = [
        { role: 'system', content: `${question.instructions}\n\n${formatRule}\n${JSON.stringify(strict)}` },
        { role: 'user', content: question.data },
      ];
      let rung = clock.monotonic() < known.until ? known.rung : 0;
      let best: Reply<Answer> = { kind: 'invalid' };
      for (let round = 0; round <= maxRepairs; round += 1) {
        const asked = { messages, name: question.name, schema: strict };
        const { rung: took, completed } = await complete(rung, asked, signal);
        if (completed.kind !== 'text')
          return best.kind === 'answer' ? best : { ...completed, kind: 'failed' };
        rung = took;
        const { text } = completed;
        const reading = readAnswer(question.schema, looseJson(text));
        if (reading.ok) {
          remember(rung);
          const answer = reading.value as Answer;
          best = { kind: 'answer', answer };
          const problems = question.problems?.(answer) ?? [];
          if (problems.length === 0) return best;
          messages.push(...repair(text, problems));
        } else {
          // Whoever enforces the schema does not break it: this one only says so.
          if (ladder[rung] === 'json_schema') rung += 1;
          messages.push(...repair(text, reading.problems));
        }
      }
      return best;
    },
  };
}

const formatRule =
  'Answer with one JSON object and nothing else: no explanation, no Markdown. It must satisfy this JSON Schema:';

/** Shows the model its own answer and what is wrong with it. */
function repair(text: string, problems: readonly AnswerProblem[]): Message[] {
  const list = problems.map(
    ({ pointer, problem }) => `- ${pointer === '' ? 'the answer' : pointer}: ${problem}`,
  );
  return [
    { role: 'assistant', content: cut(text, maxRepeatedLength) || '(empty)' },
    {
      role: 'user',
      content: `That can not be used:\n${list.join('\n')}\nAnswer again with the whole JSON object. The rules are the same.`,
    },
  ];
}
