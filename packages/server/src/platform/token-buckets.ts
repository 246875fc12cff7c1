import type { Clock } from './clock.ts';

export interface Rate {
  /** Tokens that flow in, per second. */
  readonly perSecond: number;
  /** Tokens that a full bucket holds: how many requests may come at once. */
  readonly burst: number;
}

/** Who waits exactly as long as told finds a token, whatever the last digit of the division. */
const roundingError = 1e-6;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/**
 * Token buckets by name, at most `maxBuckets`; the one that was used longest ago makes room for a new one, which
 * starts full.
 */
export class TokenBuckets {
  readonly #clock: Clock;
  readonly #rate: Rate;
  readonly #maxBuckets: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, rate: Rate, maxBuckets = 10_000) {
    this.#clock = clock;
    this.#rate = rate;
    this.#maxBuckets = maxBuckets;
  }

  /** Takes a token. Ends with 0, or with the whole seconds (at least 1) after which there is one, when there is none. */
  take(name: string): number {
    const bucket = this.#filled(name);
    const missing = 1 - bucket.tokens;
    if (missing > roundingError)
      return Math.max(1, Math.ceil(missing / this.#rate.perSecond - roundingError));
    bucket.tokens -= 1;
    return 0;
  }

  /** Returns a token that was taken without need. */
  giveBack(name: string): void {
    const bucket = this.#filled(name);
    bucket.tokens = Math.min(this.#rate.burst, bucket.tokens + 1);
  }

  #filled(name: string): Bucket {
    const nowMs = this.#clock.monotonic();
    const bucket = this.#buckets.get(name) ?? { tokens: this.#rate.burst, filledAtMs: nowMs };
    const inflow = ((nowMs - bucket.filledAtMs) / 1_000) * this.#rate.perSecond;
    bucket.tokens = Math.min(this.#rate.burst, bucket.tokens + inflow);
    bucket.filledAtMs = nowMs;
    // Put behind all others: the order of the map is the order of use.
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    if (this.#buckets.size > this.#maxBuckets) {
      for (const [oldest] of this.#buckets) {
        this.#buckets.delete(oldest);
        break;
      }
    }
    return bucket;
  }
}
