import type { FastifyInstance } from 'fastify';
import type { Clock } from '../platform/clock.ts';
import { Refusal } from '../platform/refusal.ts';

/** When the call task endpoints end (contract: "Versioning"). */
export const retiresAt = new Date('2026-12-31T16:00:00Z');
/** When they were declared deprecated; what Goal Runs replaced. */
const deprecatedAt = new Date('2026-01-01T00:00:00Z');

/** Says with every answer that the endpoint goes away: RFC 9745, RFC 8594. */
const retirementHeaders = {
  deprecation: `@${deprecatedAt.getTime() / 1_000}`,
  sunset: retiresAt.toUTCString(),
  link: '</docs/migrating-from-call-tasks>; rel="deprecation"; type="text/markdown"',
} as const;

/**
 * Announces the end with whatever is answered below the path of call tasks, and is the end once the cutoff is active
 * and the date has passed.
 */
export function announceRetirement(app: FastifyInstance, clock: Clock, cutoffActive: boolean): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!/^\/v1\/calls(?:[/?]|$)/.test(request.url)) return done();
    reply.headers(retirementHeaders);
    const over = cutoffActive && clock.now() >= retiresAt.getTime();
    done(over ? retired() : undefined);
  });
}

const retired = (): Refusal =>
  new Refusal('gone', 'call tasks have been retired; start Goal Runs or one-shot calls instead');
