/** Bounds on what a provider may take, and the one second try. */
import type { Clock } from '../../../platform/clock.ts';
import type { Failure } from '../ports.ts';

/** Before the second try, milliseconds: long enough for a limit to pass, short enough for who waits on the line. */
export const secondTryAfterMs = 250;

/**
 * A signal that aborts with its parent, or when an awaited step takes too long. Only `within` counts time: what
 * whoever reads takes between two steps is not the provider's.
 */
export class Deadline {
  readonly #clock: Clock;
  readonly #parent: AbortSignal;
  readonly #own = new AbortController();
  /** Whether a step took too long. */
  expired = false;
  /** How long the provider was waited for so far, milliseconds. */
  waitedMs = 0;

  constructor(clock: Clock, parent: AbortSignal) {
    this.#clock = clock;
    this.#parent = parent;
    parent.addEventListener('abort', this.#abort, { once: true });
    if (parent.aborted) this.#abort();
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Settles as `step`, which must heed the signal, or rejects when it aborts. */
  async within<T>(ms: number, step: Promise<T>): Promise<T> {
    const done = new AbortController();
    const sinceMs = this.#clock.monotonic();
    void this.#clock.sleep(ms, done.signal).then((late) => {
      if (!late) return;
      this.expired = true;
      this.#own.abort();
    });
    const aborted = whenAborted(this.signal, done.signal);
    try {
      return await Promise.race([step, aborted]);
    } finally {
      done.abort();
      this.waitedMs += this.#clock.monotonic() - sinceMs;
    }
  }

  /** Ends the work, if it is not over. */
  release(): void {
    this.#parent.removeEventListener('abort', this.#abort);
    this.#own.abort();
  }

  readonly #abort = (): void => this.#own.abort();
}

/** Rejects when `signal` aborts; forgets it when `done` does. */
function whenAborted(signal: AbortSignal, done: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(new Error('aborted'));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true, signal: done });
  });
}

/** How long a provider may take. */
export interface Limits {
  /** Until the first part that is of use, milliseconds: models think before they write. */
  readonly firstMs: number;
  /** Between two parts, milliseconds. */
  readonly nextMs: number;
  /** For all of it, milliseconds: a stream may go on and say nothing. */
  readonly totalMs: number;
}

/**
 * Reads a stream part by part, each within its limit. What was waited with the deadline before counts, as the wait
 * for a connection. `ofUse` tells parts for which somebody waits from signs of life.
 */
export async function* readWithin<T>(
  deadline: Deadline,
  source: AsyncIterable<T>,
  { firstMs, nextMs, totalMs }: Limits,
  ofUse: (part: T) => boolean = () => true,
): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  let begun = false;
  try {
    for (;;) {
      const leftMs = (limitMs: number) => Math.max(0, limitMs - deadline.waitedMs);
      const limitMs = begun ? Math.min(nextMs, leftMs(totalMs)) : leftMs(firstMs);
      const next = await deadline.within(limitMs, iterator.next());
      if (next.done === true) return;
      begun ||= ofUse(next.value);
      yield next.value;
    }
  } finally {
    // A source that hangs would never let go; its signal has told it to.
    iterator.return?.().then(undefined, () => undefined);
  }
}

/** Tries once more when the first try failed before it gave anything: nobody has heard of it. */
export async function* triedTwice<Part>(
  clock: Clock,
  signal: AbortSignal,
  attempt: () => AsyncIterable<Part | Failure>,
): AsyncGenerator<Part | Failure> {
  const first = await firstPart(attempt());
  if (!isFailure(first.part) || signal.aborted) return yield* first.parts();
  await first.close();
  await clock.sleep(secondTryAfterMs, signal);
  yield* attempt();
}

/** Looks at the first part; `parts` gives it and the others, or `close` does without them. */
async function firstPart<T>(source: AsyncIterable<T>) {
  const iterator = source[Symbol.asyncIterator]();
  const first = await iterator.next();
  const close = async (): Promise<void> => void (await iterator.return?.());
  async function* parts(): AsyncGenerator<T> {
    try {
      for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await close();
    }
  }
  return { part: first.done === true ? null : first.value, parts, close };
}

function isFailure(part: unknown): part is Failure {
  return typeof part === 'object' && part !== null && 'kind' in part && part.kind === 'failed';
}
