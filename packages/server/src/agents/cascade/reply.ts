/** One answer of the chat model: its sentences as they become whole, and the tools that it wants to use. */
import type { ToolCall } from '../tools.ts';
import { Pipe } from './pipe.ts';
import { failed, type ChatModel, type ChatRequest, type Failure } from './ports.ts';
import { SentenceCutter } from './sentence-cutter.ts';

export interface Reply {
  /** Ends when the answer does, whole or not. */
  readonly sentences: AsyncIterable<string>;
  /** Resolves when the answer has ended, or was given up with the signal. */
  readonly outcome: Promise<ReplyOutcome>;
}

export interface ReplyOutcome {
  readonly calls: readonly ToolCall[];
  readonly failure: Failure | null;
}

/** Told while the answer is still being written. */
export interface ReplyWatcher {
  /** More words have come. */
  words(): void;
  call(call: ToolCall): void;
}

/**
 * Asks the model. It writes faster than anybody speaks: the sentences wait here, bounded by the length of an
 * answer. An answer of nothing is asked for once more.
 */
export function askModel(
  model: ChatModel,
  request: ChatRequest,
  told: ReplyWatcher,
  signal: AbortSignal,
): Reply {
  const sentences = new Pipe<string>();

  async function once(): Promise<ReplyOutcome & { readonly empty: boolean }> {
    const cutter = new SentenceCutter();
    const calls: ToolCall[] = [];
    let empty = true;
    const give = (whole: readonly string[]) => {
      for (const sentence of whole) sentences.push(sentence);
      if (whole.length > 0) empty = false;
    };
    for await (const part of model.answer(request, signal)) {
      if (part.kind === 'failed') return { calls, failure: part, empty };
      if (part.kind === 'text') {
        told.words();
        give(cutter.take(part.text));
      } else {
        told.call(part.call);
        calls.push(part.call);
      }
    }
    give(cutter.finish());
    return { calls, failure: null, empty: empty && calls.length === 0 };
  }

  async function all(): Promise<ReplyOutcome> {
    const first = await once();
    if (!first.empty || first.failure !== null || signal.aborted) return first;
    const second = await once();
    return second.empty && second.failure === null
      ? { calls: [], failure: failed('the chat model had nothing to say') }
      : second;
  }

  return { sentences, outcome: all().finally(() => sentences.close()) };
}
