/** One OpenAI-compatible endpoint for chat completions: one answer in, with bounded retries, behind a breaker. */
import OpenAI, { APIConnectionError, APIError } from 'openai';
import type { ChatCompletionCreateParamsNonStreaming } from 'openai/resources/chat/completions';
import type { Clock } from '../clock.ts';
import type { KeyWatch } from '../key-watch.ts';
import { closed, mayAsk, nextBreaker, tryingMs, type Breaker, type BreakerEvent } from './breaker.ts';

export const openAiUrl = 'https://api.openai.com/v1';

export interface Endpoint {
  /** Base URL, such as https://api.openai.com/v1. */
  readonly url: string;
  /** Null where the server asks for none. */
  readonly apiKey: string | null;
  readonly model: string;
  /** Told whether the provider takes the key. */
  readonly key?: KeyWatch;
  /** Spreads retries; 0 to 1. */
  readonly random?: () => number;
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export type Format = 'json_schema' | 'json_object' | 'plain';

export interface Completion {
  readonly messages: readonly Message[];
  readonly format: Format;
  readonly name: string;
  /** In the strict subset. */
  readonly schema: object;
}

export type Completed =
  | { readonly kind: 'text'; readonly text: string }
  /** The provider does not take this format, or something else about the request. */
  | { readonly kind: 'format_refused'; readonly note: string }
  | Failed;

export interface Failed {
  readonly kind: 'failed';
  readonly note: string;
  /** The provider fails everybody: it refuses our key, or is left alone for a while. That says nothing of the question. */
  readonly isOut?: true;
}

export interface Provider {
  /** Throws: never. */
  complete(completion: Completion, signal: AbortSignal): Promise<Completed>;
  /** For so long it is left alone, milliseconds; 0 when it may be asked. */
  pauseMs(): number;
}

/** What came of one request. */
type Tried =
  | Exclude<Completed, { kind: 'failed' }>
  | {
      readonly kind: 'failed';
      readonly note: string;
      /** Another try may succeed right away. */
      readonly passing: boolean;
      readonly refusesKey: boolean;
      readonly afterMs: number | null;
    };

/** One request with its answer, milliseconds; less than the breaker waits for the one that it lets through. */
export const requestLimitMs = 30_000;
/** Before the second and the third try, milliseconds. */
const retryPausesMs = [500, 2_000];
/** Who asks for a longer pause is not waited for: the job is tried again later anyway. */
const maxRetryAfterMs = 10_000;
const maxAnswerBytes = 1024 * 1024;

export function createProvider({
  clock,
  url,
  apiKey,
  model,
  key,
  random = Math.random,
}: Endpoint & { readonly clock: Clock }) {
  const client = new OpenAI({
    baseURL: url,
    // The client wants a key, also for servers that ask for none.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    // Our limit comes first; this only bounds a client that ignores it.
    timeout: tryingMs,
    logLevel: 'off',
    fetch: async (input, init) => {
      const response = await boundedFetch(input, init);
      key?.saw(response.status);
      return response;
    },
  });
  let breaker: Breaker = closed;
  const tell = (event: BreakerEvent) => {
    breaker = nextBreaker(breaker, event, clock.monotonic());
  };

  async function tryOnce(completion: Completion, signal: AbortSignal): Promise<Tried> {
    const late = new AbortController();
    const done = new AbortController();
    void clock
      .sleep(requestLimitMs, AbortSignal.any([done.signal, signal]))
      .then((over) => over && late.abort());
    try {
      const answer: unknown = await client.chat.completions.create(requestOf(model, completion), {
        signal: AbortSignal.any([late.signal, signal]),
      });
      return textIn(answer);
    } catch (error) {
      if (signal.aborted) return lasting('the chat model was given up');
      return late.signal.aborted ? passing('the chat model took too long') : faultOf(error);
    } finally {
      done.abort();
    }
  }

  async function complete(completion: Completion, signal: AbortSignal): Promise<Completed> {
    for (let tries = 0; ; tries += 1) {
      if (signal.aborted) return failed('the chat model was given up');
      if (!mayAsk(breaker, clock.monotonic())) {
        return failed('the chat model failed too often and is left alone for a while');
      }
      tell('asked');
      const tried = await tryOnce(completion, signal);
      if (tried.kind !== 'failed') {
        tell('answered');
        return tried;
      }
      // Says nothing about the provider.
      if (signal.aborted) return failed(tried.note);
      tell(tried.passing ? 'failed' : 'answered');
      const pauseMs = retryPausesMs[tries];
      if (!tried.passing || pauseMs === undefined || (tried.afterMs ?? 0) > maxRetryAfterMs) {
        return failed(tried.note, tried.refusesKey);
      }
      await clock.sleep(Math.max(tried.afterMs ?? 0, pauseMs * (0.5 + random() / 2)), signal);
    }
  }

  const pauseMs = () => (breaker.kind === 'closed' ? 0 : Math.max(0, breaker.until - clock.monotonic()));
  const failed = (note: string, refusesKey = false): Failed => ({
    kind: 'failed',
    note,
    ...((refusesKey || pauseMs() > 0) && { isOut: true }),
  });
  return { complete, pauseMs } satisfies Provider;
}

function requestOf(
  model: string,
  { messages, format, name, schema }: Completion,
): ChatCompletionCreateParamsNonStreaming {
  const request = { model, messages: [...messages] };
  switch (format) {
    case 'json_schema':
      return {
        ...request,
        response_format: { type: format, json_schema: { name, strict: true, schema: { ...schema } } },
      };
    case 'json_object':
      return { ...request, response_format: { type: format } };
    case 'plain':
      return request;
  }
}

interface LooseCompletion {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[];
}

/** Servers answer all sorts of things with status 200. */
function textIn(answer: unknown): Tried {
  const choices =
    typeof answer === 'object' && answer !== null ? (answer as LooseCompletion).choices : undefined;
  if (!Array.isArray(choices) || choices.length === 0) {
    return passing('the chat model answered something else than its protocol says');
  }
  const [choice] = choices as NonNullable<LooseCompletion['choices']>;
  const content = choice?.message?.content;
  // A refusal, or nothing but thoughts: no text, which is no JSON.
  return { kind: 'text', text: typeof content === 'string' ? content : '' };
}

/** A server says so when it does not know a format; which one of these it takes depends on the program. */
const refusals = new Set([400, 415, 422, 501]);

/** What went wrong, without the provider's words: they may quote the call, or the key (C3). */
function faultOf(error: unknown): Tried {
  if (isTooLarge(error)) return lasting('the chat model answered too much');
  if (error instanceof APIConnectionError) return passing('the chat model can not be reached');
  const status = error instanceof APIError ? (error.status as unknown) : undefined;
  if (typeof status !== 'number') {
    return passing('the chat model broke off, or answered something else than its protocol says');
  }
  const note = `the chat model answered ${status}`;
  if (refusals.has(status)) return { kind: 'format_refused', note };
  if (status === 401 || status === 403) {
    // Some say 403 of one question that they do not like: only 401 is about the key for certain.
    return { ...lasting(`${note}: its key is missing or not accepted`), refusesKey: status === 401 };
  }
  const headers = error instanceof APIError ? (error.headers as Headers | undefined) : undefined;
  if (status === 408 || status === 409 || status === 429 || status >= 500)
    return passing(note, retryAfter(headers));
  return lasting(note);
}

type TriedInVain = Extract<Tried, { kind: 'failed' }>;

function passing(note: string, afterMs: number | null = null): TriedInVain {
  return { kind: 'failed', note, passing: true, refusesKey: false, afterMs };
}

function lasting(note: string): TriedInVain {
  return { kind: 'failed', note, passing: false, refusesKey: false, afterMs: null };
}

/** Milliseconds; null without a usable header. A date is not looked at: its clock is not ours. */
function retryAfter(headers: Headers | undefined): number | null {
  const seconds = headers?.get('retry-after')?.trim() ?? '';
  return /^\d{1,6}(\.\d{1,3})?$/.test(seconds) ? Number(seconds) * 1_000 : null;
}

class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

function isTooLarge(error: unknown): boolean {
  return error instanceof AnswerTooLarge || (error instanceof Error && error.cause instanceof AnswerTooLarge);
}

/** `fetch` whose bodies break off when they are too large. */
async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  let bytes = 0;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      bytes += piece.length;
      if (bytes > maxAnswerBytes) controller.error(new AnswerTooLarge());
      else controller.enqueue(piece);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
}
