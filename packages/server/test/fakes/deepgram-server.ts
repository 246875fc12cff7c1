/**
 * A strict server of Deepgram's streaming protocol on a real socket. What the protocol does not allow closes the
 * connection with an error, and is remembered in `complaints`.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeG711 } from '@trunkcall/sip';
import { WebSocketServer, type WebSocket } from 'ws';

export type DeepgramFault =
  | 'refuse'
  | 'hang'
  | 'drop'
  | 'malformed'
  | 'missing'
  | 'error'
  /** All words are final before they are asked for: nothing answers Finalize. */
  | 'final'
  /** It breaks off behind the first words. */
  | 'half'
  /** It reports an error while it is listening, and goes on. */
  | 'early_error';

export interface DeepgramServer {
  readonly url: string;
  readonly complaints: string[];
  /** Of each connection, in order. */
  readonly languages: (string | null)[];
  /** One for each connection, in order; none: it works. */
  readonly faults: (DeepgramFault | null)[];
  connections: number;
  /** That are open. */
  readonly open: number;
  close(): Promise<void>;
}

const wanted: Readonly<Record<string, RegExp>> = {
  model: /./,
  language: /^(en(-(US|AU|GB|IN|NZ))?|es(-419)?)$/,
  encoding: /^(mulaw|alaw)$/,
  sample_rate: /^8000$/,
  channels: /^1$/,
  punctuate: /^true$/,
  interim_results: /^false$/,
};

export async function startDeepgramServer(
  apiKey: string,
  recognise: (sound: Int16Array) => string,
): Promise<DeepgramServer> {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    verifyClient: ({ req }: { req: IncomingMessage }) => {
      const problem = problemWith(req, apiKey);
      if (problem !== null) state.complaints.push(problem);
      if (state.faults[0] === 'refuse') return void state.faults.shift();
      return problem === null;
    },
  });
  await once(server, 'listening');
  const state: DeepgramServer = {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1/listen`,
    complaints: [],
    languages: [],
    faults: [],
    connections: 0,
    get open() {
      return server.clients.size;
    },
    close: async () => {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, 'close');
    },
  };
  server.on('connection', (socket, request) => {
    state.connections += 1;
    state.languages.push(new URL(request.url ?? '', 'ws://host').searchParams.get('language'));
    serve(socket, request, state.faults.shift() ?? null, state.complaints, recognise);
  });
  return state;
}

function problemWith({ headers, url }: IncomingMessage, apiKey: string): string | null {
  if (headers.authorization !== `Token ${apiKey}`) return 'wrong key';
  const { pathname, searchParams } = new URL(url ?? '', 'ws://host');
  if (pathname !== '/v1/listen') return `no such endpoint: ${pathname}`;
  for (const [name, form] of Object.entries(wanted)) {
    if (!form.test(searchParams.get(name) ?? '')) return `${name} is missing or wrong`;
  }
  return [...searchParams.keys()].every((name) => name in wanted) ? null : 'an unknown parameter';
}

/** Bytes that become words without being asked for. */
const finalAfter = 80 * 160;

function serve(
  socket: WebSocket,
  request: IncomingMessage,
  fault: DeepgramFault | null,
  complaints: string[],
  recognise: (sound: Int16Array) => string,
): void {
  const encoding = new URL(request.url ?? '', 'ws://host').searchParams.get('encoding');
  const sound: Buffer[] = [];
  const soundOf = (pieces: readonly Buffer[]) =>
    decodeG711(encoding === 'mulaw' ? 'PCMU' : 'PCMA', Buffer.concat(pieces));
  const complain = () => {
    socket.send(JSON.stringify({ type: 'Error', description: 'no' }));
    socket.send(results('what nobody wants', false));
  };
  socket.on('message', (data: Buffer, binary: boolean) => {
    if (binary) {
      sound.push(data);
      if (fault === 'early_error') return complain();
      if (fault !== 'final' || Buffer.concat(sound).length < finalAfter) return;
      return socket.send(results(recognise(soundOf(sound.splice(0))), false));
    }
    const { type } = JSON.parse(data.toString()) as { type?: unknown };
    if (type === 'CloseStream') return socket.close(1000);
    if (type !== 'Finalize') {
      complaints.push(`unknown message ${String(type)}`);
      return socket.close(1008, 'DATA-0000');
    }
    if (fault === 'hang' || fault === 'final' || fault === 'early_error') return;
    if (fault === 'drop') return socket.terminate();
    if (fault === 'malformed') return socket.send('{"type":"Results",');
    if (fault === 'missing')
      return socket.send(JSON.stringify({ type: 'Results', is_final: true, channel: {} }));
    if (fault === 'error') return complain();
    const text = recognise(soundOf(sound.splice(0)));
    const words = text.split(' ');
    const half = Math.floor(words.length / 2);
    // As the real one does: what is final comes in parts, and the last one says that it was asked for.
    socket.send(results(words.slice(0, half).join(' '), false));
    if (fault === 'half') return socket.close(1011);
    socket.send(results(words.slice(half).join(' '), true));
  });
}

function results(transcript: string, fromFinalize: boolean): string {
  return JSON.stringify({
    type: 'Results',
    channel_index: [0, 1],
    is_final: true,
    speech_final: false,
    from_finalize: fromFinalize,
    channel: { alternatives: [{ transcript, confidence: 0.99, words: [] }] },
  });
}
