import type { Rate } from '../platform/token-buckets.ts';

export interface HttpSettings {
  /** Where clients reach the API, for the OpenAPI document; null lets it name the address that served it. */
  readonly baseUrl: string | null;
  /** How many requests one API key may make. */
  readonly keyRate: Rate;
  /** How many wrong keys one address (IPv6: one /64) may try. */
  readonly wrongKeyRate: Rate;
  /** Suggested to clients as `Retry-After` while a Goal Run is not finished; whole seconds, at least 1. */
  readonly pollAfterSeconds: number;
  /** Addresses or CIDR blocks of proxies whose `X-Forwarded-For` is believed; empty: none. */
  readonly trustedProxies: readonly string[];
  /** From the first byte of a connection or request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request to the last of its body. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept open. */
  readonly keepAliveTimeoutMs: number;
  /** How long `close` waits for requests in flight before it cuts them off. */
  readonly drainTimeoutMs: number;
}

export const defaultHttpSettings: HttpSettings = {
  baseUrl: null,
  keyRate: { perSecond: 500, burst: 1_000 },
  wrongKeyRate: { perSecond: 1, burst: 20 },
  pollAfterSeconds: 2,
  trustedProxies: [],
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  drainTimeoutMs: 30_000,
};

/** Longest header section, bytes; more gives `431`. */
export const maxHeaderBytes = 16 * 1024;
/** Largest body of a Goal Run, bytes. */
export const maxGoalRunBytes = 64 * 1024;
/** Largest body of every other operation, bytes. */
export const maxBodyBytes = 256 * 1024;
