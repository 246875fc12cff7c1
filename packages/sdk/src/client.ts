import type { Goal, GoalRun, Scalar } from '@trunkcall/contract';
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
    const answer = await this.#transport.send<GoalRun>(
      {
        method: 'POST',
        path: `${goalPath(goalId)}/runs`,
        headers: { 'content-type': 'application/json', 'idempotency-key': latin1(idempotencyKey) },
        body: JSON.stringify(variables === undefined ? { phone } : { phone, variables }),
        repeatable: true,
      },
      options,
    );
    const replayed = answer.headers.get('idempotency-replayed') === 'true';
    return { run: answer.body, idempotencyKey, replayed };
  }

  async getRun(goalId: string, goalRunId: string, options?: CallOptions): Promise<GoalRun> {
    return (await this.#transport.send<GoalRun>(get(runPath(goalId, goalRunId)), options)).body;
  }

  /**
   * Polls until the Run has a result or an error, as often as the service suggests (bounded to 0.25–30 s).
   *
   * Throws besides: TrunkcallTimeout. Safe to repeat: yes.
   */
  async waitForRun(goalId: string, goalRunId: string, options: WaitOptions = {}): Promise<GoalRun> {
    const deadline = performance.now() + (options.timeoutMs ?? defaultWaitMs);
    for (;;) {
      const { body, retryAfterMs } = await this.#transport.send<GoalRun>(
        get(runPath(goalId, goalRunId)),
        options,
      );
      if (body.result !== null || body.error !== null) return body;
      const pauseMs = Math.min(Math.max(retryAfterMs ?? defaultPollMs, shortestPollMs), longestPollMs);
      if (performance.now() + pauseMs > deadline) {
        throw new TrunkcallTimeout(`the Run ${goalRunId} is still ${body.status}`);
      }
      await this.#transport.sleep(pauseMs, options.signal);
    }
  }
}

const get = (path: string) => ({ method: 'GET', path, repeatable: true }) as const;
const goalPath = (goalId: string) => `/v1/goals/${encodeURIComponent(goalId)}`;
const runPath = (goalId: string, runId: string) => `${goalPath(goalId)}/runs/${encodeURIComponent(runId)}`;

/** `fetch` takes header values as bytes; the service reads them as UTF-8. */
function latin1(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}
