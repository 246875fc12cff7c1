/** WebSockets of providers. */
import { WebSocket } from 'ws';
import type { Deadline } from './attempts.ts';

/** Any message of a provider is smaller. */
const maxMessageBytes = 1024 * 1024;
/** A provider that does not read is given up before this much waits for it. */
const maxUnsentBytes = 256 * 1024;

export interface SocketEvents {
  /** A JSON object came. */
  readonly message: (message: Readonly<Record<string, unknown>>) => void;
  /** Something else came: not the provider's protocol. The socket is closed by then. */
  readonly broken: () => void;
  /** The HTTP status with which the provider answered: 101, or a refusal. */
  readonly answered: (status: number) => void;
  /** It is closed, whoever did it. */
  readonly closed: () => void;
}

/**
 * Connects within `limitMs`. Rejects when that fails, with an error that names no key.
 * Keys travel in headers: a URL is written to logs by every proxy.
 */
export async function connect(
  url: string,
  headers: Readonly<Record<string, string>>,
  deadline: Deadline,
  limitMs: number,
  events: SocketEvents,
): Promise<WebSocket> {
  const socket = new WebSocket(url, {
    headers: { ...headers },
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
  });
  socket.on('message', (data: Buffer, binary: boolean) => {
    const message = binary ? null : objectIn(data);
    if (message !== null) return events.message(message);
    socket.terminate();
    events.broken();
  });
  // An error is followed by `close`, which says all that matters.
  socket.on('error', () => undefined);
  socket.on('close', () => events.closed());
  socket.on('upgrade', () => events.answered(101));
  socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
    events.answered(statusCode);
    // Which is an error, as every connection that fails.
    socket.terminate();
  });
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', () => reject(new Error('not connected')));
  });
  try {
    await deadline.within(limitMs, opened);
  } catch (error) {
    socket.terminate();
    throw error;
  }
  return socket;
}

/** Sends, unless the socket is closed; one that is clogged is closed. */
export function sendTo(socket: WebSocket, message: Uint8Array | Readonly<Record<string, unknown>>): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  if (socket.bufferedAmount > maxUnsentBytes) return socket.terminate();
  socket.send(message instanceof Uint8Array ? message : JSON.stringify(message));
}

function objectIn(data: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}
