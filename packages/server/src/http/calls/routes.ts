/**
 * One-shot calls: create, get, events, cancel. The order of the lines in a handler is the order of the checks, as for
 * Goal Runs.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CallAcceptance } from '../../acceptance/call-acceptance.ts';
import type { Clock } from '../../platform/clock.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Database } from '../../storage/database.ts';
import { listEvents } from '../../storage/events.ts';
import type { Gate } from '../auth.ts';
import { readBody } from '../body.ts';
import type { Cursors } from '../cursor.ts';
import { commonHeaders, sendJson } from '../exchange.ts';
import { headerValues, idempotencyKey, requireJsonContent } from '../headers.ts';
import { queryParameters } from '../query.ts';
import { maxBodyBytes } from '../settings.ts';
import { answerCalls } from './answer.ts';
import { eventPage, placeOfEvent } from './event-page.ts';
import { createEventStreams, isFinal } from './event-stream.ts';
import { readOneShotRequest } from './one-shot-request.ts';
import { ownedCall } from './owned-call.ts';

export interface CallRoutes {
  readonly db: Database;
  readonly clock: Clock;
  readonly gate: Gate;
  readonly cursors: Cursors;
  readonly acceptance: CallAcceptance;
  readonly pollAfterSeconds: number;
  /** Takes a call back that has not been dialled; whether it did. */
  readonly takeBack: (callId: string) => Promise<boolean>;
}

interface OneCall {
  Params: { callId: string };
}

export function callRoutes(app: FastifyInstance, deps: CallRoutes): void {
  const { db, gate, acceptance } = deps;
  const streams = createEventStreams(deps);
  app.addHook('preClose', async () => streams.close());

  const answer = answerCalls(deps);

  app.route({
    method: 'POST',
    url: '/v2/calls',
    handler: async (request, reply) => {
      const { rawHeaders } = request.raw;
      const body = await readBody(request.raw, maxBodyBytes);
      const key = await gate.admit(request, 'calls:write');
      queryParameters(request, []);
      const idempotencyKeyText = idempotencyKey(rawHeaders);
      requireJsonContent(rawHeaders);
      const sent = readOneShotRequest(body);
      const { call, replayed } = await acceptance.acceptOneShot({
        accountId: key.accountId,
        regions: key.regions,
        idempotencyKey: idempotencyKeyText,
        ...sent,
      });
      reply.header('location', `/v2/calls/${call.id}`);
      if (replayed) reply.header('idempotency-replayed', 'true');
      return answer(reply, 202, call);
    },
  });

  app.route<OneCall>({
    method: 'GET',
    url: '/v2/calls/:callId',
    handler: async (request, reply) => {
      const { accountId } = await gate.admit(request, 'calls:read');
      queryParameters(request, []);
      return answer(reply, 200, await ownedCall(db, 'one_shot', accountId, request.params.callId));
    },
  });

  app.route<OneCall>({
    method: 'GET',
    url: '/v2/calls/:callId/events',
    handler: async (request, reply) => {
      const { accountId } = await gate.admit(request, 'calls:read');
      const call = await ownedCall(db, 'one_shot', accountId, request.params.callId);
      if (!wantsStream(request)) {
        return sendJson(reply, 200, JSON.stringify(await eventPage(db, deps.cursors, call, request)));
      }
      queryParameters(request, []);
      const [lastSeen] = headerValues(request.raw.rawHeaders, 'last-event-id');
      const after = lastSeen === undefined ? 0 : await placeOfEvent(db, call, lastSeen);
      // Nothing will follow: this status keeps browsers from coming again (WHATWG HTML §9.2.3).
      if (isFinal(call) && (await db.query(listEvents, [call.id, after, 1])).length === 0) {
        return reply.code(204).send();
      }
      await streams.stream({
        call,
        after,
        begin: () => beginStream(request, reply),
        mayGoOn: () => gate.admit(request, 'calls:read'),
      });
      return reply;
    },
  });

  app.route<OneCall>({
    method: 'POST',
    url: '/v2/calls/:callId/cancel',
    handler: async (request, reply) => {
      const { accountId } = await gate.admit(request, 'calls:write');
      queryParameters(request, []);
      const { id } = await ownedCall(db, 'one_shot', accountId, request.params.callId);
      const taken = await deps.takeBack(id);
      const call = await ownedCall(db, 'one_shot', accountId, id);
      // The same request again: it is canceled, as was asked.
      if (!taken && call.status !== 'canceled') {
        throw new Refusal('call_cannot_cancel', 'the call was dialled already, or has ended');
      }
      return answer(reply, 200, call);
    },
  });
}

/** A HEAD request is answered as a page would be. */
function wantsStream({ raw }: FastifyRequest): boolean {
  const [accept = ''] = headerValues(raw.rawHeaders, 'accept');
  return raw.method === 'GET' && /text\/event-stream(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept);
}

/** Takes the response out of Fastify's hands and sends its head. */
function beginStream(request: FastifyRequest, reply: FastifyReply): ServerResponse {
  reply.hijack();
  reply.raw.writeHead(200, {
    ...commonHeaders,
    'content-type': 'text/event-stream; charset=utf-8',
    'request-id': request.id,
    // Proxies that gather what they pass on would hold events back.
    'x-accel-buffering': 'no',
  });
  return reply.raw;
}
