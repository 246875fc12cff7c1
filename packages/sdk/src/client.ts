import type { CallEvent, CallTask, Goal, GoalRun, OneShotCall, Scalar } from '@trunkcall/contract';
import { TrunkcallTimeout } from './errors.ts';
import {
  createTransport,
  queryString,
  type CallOptions,
  type ClientOptions,
  type Transport,
} from './transport.ts';

export interface TrunkcallOptions extends ClientOptions {
  readonly apiKey: string;
}

export interface Page<Item> {
  readonly object: 'list';
  readonly data: readonly Item[];
  /** Pass it as `after` for the next page; null on the last one. */
  readonly next_cursor: string | null;
}

export interface NewRun {
  /** Canonical E.164. */
  readonly phone: string;
  readonly variables?: Readonly<Record<string, Scalar>>;
  /**
   * Names this one call: the same key never makes a second one. Made at random when left out, which protects
   * against lost answers within `createRun`, but not across restarts of your program.
   */
  readonly idempotencyKey?: string;
}

/** A one-shot call: one number, and a task in free text. */
export interface NewCall {
  readonly task: string;
  /** Canonical E.164. */
  readonly phone: string;
  /** A closed object of at most 32 scalar properties. */
  readonly result_schema: Readonly<Record<string, unknown>>;
  readonly region?: string;
  readonly locale?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly webhook_url?: string;
  /** As that of a Run. */
  readonly idempotencyKey?: string;
}

export interface CreatedCall<Call> {
  readonly call: Call;
  readonly idempotencyKey: string;
  /** The key had been used for this very request before. */
  readonly replayed: boolean;
}

/** A call task; deprecated, see `NewCall`. */
export interface NewCallTask {
  readonly task: string;
  readonly recipients?: readonly {
    readonly phones: readonly string[];
    readonly region?: string;
    readonly locale?: string;
  }[];
  readonly result_schema?: Readonly<Record<string, unknown>>;
  readonly recipient_result_schema?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly webhook_url?: string;
  readonly idempotencyKey?: string;
}

export interface EventsPage {
  /** A page's `next_cursor`, or the id of the last event that was seen. */
  readonly cursor?: string;
  /** 1–100. */
  readonly limit?: number;
}

export interface CreatedRun {
  readonly run: GoalRun;
  readonly idempotencyKey: string;
  /** The key had been used for this very request before. */
  readonly replayed: boolean;
}

export interface WaitOptions extends CallOptions {
  /** How long to wait at most, milliseconds; 15 minutes by default. */
  readonly timeoutMs?: number;
}

const defaultWaitMs = 15 * 60_000;
const defaultPollMs = 2_000;
const shortestPollMs = 250;
const longestPollMs = 30_000;

/**
 * The Developer API. Every method repeats what may be repeated (`429`, `502`, `503`, lost connections) with the
 * same key and body, and throws TrunkcallError, TrunkcallUnreachable or the signal's reason.
 */
export class Trunkcall {
  readonly #transport: Transport;

  constructor({ apiKey, ...options }: TrunkcallOptions) {
    this.#transport = createTransport(options, apiKey);
  }

  /** One page of the published Goals; `limit` is 1–100. */
  async listGoals(
    page: { readonly limit?: number; readonly after?: string } = {},
    options?: CallOptions,
  ): Promise<Page<Goal>> {
    return (await this.#transport.send<Page<Goal>>(get(`/v1/goals${queryString(page)}`), options)).body;
  }

  async getGoal(goalId: string, options?: CallOptions): Promise<Goal> {
    return (await this.#transport.send<Goal>(get(goalPath(goalId)), options)).body;
  }

  /** Starts one call. Resolves when the service has durably accepted it, long before anybody answers. */
  async createRun(goalId: string, run: NewRun, options?: CallOptions): Promise<CreatedRun> {
    const { phone, variables, idempotencyKey = crypto.randomUUID() } = run;
    const body = variables === undefined ? { phone } : { phone, variables };
    const { call, replayed } = await this.#create<GoalRun>(
      `${goalPath(goalId)}/runs`,
      body,
      idempotencyKey,
      options,
    );
    return { run: call, idempotencyKey, replayed };
  }

  async getRun(goalId: string, goalRunId: string, options?: CallOptions): Promise<GoalRun> {
    return (await this.#transport.send<GoalRun>(get(runPath(goalId, goalRunId)), options)).body;
  }

  /**
   * Polls until the Run has a result or an error, as often as the service suggests (bounded to 0.25–30 s).
   *
   * Throws besides: TrunkcallTimeout. Safe to repeat: yes.
   */
  waitForRun(goalId: string, goalRunId: string, options: WaitOptions = {}): Promise<GoalRun> {
    const done = ({ result, error }: GoalRun) => result !== null || error !== null;
    return this.#poll(runPath(goalId, goalRunId), done, options);
  }

  /** Starts a one-shot call. Resolves when the service has durably accepted it, long before anybody answers. */
  createCall(
    { idempotencyKey = crypto.randomUUID(), ...call }: NewCall,
    options?: CallOptions,
  ): Promise<CreatedCall<OneShotCall>> {
    return this.#create('/v2/calls', call, idempotencyKey, options);
  }

  async getCall(callId: string, options?: CallOptions): Promise<OneShotCall> {
    return (await this.#transport.send<OneShotCall>(get(callPath(callId)), options)).body;
  }

  /** Polls until it is settled whether the call has a result. Throws besides: TrunkcallTimeout. */
  waitForCall(callId: string, options: WaitOptions = {}): Promise<OneShotCall> {
    return this.#poll(callPath(callId), (call: OneShotCall) => call.result_status !== 'pending', options);
  }

  async listCallEvents(
    callId: string,
    page: EventsPage = {},
    options?: CallOptions,
  ): Promise<Page<CallEvent>> {
    const path = `${callPath(callId)}/events${queryString({ ...page })}`;
    return (await this.#transport.send<Page<CallEvent>>(get(path), options)).body;
  }

  /** Takes back a call that has not been dialled. */
  async cancelCall(callId: string, options?: CallOptions): Promise<OneShotCall> {
    const order = { method: 'POST', path: `${callPath(callId)}/cancel`, repeatable: true } as const;
    return (await this.#transport.send<OneShotCall>(order, options)).body;
  }

  /** Starts a call task. Deprecated: start a one-shot call or a Goal Run instead. */
  createCallTask(
    { idempotencyKey = crypto.randomUUID(), ...task }: NewCallTask,
    options?: CallOptions,
  ): Promise<CreatedCall<CallTask>> {
    return this.#create('/v1/calls', task, idempotencyKey, options);
  }

  /** Deprecated. */
  async getCallTask(callId: string, options?: CallOptions): Promise<CallTask> {
    return (await this.#transport.send<CallTask>(get(taskPath(callId)), options)).body;
  }

  /** Polls until the complete result of a call task is published. Deprecated. Throws besides: TrunkcallTimeout. */
  waitForCallTask(callId: string, options: WaitOptions = {}): Promise<CallTask> {
    return this.#poll(taskPath(callId), (task: CallTask) => task.completed_at !== null, options);
  }

  async #create<Call>(
    path: string,
    body: object,
    idempotencyKey: string,
    options?: CallOptions,
  ): Promise<CreatedCall<Call>> {
    const answer = await this.#transport.send<Call>(
      {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', 'idempotency-key': latin1(idempotencyKey) },
        body: JSON.stringify(body),
        repeatable: true,
      },
      options,
    );
    const replayed = answer.headers.get('idempotency-replayed') === 'true';
    return { call: answer.body, idempotencyKey, replayed };
  }

  async #poll<View extends { readonly id: string; readonly status: string }>(
    path: string,
    done: (view: View) => boolean,
    options: WaitOptions,
  ): Promise<View> {
    const deadline = performance.now() + (options.timeoutMs ?? defaultWaitMs);
    for (;;) {
      const { body, retryAfterMs } = await this.#transport.send<View>(get(path), options);
      if (done(body)) return body;
      const pauseMs = Math.min(Math.max(retryAfterMs ?? defaultPollMs, shortestPollMs), longestPollMs);
      if (performance.now() + pauseMs > deadline) {
        throw new TrunkcallTimeout(`${body.id} is still ${body.status}`);
      }
      await this.#transport.sleep(pauseMs, options.signal);
    }
  }
}

const get = (path: string) => ({ method: 'GET', path, repeatable: true }) as const;
const goalPath = (goalId: string) => `/v1/goals/${encodeURIComponent(goalId)}`;
const callPath = (callId: string) => `/v2/calls/${encodeURIComponent(callId)}`;
const taskPath = (callId: string) => `/v1/calls/${encodeURIComponent(callId)}`;
const runPath = (goalId: string, runId: string) => `${goalPath(goalId)}/runs/${encodeURIComponent(runId)}`;

/** `fetch` takes header values as bytes; the service reads them as UTF-8. */
function latin1(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}
