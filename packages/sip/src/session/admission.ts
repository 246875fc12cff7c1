import type { Clock } from '../clock.ts';

export interface AdmissionLimits {
  /** Answers per second to one address that no trunk allows, and how many at once. */
  readonly perSecond: number;
  readonly burst: number;
  /** Addresses remembered; the one that was silent longest is forgotten first. */
  readonly maxAddresses: number;
}

export const DEFAULT_ADMISSION_LIMITS: AdmissionLimits = { perSecond: 1, burst: 10, maxAddresses: 10_000 };

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** A token bucket per address: scanners get a few refusals, then silence. */
export class SourceLimiter {
  readonly #limits: AdmissionLimits;
  readonly #clock: Clock;
  /** In the order of use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(limits: AdmissionLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Takes a token; false when the address has used up its own. */
  take(address: string): boolean {
    const { perSecond, burst, maxAddresses } = this.#limits;
    const now = this.#clock.now();
    const bucket = this.#buckets.get(address) ?? { tokens: burst, filledAt: now };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAt) / 1_000) * perSecond);
    bucket.filledAt = now;
    this.#buckets.delete(address);
    this.#buckets.set(address, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maxAddresses && oldest !== undefined) this.#buckets.delete(oldest);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}
