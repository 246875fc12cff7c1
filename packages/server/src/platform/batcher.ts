/**
 * Group commit: many requests share one statement, so they share one network trip and one flush to disk.
 *
 * A few lanes each carry one batch at a time. While all lanes are busy, requests gather; a lane that comes
 * back takes all that wait, up to `maxBatch`. So a single request waits for nothing, and under load the batch
 * grows by itself to what the database can take.
 */
export interface BatcherOptions<Item, Answer> {
  /** How many batches may be under way at once. */
  readonly lanes: number;
  readonly maxBatch: number;
  /** How many items may wait; one more is refused at once with `onFull()`. */
  readonly maxWaiting: number;
  readonly onFull: () => Error;
  /** Answers a batch, in order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Answer[]>;
  /**
   * Tells whether the failure of a batch may be one item's doing. Then each is tried by itself, so that a
   * poisonous item fails alone.
   */
  readonly retryAlone: (error: unknown) => boolean;
}

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export interface Batcher<Item, Answer> {
  submit(item: Item): Promise<Answer>;
}

export function createBatcher<Item, Answer>(options: BatcherOptions<Item, Answer>): Batcher<Item, Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let busyLanes = 0;
  let scheduled = false;

  /** Starts lanes after the sockets that are ready now were read, so that requests of one moment travel together. */
  function schedule(): void {
    if (scheduled || busyLanes >= options.lanes || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (waiting.length === 0 || busyLanes >= options.lanes) return;
      const batch = waiting.slice(0, options.maxBatch);
      waiting = waiting.slice(options.maxBatch);
      busyLanes += 1;
      void carry(batch).finally(() => {
        busyLanes -= 1;
        schedule();
      });
      schedule();
    });
  }

  async function carry(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await options.run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
    } catch (error) {
      if (batch.length > 1 && options.retryAlone(error)) {
        for (const one of batch) await carry([one]);
        return;
      }
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    submit(item) {
      if (waiting.length >= options.maxWaiting) return Promise.reject(options.onFull());
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        schedule();
      });
    },
  };
}
