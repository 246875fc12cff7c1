/**
 * What is the same for every exchange of a request and a response: the error envelope, the headers that all
 * responses carry, and the one log line.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { Refusal } from '../platform/refusal.ts';
import { DatabaseUnavailable } from '../storage/database.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The API key that was found valid; null before, and where none is asked for. */
    caller: { readonly id: string; readonly accountId: string } | null;
    /** Monotonic. */
    startedAtMs: number;
  }
  interface FastifyReply {
    /** The refusal that the reply carries; null when it carries none. */
    refusal: Refusal | null;
  }
}

export const jsonType = 'application/json; charset=utf-8';

/** Sends a JSON text with a status. */
export function sendJson(reply: FastifyReply, status: number, json: string): FastifyReply {
  return reply.code(status).header('content-type', jsonType).send(json);
}

/** Headers of every response; answers are private, current and never to be guessed about. */
export const commonHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

export function envelope(refusal: Refusal): string {
  const { code, message, details } = refusal;
  return JSON.stringify({ error: { code, message, details } });
}

/** Answers with the envelope of a refusal. */
export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  reply.refusal = refusal;
  return sendJson(reply.headers(refusal.headers), refusal.status, envelope(refusal));
}

const refusalsByFastifyCode: Readonly<Record<string, () => Refusal>> = {
  FST_ERR_BAD_URL: () => new Refusal('invalid_request', 'the path is not valid percent-encoding'),
  FST_ERR_MAX_PARAM_LENGTH: () => new Refusal('not_found', 'there is no such path'),
};

/**
 * Turns whatever was thrown into a refusal; the thrown value becomes its cause, for the log. Never throws.
 *
 * Only infrastructure that does not answer is `503`: a retry may then succeed. A programmer's mistake is `500`.
 */
export function refusalFrom(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof DatabaseUnavailable) {
    return new Refusal('provider_unavailable', 'the request could not be handled now; try again', {
      status: 503,
      headers: { 'retry-after': '1' },
      cause: error,
    });
  }
  const known = isFastifyError(error) ? refusalsByFastifyCode[error.code] : undefined;
  return known?.() ?? new Refusal('internal_error', 'the request could not be handled', { cause: error });
}

function isFastifyError(error: unknown): error is { code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

/** Finishes responses: common headers, and one line in the log. */
export interface Finisher {
  finish(request: FastifyRequest, reply: FastifyReply, payload: unknown): void;
}

export function createFinisher(clock: Clock, log: Logger, isDraining: () => boolean): Finisher {
  // Looking through a line for private fields takes five times as long as writing it. This line has fixed fields, all of
  // them ids, codes and numbers; one with an error goes through the redacting log.
  const plainLog = log.child({}, { redact: [] });
  return {
    finish(request, reply, payload) {
      reply.headers(commonHeaders).header('request-id', request.id);
      // Otherwise the connection would stay open, idle, and hold up the end of the process.
      if (isDraining()) reply.header('connection', 'close');
      const { refusal } = reply;
      const level = refusal !== null && refusal.status >= 500 ? 'error' : 'info';
      if (!log.isLevelEnabled(level)) return;
      const line = {
        request_id: request.id,
        method: request.method,
        // The pattern, not the path: ids and query strings stay out of the log.
        route: request.is404 ? null : (request.routeOptions.url ?? null),
        status: refusal?.status ?? reply.statusCode,
        code: refusal?.code ?? null,
        key_id: request.caller?.id ?? null,
        account_id: request.caller?.accountId ?? null,
        duration_ms: Math.round((clock.monotonic() - request.startedAtMs) * 100) / 100,
        bytes: typeof payload === 'string' ? Buffer.byteLength(payload) : null,
      };
      if (refusal?.cause === undefined) plainLog[level](line, 'request');
      else log[level]({ ...line, err: refusal.cause }, 'request');
    },
  };
}

/** A method that is not allowed; `allowed` are those that are. */
export function methodNotAllowed(allowed: readonly string[]): Refusal {
  return new Refusal('method_not_allowed', 'this path does not take that method', {
    headers: { allow: allowed.join(', ') },
  });
}

export const noSuchPath = (): Refusal => new Refusal('not_found', 'there is no such path');
