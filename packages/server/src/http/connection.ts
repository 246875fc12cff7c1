/**
 * What Node's HTTP server would answer by itself, with an empty body or by hanging up, gets the error envelope here:
 * what its parser refuses (400, 408, 413, 431) and CONNECT. And the orderly end of all connections.
 */
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiErrorCode } from '@trunkcall/contract';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { Refusal } from '../platform/refusal.ts';
import { abortBody } from './body.ts';
import { commonHeaders, envelope, jsonType, methodNotAllowed } from './exchange.ts';

/** How long a refused client may go on sending before the socket is closed under it; else it may miss the answer. */
const lingerMs = 1_000;
/** While draining, connections that fall idle are closed this often. */
const sweepEveryMs = 50;

export interface Connections {
  /**
   * Notes the latest exchange of a connection. Throws: Refusal `invalid_request` when it follows the last one, whose answer
   * closes the connection (RFC 9112 §9.6).
   */
  began(socket: Socket, response: ServerResponse): void;
  /** For Fastify's `clientErrorHandler`. */
  onClientError(error: Error & { code?: string }, socket: Socket): void;
  /** Answers what never becomes a request. */
  attach(server: Server): void;
  /** Closes idle connections as they fall idle, and after `timeoutMs` all. Ends when the server has closed. */
  drain(server: Server, timeoutMs: number): Promise<void>;
}

export function createConnections(clock: Clock, ids: Ids, log: Logger): Connections {
  const latest = new WeakMap<Socket, ServerResponse>();

  function began(socket: Socket, response: ServerResponse): void {
    const before = latest.get(socket);
    latest.set(socket, response);
    if (before === undefined || before.shouldKeepAlive) return;
    response.shouldKeepAlive = false;
    throw new Refusal('invalid_request', 'the request before this one was the last on its connection');
  }

  /**
   * The parser gave up on a connection. Answers on it once, and in order: bytes behind a complete request are not its
   * fault, so its answer goes out first and the connection is closed without one to them; a client must not take a
   * refusal of what followed for the answer to what it asked.
   */
  function onClientError(error: Error & { code?: string }, socket: Socket): void {
    // Answered already; what still comes in is thrown away until the linger time is over.
    if (socket.writableEnded) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = refusalOf(error);
    const response = latest.get(socket);
    if (response === undefined || (response.writableEnded && response.req.complete)) {
      refuseOnSocket(socket, refusal);
      return;
    }
    response.shouldKeepAlive = false;
    if (response.headersSent || !abortBody(response.req, refusal)) closeAfter(response, socket);
  }

  function refuseOnSocket(socket: Socket, refusal: Refusal): void {
    const requestId = ids.next('req');
    const body = envelope(refusal);
    const headers: Record<string, string> = {
      ...commonHeaders,
      ...refusal.headers,
      'request-id': requestId,
      'content-type': jsonType,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${head.join('')}\r\n${body}`);
    void clock.sleep(lingerMs).then(() => socket.destroy());
    const { status, code } = refusal;
    log.info({ request_id: requestId, method: null, route: null, status, code }, 'request');
  }

  function attach(server: Server): void {
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      refuseOnSocket(socket, methodNotAllowed([]));
    });
    // An expectation that we do not know may be ignored (RFC 9110 §10.1.1); Node would answer an empty 417.
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      server.emit('request', request, response);
    });
  }

  async function drain(server: Server, timeoutMs: number): Promise<void> {
    const closed = new AbortController();
    server.once('close', () => closed.abort());
    const deadlineMs = clock.monotonic() + timeoutMs;
    while (await clock.sleep(sweepEveryMs, closed.signal)) {
      if (clock.monotonic() >= deadlineMs) server.closeAllConnections();
      else server.closeIdleConnections();
    }
  }

  return { began, onClientError, attach, drain };
}

function closeAfter(response: ServerResponse, socket: Socket): void {
  if (response.writableFinished) socket.destroySoon();
  else response.once('close', () => socket.destroySoon());
}

/** By the code of Node's error; all others are bad framing. */
const refusalsByCode = new Map<string | undefined, readonly [ApiErrorCode, string]>([
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request_timeout', 'the request did not arrive in time']],
  ['HPE_HEADER_OVERFLOW', ['headers_too_large', 'the headers are too large']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', ['payload_too_large', 'the chunk extensions are too large']],
]);
const badFraming = ['invalid_request', 'the request is not well-formed HTTP/1.1'] as const;

function refusalOf(error: Error & { code?: string }): Refusal {
  const [code, message] = refusalsByCode.get(error.code) ?? badFraming;
  return new Refusal(code, message, { cause: error });
}
