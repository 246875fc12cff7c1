import Fastify, { type FastifyInstance, type FastifyPluginAsync, type FastifyRequest } from 'fastify';
import { operatorPrefix, type GoalFile } from '@trunkcall/contract';
import type { Acceptance } from '../acceptance/acceptance.ts';
import type { Keyring } from '../authoring/keys.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Database } from '../storage/database.ts';
import type { FindRun } from '../storage/runs.ts';
import { createGate } from './auth.ts';
import { callRoutes, type CallRoutes } from './calls/routes.ts';
import { createConnections } from './connection.ts';
import { createGoalRun } from './create-goal-run.ts';
import { createCursors } from './cursor.ts';
import { docs, operatorDocs } from './docs.ts';
import { createFinisher, methodNotAllowed, noSuchPath, refusalFrom, sendRefusal } from './exchange.ts';
import { getGoalRun } from './get-goal-run.ts';
import { getGoal } from './get-goal.ts';
import { headerValues } from './headers.ts';
import { health } from './health.ts';
import { listGoals } from './list-goals.ts';
import { maxHeaderBytes, type HttpSettings } from './settings.ts';
import { routeHandshakes, upgradeOptions } from './upgrade.ts';

export interface AppDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly keys: Keyring;
  /** Signs list cursors; the same in all processes of the deployment. */
  readonly cursorSecret: Uint8Array;
  readonly acceptance: Acceptance;
  readonly findRun: FindRun;
  /** Why a published Goal can not be executed here now; empty when it can. */
  readonly readiness: (content: GoalFile) => readonly string[];
  /** Why this process should get no requests now; empty when it should. */
  readonly ready: () => Promise<readonly string[]>;
  readonly settings: HttpSettings;
  readonly calls: Pick<CallRoutes, 'acceptance' | 'takeBack'>;
  /** Adds the endpoints of the legacy API. */
  readonly legacy?: (app: FastifyInstance, shared: SharedByRoutes) => void;
  /** Mounted at /operator/v1. */
  readonly operator?: FastifyPluginAsync;
  /** Mounted at /console. */
  readonly console?: FastifyPluginAsync;
}

/** What the endpoints of all APIs use together. */
export type SharedByRoutes = Pick<
  CallRoutes,
  'db' | 'clock' | 'gate' | 'cursors' | 'acceptance' | 'pollAfterSeconds'
>;

/** Methods that some route may have; those of a path are found among them. */
const routableMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Methods for which Fastify would parse a body. */
const methodsWithBody = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'];

/**
 * Builds the HTTP server of the service; the caller makes it listen. Every response that is not 2xx carries the error
 * envelope, whoever refused the request.
 *
 * `close` lets requests in flight finish (at most `settings.drainTimeoutMs`) and answers new ones on open connections
 * with `503` and `Connection: close`.
 */
export function buildApp(deps: AppDependencies): FastifyInstance {
  const { clock, settings } = deps;
  let draining = false;
  const connections = createConnections(clock, deps.ids, deps.log);
  const finisher = createFinisher(clock, deps.log, () => draining);

  const app = Fastify({
    logger: false,
    genReqId: () => deps.ids.next('req'),
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: settings.headersTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, settings.headersTimeoutMs / 4),
      // Node would answer with an empty 400; `refuseEarly` gives it a body.
      requireHostHeader: false,
      ...upgradeOptions,
    },
    requestTimeout: settings.requestTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    // Fastify's own answer while closing has another shape; `refuseEarly` gives ours.
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => connections.onClientError(error, socket),
    // A path that can not be routed at all: Fastify runs no hooks for it and decorates nothing.
    frameworkErrors: (error, request, reply) => {
      Object.assign(request, { caller: null, startedAtMs: clock.monotonic() });
      reply.refusal = refusalFrom(error);
      finisher.finish(request, reply, null);
      sendRefusal(reply, reply.refusal);
    },
  });
  Object.assign(app.server, {
    // All headers count, or a second Authorization could hide behind two thousand others.
    maxHeadersCount: 0,
    // A client that says that it has sent everything still gets its answer.
    httpAllowHalfOpen: true,
  });
  connections.attach(app.server);
  routeHandshakes(app.server, clock, (request, response) => app.routing(request, response));
  for (const method of methodsWithBody) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.decorateRequest('caller', null);
  app.decorateRequest('startedAtMs', 0);
  app.decorateReply('refusal', null);

  app.addHook('onRequest', (request, reply, done) => {
    request.startedAtMs = clock.monotonic();
    connections.began(request.raw.socket, reply.raw);
    done(refuseEarly(request, draining));
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    finisher.finish(request, reply, payload);
    done();
  });
  app.addHook('preClose', (done) => {
    draining = true;
    void connections.drain(app.server, settings.drainTimeoutMs);
    done();
  });
  app.setErrorHandler((error, _request, reply) => sendRefusal(reply, refusalFrom(error)));
  app.setNotFoundHandler((request, reply) => sendRefusal(reply, unrouted(app, request)));

  addRoutes(app, deps);
  return app;
}

function addRoutes(app: FastifyInstance, deps: AppDependencies): void {
  const { db, clock, settings, acceptance, findRun, readiness, operator } = deps;
  const { pollAfterSeconds } = settings;
  const gate = createGate(deps.keys, clock, settings);
  const cursors = createCursors(deps.cursorSecret);
  listGoals(app, { db, gate, cursors, readiness });
  getGoal(app, { db, gate });
  createGoalRun(app, { gate, acceptance, pollAfterSeconds });
  getGoalRun(app, { gate, findRun, pollAfterSeconds });
  const shared = { db, clock, gate, cursors, pollAfterSeconds, ...deps.calls };
  callRoutes(app, shared);
  deps.legacy?.(app, shared);
  health(app, { clock, ready: deps.ready });
  docs(app, settings);
  if (operator !== undefined) {
    operatorDocs(app, settings);
    app.register(operator, { prefix: operatorPrefix });
  }
  if (deps.console !== undefined) app.register(deps.console, { prefix: '/console' });
}

/** Refusals that need no route: a process that is about to end, and what Node does not check or would answer badly. */
function refuseEarly({ raw }: FastifyRequest, draining: boolean): Refusal | undefined {
  if (draining) {
    return new Refusal('provider_unavailable', 'this process is about to end; try again', {
      status: 503,
      headers: { 'retry-after': '1' },
    });
  }
  const hosts = headerValues(raw.rawHeaders, 'host').length;
  // RFC 9112 §3.2.
  if (hosts > 1 || (hosts === 0 && raw.httpVersion === '1.1')) {
    return new Refusal('invalid_request', 'there must be one Host header');
  }
  return undefined;
}

/**
 * Why no route took the request: the path is not there, or not with this method. A route may also have taken it and
 * found nothing (a file of the documentation).
 */
function unrouted(app: FastifyInstance, { method, url }: FastifyRequest): Refusal {
  const allowed = routableMethods.filter((candidate) => app.findRoute({ method: candidate, url }) !== null);
  return allowed.length === 0 || allowed.includes(method) ? noSuchPath() : methodNotAllowed(allowed);
}
