/**
 * Call tasks, deprecated: what their clients send is translated to a call, and calls back to call tasks. The order of
 * the lines in a handler is the order of the checks, as for Goal Runs.
 */
import type { FastifyInstance } from 'fastify';
import type { CallAcceptance } from '../acceptance/call-acceptance.ts';
import type { Gate } from '../http/auth.ts';
import { readBody } from '../http/body.ts';
import { answerCalls } from '../http/calls/answer.ts';
import { eventPage } from '../http/calls/event-page.ts';
import { ownedCall } from '../http/calls/owned-call.ts';
import type { Cursors } from '../http/cursor.ts';
import { sendJson } from '../http/exchange.ts';
import { headerValues, idempotencyKey, requireJsonContent } from '../http/headers.ts';
import { queryParameters } from '../http/query.ts';
import { maxBodyBytes } from '../http/settings.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../storage/database.ts';
import { announceRetirement } from './retirement.ts';
import { readTaskRequest } from './task-request.ts';

export interface CallTaskRoutes {
  readonly db: Database;
  readonly clock: Clock;
  readonly gate: Gate;
  readonly cursors: Cursors;
  readonly acceptance: CallAcceptance;
  readonly pollAfterSeconds: number;
  /** The endpoints end at their date. */
  readonly cutoffActive: boolean;
}

interface OneTask {
  Params: { callId: string };
}

export function callTaskRoutes(app: FastifyInstance, deps: CallTaskRoutes): void {
  const { db, clock, gate, cursors, acceptance } = deps;
  announceRetirement(app, clock, deps.cutoffActive);

  const answer = answerCalls(deps);

  app.route({
    method: 'POST',
    url: '/v1/calls',
    handler: async (request, reply) => {
      const { rawHeaders } = request.raw;
      const body = await readBody(request.raw, maxBodyBytes);
      const key = await gate.admit(request, 'calls:write');
      queryParameters(request, []);
      const sentKey = headerValues(rawHeaders, 'idempotency-key').length > 0;
      const idempotencyKeyText = sentKey ? idempotencyKey(rawHeaders) : null;
      requireJsonContent(rawHeaders);
      const sent = readTaskRequest(body);
      const { call, replayed } = await acceptance.acceptTask({
        accountId: key.accountId,
        regions: key.regions,
        idempotencyKey: idempotencyKeyText,
        ...sent,
      });
      reply.header('location', `/v1/calls/${call.id}`);
      if (replayed) reply.header('idempotency-replayed', 'true');
      return answer(reply, 201, call);
    },
  });

  app.route<OneTask>({
    method: 'GET',
    url: '/v1/calls/:callId',
    handler: async (request, reply) => {
      const { accountId } = await gate.admit(request, 'calls:read');
      queryParameters(request, []);
      return answer(reply, 200, await ownedCall(db, 'task', accountId, request.params.callId));
    },
  });

  app.route<OneTask>({
    method: 'GET',
    url: '/v1/calls/:callId/events',
    handler: async (request, reply) => {
      const { accountId } = await gate.admit(request, 'calls:read');
      const call = await ownedCall(db, 'task', accountId, request.params.callId);
      return sendJson(reply, 200, JSON.stringify(await eventPage(db, cursors, call, request)));
    },
  });
}
