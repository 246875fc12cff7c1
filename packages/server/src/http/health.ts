import type { FastifyInstance } from 'fastify';
import type { Clock } from '../platform/clock.ts';
import { Refusal } from '../platform/refusal.ts';
import { sendJson } from './exchange.ts';

export interface Health {
  readonly clock: Clock;
  /** Why this process should get no requests now; empty when it should. */
  readonly ready: () => Promise<readonly string[]>;
}

const checkTimeoutMs = 2_000;

/** GET /livez: the process answers. GET /readyz: it can do its work; else `503` with the reasons. Without a key. */
export function health(app: FastifyInstance, deps: Health): void {
  app.route({
    method: 'GET',
    url: '/livez',
    handler: (_request, reply) => sendJson(reply, 200, '{"status":"alive"}'),
  });
  app.route({
    method: 'GET',
    url: '/readyz',
    handler: async (_request, reply) => {
      const reasons = await problems(deps);
      if (reasons.length > 0) {
        throw new Refusal('provider_unavailable', 'this process is not ready', {
          status: 503,
          details: { reasons },
          headers: { 'retry-after': '1' },
        });
      }
      return sendJson(reply, 200, '{"status":"ready"}');
    },
  });
}

async function problems({ clock, ready }: Health): Promise<readonly string[]> {
  const answered = new AbortController();
  const late = clock
    .sleep(checkTimeoutMs, answered.signal)
    .then(() => ['the check of readiness did not end in time']);
  const checked = ready().catch(() => ['the check of readiness failed']);
  const reasons = await Promise.race([checked, late]);
  answered.abort();
  return reasons;
}
