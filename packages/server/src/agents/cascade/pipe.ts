/** Hands things over from who makes them to who reads them, one reader, in order. The maker bounds how many. */
export class Pipe<T> implements AsyncIterable<T> {
  readonly #things: T[] = [];
  #closed = false;
  #notice: () => void = () => undefined;

  push(thing: T): void {
    this.#things.push(thing);
    this.#notice();
  }

  /** Nothing more will come. Safe to repeat. */
  close(): void {
    this.#closed = true;
    this.#notice();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const thing = this.#things.shift();
      if (thing !== undefined) yield thing;
      else if (this.#closed) return;
      else await this.#changed();
    }
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#notice = resolve;
    });
  }
}

/** Reads a source until the signal aborts, also when the source does not heed it. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  const over = new Promise<{ readonly done: true; readonly value: undefined }>((resolve) => {
    const end = () => resolve({ done: true, value: undefined });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), over]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    iterator.return?.().then(undefined, () => undefined);
  }
}
