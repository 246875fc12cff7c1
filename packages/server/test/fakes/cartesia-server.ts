/**
 * A strict server of Cartesia's WebSocket protocol on a real socket. What the protocol does not allow is answered
 * with an error, and remembered in `complaints`.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { systemClock } from '../../src/platform/clock.ts';
import { toneFor } from './openai-server.ts';

export type CartesiaFault =
  | 'hang'
  | 'drop'
  /** Little by little, for ever. */
  | 'drip'
  /** As fast as it can, until it is canceled. */
  | 'flood'
  | 'malformed'
  | 'error'
  | 'empty';

export interface CartesiaServer {
  readonly url: string;
  readonly complaints: string[];
  /** One for each sentence, in order; none: it works. */
  readonly faults: (CartesiaFault | null)[];
  readonly canceled: string[];
  connections: number;
  close(): Promise<void>;
}

export async function startCartesiaServer(apiKey: string): Promise<CartesiaServer> {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    verifyClient: ({ req }: { req: IncomingMessage }) =>
      req.headers['x-api-key'] === apiKey && /\?cartesia_version=\d{4}-\d\d-\d\d$/.test(req.url ?? ''),
  });
  await once(server, 'listening');
  const state: CartesiaServer = {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/tts/websocket`,
    complaints: [],
    faults: [],
    canceled: [],
    connections: 0,
    close: async () => {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, 'close');
    },
  };
  server.on('connection', (socket) => {
    state.connections += 1;
    const used = new Set<string>();
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Readonly<Record<string, unknown>>;
      const context = String(message['context_id']);
      if (message['cancel'] === true) return void state.canceled.push(context);
      const problem = used.has(context) ? 'the context is used' : problemIn(message);
      used.add(context);
      if (problem === null) return void speak(socket, context, message, state);
      state.complaints.push(problem);
      socket.send(JSON.stringify({ type: 'error', done: true, context_id: context, message: problem }));
    });
  });
  return state;
}

function problemIn(message: Readonly<Record<string, unknown>>): string | null {
  const { model_id: model, transcript, voice, language, output_format: format } = message;
  if (typeof model !== 'string' || typeof language !== 'string') return 'model or language is missing';
  if (typeof transcript !== 'string' || transcript === '') return 'transcript is missing';
  if (JSON.stringify(voice) !== JSON.stringify({ mode: 'id', id: 'voice-1' })) return 'unknown voice';
  const expected = { container: 'raw', encoding: 'pcm_s16le', sample_rate: 8_000 };
  return JSON.stringify(format) === JSON.stringify(expected) ? null : 'unknown format';
}

/** Between two drops of a drip. */
const dripMs = 20;

async function speak(
  socket: WebSocket,
  context: string,
  { transcript: text }: Readonly<Record<string, unknown>>,
  { faults, canceled }: CartesiaServer,
): Promise<void> {
  const fault = faults.shift() ?? null;
  const send = (message: object) => socket.send(JSON.stringify({ ...message, context_id: context }));
  const bytes = Buffer.from(toneFor(String(text), 8_000).buffer);
  const half = Math.floor(bytes.length / 4) * 2;
  if (fault === 'malformed') return socket.send('not json');
  if (fault === 'error') return send({ type: 'error', done: true, status_code: 500, message: 'no' });
  if (fault !== 'empty')
    send({ type: 'chunk', done: false, data: bytes.subarray(0, half).toString('base64') });
  if (fault === 'hang') return;
  if (fault === 'drip' || fault === 'flood') {
    const data = Buffer.alloc(fault === 'drip' ? 2 : 480_000).toString('base64');
    while (socket.readyState === socket.OPEN && !canceled.includes(context)) {
      send({ type: 'chunk', done: false, data });
      await systemClock.sleep(fault === 'drip' ? dripMs : 0);
    }
    return;
  }
  if (fault === 'drop') return socket.terminate();
  if (fault !== 'empty') send({ type: 'chunk', done: false, data: bytes.subarray(half).toString('base64') });
  send({ type: 'done', done: true });
}
