/**
 * WebSockets on the HTTP server. A handshake goes through the same hooks and routes as every request, and is refused
 * with the same envelope; the route that wants the socket takes it.
 *
 * Only `GET` with `Upgrade: websocket` is taken out of HTTP. Other offers to upgrade (curl and Java's client offer h2c
 * with ordinary requests) are ignored, as RFC 9110 §7.8 allows, and are the last on their connection: Node.js throws
 * away what it has read behind one already, and would take the rest of that, such as half a body, for a request.
 */
import { IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Clock } from '../platform/clock.ts';
import { Refusal } from '../platform/refusal.ts';
import { headerValues } from './headers.ts';

/** How long a refused client has to read the answer. */
const lingerMs = 1_000;

interface Handshake {
  readonly socket: Socket;
  /** What came behind the headers already. */
  readonly head: Buffer;
  readonly response: ServerResponse;
}

const handshakes = new WeakMap<IncomingMessage, Handshake>();

const isWebSocketHandshake = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/**
 * A request that lets Node.js see an offer to upgrade only where `shouldUpgradeCallback` would: before 22.21 and 24.9
 * there is no such option, and a server that listens for upgrades is given all of them.
 */
class OfferingRequest extends IncomingMessage {
  offersUpgrade: boolean | null = null;

  /** What the parser found; it asks again before it lets go of the connection. */
  get upgrade(): boolean | null {
    const taken = this.method === 'CONNECT' || isWebSocketHandshake(this);
    return this.offersUpgrade && taken;
  }

  set upgrade(offered: boolean | null) {
    this.offersUpgrade = offered;
  }
}

/** For `createServer`: what is taken out of HTTP. */
export const upgradeOptions = {
  shouldUpgradeCallback: isWebSocketHandshake,
  IncomingMessage: OfferingRequest,
};

/** Hands handshakes to `route`, as requests, and closes connections behind offers that are ignored. */
export function routeHandshakes(
  server: Server,
  clock: Clock,
  route: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  // Before the framework's.
  server.prependListener('request', ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    // Whatever follows on the connection is not parsed as HTTP any more.
    response.shouldKeepAlive = false;
    try {
      response.assignSocket(socket);
    } catch {
      // An answer to an earlier request is still under way.
      socket.destroy();
      return;
    }
    handshakes.set(request, { socket, head, response });
    response.on('finish', () => {
      if (!handshakes.has(request)) return;
      response.detachSocket(socket);
      socket.end();
      void clock.sleep(lingerMs).then(() => socket.destroy());
    });
    route(request, response);
  });
}

/** Makes sure that a request is a WebSocket handshake that can be accepted. Throws: Refusal `invalid_request`. */
export function requireHandshake(request: IncomingMessage): void {
  if (!handshakes.has(request)) {
    const headers = { upgrade: 'websocket' };
    throw new Refusal('invalid_request', 'this path takes WebSockets (RFC 6455)', { status: 426, headers });
  }
  const [version] = headerValues(request.rawHeaders, 'sec-websocket-version');
  const [key, second] = headerValues(request.rawHeaders, 'sec-websocket-key');
  const valid = version === '13' && second === undefined && /^[+/0-9A-Za-z]{22}==$/.test(key ?? '');
  if (!valid) throw new Refusal('invalid_request', 'the WebSocket handshake is not valid (RFC 6455, 4.1)');
}

/** Takes the socket of a request that `requireHandshake` let through; the reply must be hijacked. */
export function acceptHandshake(
  request: IncomingMessage,
  maxMessageBytes: number,
  accepted: (socket: WebSocket) => void,
): void {
  const handshake = handshakes.get(request);
  if (handshake === undefined) throw new Error('this request is no handshake');
  handshakes.delete(request);
  const { socket, head, response } = handshake;
  response.detachSocket(socket);
  const options = { noServer: true, perMessageDeflate: false, clientTracking: false };
  const server = new WebSocketServer({ ...options, maxPayload: maxMessageBytes });
  server.handleUpgrade(request, socket, head, accepted);
}
