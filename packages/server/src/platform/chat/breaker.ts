/**
 * A circuit breaker: a provider that fails again and again is left alone for a while.
 *
 *   closed ──failures──▶ open ──pause over, asked──▶ trying ──answered──▶ closed
 *                         ▲                            │
 *                         └───────────failed───────────┘
 */
export type Breaker =
  /** `failures`: one after the other, without an answer between them. */
  | { readonly kind: 'closed'; readonly failures: number }
  /** Nobody asks before `until`, milliseconds of the monotonic clock. */
  | { readonly kind: 'open'; readonly until: number }
  /** One request tries; nobody else asks before it is known how that went, or `until` if it never is. */
  | { readonly kind: 'trying'; readonly until: number };

export type BreakerEvent = 'asked' | 'answered' | 'failed';

export const closed: Breaker = { kind: 'closed', failures: 0 };
export const opensAfter = 5;
export const openMs = 30_000;
/** Longer than any one request takes. */
export const tryingMs = 60_000;

/** Whether the provider may be asked now. Whoever does says so with the event `asked`. */
export function mayAsk(breaker: Breaker, now: number): boolean {
  return breaker.kind === 'closed' || now >= breaker.until;
}

/** Pure; what changes nothing returns the same object. */
export function nextBreaker(breaker: Breaker, event: BreakerEvent, now: number): Breaker {
  switch (event) {
    case 'asked':
      return breaker.kind === 'closed' ? breaker : { kind: 'trying', until: now + tryingMs };
    case 'answered':
      return breaker.kind === 'closed' && breaker.failures === 0 ? breaker : closed;
    case 'failed':
      switch (breaker.kind) {
        case 'closed':
          return breaker.failures + 1 < opensAfter
            ? { kind: 'closed', failures: breaker.failures + 1 }
            : { kind: 'open', until: now + openMs };
        case 'trying':
          return { kind: 'open', until: now + openMs };
        // Asked before it opened.
        case 'open':
          return breaker;
      }
  }
}
