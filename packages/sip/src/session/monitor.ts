/** Asks a trunk with OPTIONS, again and again, whether it is there. */

import type { Timer } from '../clock.ts';
import type { ExchangeOutcome } from '../dialog/exchange.ts';
import { randomFraction, randomToken } from '../random.ts';
import { type Host, requireSipUri } from './host.ts';
import { sendStandalone } from './standalone.ts';

export interface MonitorOptions {
  /** SIP URI to ask. */
  readonly uri: string;
  /** SIP URI that we ask as. */
  readonly from: string;
  readonly proxy?: string;
  /** From one answer to the next question, in milliseconds; 30,000 when absent. */
  readonly intervalMs?: number;
  /** How long an answer may take; 5,000 when absent. */
  readonly timeoutMs?: number;
  /** Failures in a row after which the trunk counts as down; 2 when absent. */
  readonly failuresForDown?: number;
  readonly signal?: AbortSignal;
  onChange?(state: 'up' | 'down'): void;
}

export interface Health {
  readonly state: 'unknown' | 'up' | 'down';
  readonly failures: number;
}

export interface Monitor {
  readonly health: Health;
  /** Safe to repeat. */
  stop(): void;
}

/** Pure. One answer brings a trunk up; it takes `failuresForDown` failures in a row to bring it down. */
export function nextHealth(health: Health, alive: boolean, failuresForDown: number): Health {
  if (alive) return health.state === 'up' && health.failures === 0 ? health : { state: 'up', failures: 0 };
  const failures = Math.min(health.failures + 1, failuresForDown);
  if (failures < failuresForDown) return { state: health.state, failures };
  return health.state === 'down' && health.failures === failures ? health : { state: 'down', failures };
}

/** Any answer shows life, also a refusal; 408 and 503 are how proxies say that nobody is behind them. */
function isAlive(outcome: ExchangeOutcome): boolean {
  return outcome.kind === 'response' && outcome.response.status !== 408 && outcome.response.status !== 503;
}

/** Starts at once. Throws `TypeError` for URIs that are none. */
export function startMonitor(host: Host, options: MonitorOptions): Monitor {
  const uri = requireSipUri(options.uri, 'uri');
  const from = requireSipUri(options.from, 'from');
  const proxy = options.proxy === undefined ? undefined : requireSipUri(options.proxy, 'proxy');
  const { intervalMs = 30_000, timeoutMs = 5_000, failuresForDown = 2 } = options;
  const { clock, random } = host.stack;
  const callId = randomToken(random, 16);
  const stopping = new AbortController();
  let health: Health = { state: 'unknown', failures: 0 };
  let again: Timer | undefined;
  let sequence = 0;

  const ask = async (): Promise<void> => {
    const waiting = new AbortController();
    const limit = clock.setTimer(timeoutMs, () => waiting.abort());
    const outcome = await sendStandalone(host, {
      method: 'OPTIONS',
      uri,
      proxy,
      from,
      to: uri,
      callId,
      nextSequence: () => (sequence += 1),
      headers: () => [['Accept', 'application/sdp']],
      signal: AbortSignal.any([waiting.signal, stopping.signal]),
    });
    limit.cancel();
    if (stopping.signal.aborted) return;
    const before = health.state;
    health = nextHealth(health, isAlive(outcome), failuresForDown);
    // A tenth of jitter keeps many trunks from being asked in step.
    again = clock.setTimer(intervalMs * (0.95 + randomFraction(random) / 10), () => void ask());
    if (health.state !== before && health.state !== 'unknown') options.onChange?.(health.state);
  };
  const stop = (): void => {
    stopping.abort();
    again?.cancel();
    host.services.delete(stop);
    options.signal?.removeEventListener('abort', stop);
  };

  if (options.signal?.aborted) stop();
  else {
    options.signal?.addEventListener('abort', stop);
    host.services.add(stop);
    void ask();
  }
  return {
    get health() {
      return health;
    },
    stop,
  };
}
