/**
 * A Realtime server on a real socket, as strict as the provider: whatever a client does against the protocol is
 * written down in `violations`, answered with the provider's error, and ends the connection.
 *
 * Its model is a function. It hears by voice activity and correlation on the sound that it is sent, and its time is
 * the sound that it was sent, so that tests decide how time goes on.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Speech } from './fixture-speech.ts';
import { RealtimeFakeSession, type Model } from './realtime-session.ts';

/** What goes wrong with one connection. */
export interface Fault {
  /** The upgrade is answered so, or never. */
  readonly upgrade?: number | 'hang';
  /** The upgrade is accepted; then the key is rejected by an error, as OpenAI does, or by the close alone. */
  readonly rejectKey?: 'error' | 'close';
  /** No event ever comes. */
  readonly mute?: boolean;
  /** The session is refused with this code. */
  readonly refuseSession?: string;
  /** The socket breaks after so much sound of the model was sent, milliseconds. */
  readonly dropAfterVoiceMs?: number;
  /** Every response is followed by something that is no event. */
  readonly malformed?: boolean;
  /** The first responses fail with these codes. */
  readonly failResponses?: readonly string[];
  /** Responses are created, and nothing more comes of them. */
  readonly stall?: boolean;
  /** Sound and words come in pieces, as time goes on, and no faster than they are spoken. */
  readonly drip?: boolean;
  /** The session ends at this time, Unix milliseconds. */
  readonly expiresAtMs?: number;
  /** How much later than the turn its words are known, milliseconds of sound. */
  readonly transcriptsAfterMs?: number;
  /** Turns whose words can not be written down. */
  readonly noTranscripts?: boolean;
}

export interface RealtimeServerOptions {
  /** Makes the model of a session. */
  readonly newModel: () => Model;
  /** What the callee may say. */
  readonly vocabulary?: readonly string[];
  /** How it speaks and hears; by noise when absent. */
  readonly speech?: Speech;
  readonly key?: string;
  /**
   * `lenient`: as LocalAI, which takes linear samples, needs no key, answers each turn by itself, and has another id
   * for a turn in each event about it, or none. `strict` by default.
   */
  readonly manner?: 'strict' | 'lenient';
  /** Upgrades are answered when this has resolved. */
  readonly ready?: Promise<void>;
  /** By connection; the last one stays. */
  readonly faults?: readonly Fault[];
}

export interface RealtimeFake {
  readonly url: string;
  readonly key: string;
  /** What the clients did wrong, as `code: event`. */
  readonly violations: readonly string[];
  readonly sessions: readonly RealtimeFakeSession[];
  /** How often somebody tried to connect. */
  readonly upgrades: number;
  /** Resolves when all that both sides have said so far was taken in and answered. */
  settled(): Promise<void>;
  /** Resolves when a session stands, or after 10 s. */
  connected(): Promise<void>;
  close(): Promise<void>;
}

/** More answers to answers than this are a loop. */
const maxRounds = 10;
const connectWithinMs = 10_000;

export async function startRealtimeServer(options: RealtimeServerOptions): Promise<RealtimeFake> {
  const { key = 'sk-test', faults = [], manner = 'strict' } = options;
  const http = createServer();
  const sockets = new Set<Duplex>();
  const server = new WebSocketServer({ noServer: true });
  const violations: string[] = [];
  const sessions: RealtimeFakeSession[] = [];
  let upgrades = 0;

  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  http.on('upgrade', (request, socket, head) => {
    const fault = faults[Math.min(upgrades, faults.length - 1)] ?? {};
    upgrades += 1;
    const status =
      typeof fault.upgrade === 'number'
        ? fault.upgrade
        : refusal(request, manner === 'strict' ? key : null, violations);
    if (fault.upgrade === 'hang') return;
    if (status !== null) return refuse(socket, status);
    void (options.ready ?? Promise.resolve()).then(() =>
      server.handleUpgrade(request, socket, head, (ws) => {
        const model = options.newModel();
        sessions.push(new RealtimeFakeSession(ws, { ...options, manner, model, fault, violations }));
      }),
    );
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;

  return {
    url: `ws://127.0.0.1:${port}/v1/realtime`,
    key,
    violations,
    sessions,
    get upgrades() {
      return upgrades;
    },
    async settled() {
      const words = () => sessions.reduce((sum, session) => sum + session.words, 0);
      for (let round = 0, before = -1; round < maxRounds && words() !== before; round += 1) {
        before = words();
        await Promise.all([...server.clients].map(pingPong));
      }
    },
    async connected() {
      const until = performance.now() + connectWithinMs;
      while (![...sessions].some((session) => session.live)) {
        if (performance.now() > until) return;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
    async close() {
      for (const client of server.clients) client.terminate();
      for (const socket of sockets) socket.destroy();
      http.close();
      await once(http, 'close');
    },
  };
}

/** The HTTP status with which the provider refuses an upgrade; null when it does not. */
function refusal(
  { url = '', headers }: IncomingMessage,
  key: string | null,
  violations: string[],
): number | null {
  const { pathname, searchParams } = new URL(url, 'ws://localhost');
  if (key !== null && headers.authorization !== `Bearer ${key}`) return 401;
  const wrong =
    headers['openai-beta'] !== undefined
      ? 'beta header'
      : pathname !== '/v1/realtime' || !searchParams.has('model')
        ? 'address'
        : null;
  if (wrong === null) return null;
  violations.push(wrong);
  return 400;
}

function refuse(socket: Duplex, status: number): void {
  const body = JSON.stringify({
    error: { type: 'invalid_request_error', code: 'refused', message: 'Refused.' },
  });
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

async function pingPong(client: WebSocket): Promise<void> {
  if (client.readyState !== client.OPEN) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      client.off('pong', done);
      client.off('close', done);
      resolve();
    };
    client.on('pong', done);
    client.on('close', done);
    client.ping();
  });
}
