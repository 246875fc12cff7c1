/**
 * One connection to a Realtime server: from the upgrade to the close, whichever side it comes from.
 *
 *   connect ──▶ open ──▶ events … ──▶ lost       (told once)
 *        ├────▶ refused
 *        └────▶ open ──▶ refused      a provider may look at the key only now
 *
 * Bounds: 10 s to connect, 4 MiB a message, 256 KiB of ours that the network has not taken, 30 s without a sign of
 * life of the other side.
 */
import { WebSocket, type RawData } from 'ws';
import type { Clock } from '../../platform/clock.ts';
import type { ClientEvent } from './client-events.ts';
import type { Target } from './dialect.ts';
import { readServerEvent, type ServerEvent } from './server-events.ts';

/** Also the limit of the whole upgrade, redirects are not followed. */
export const connectTimeoutMs = 10_000;
const maxMessageBytes = 4 * 1024 * 1024;
const maxUnsentBytes = 256 * 1024;
const maxMalformed = 10;
const pingEveryMs = 15_000;
/** "Unauthorized" in IANA's registry of close codes. */
const closeUnauthorized = 3_000;

export interface LinkWatcher {
  open(): void;
  event(event: ServerEvent): void;
  /**
   * `status` is the HTTP status of a refused upgrade, or the one that a close stands for; null when there was none. The
   * note names no address.
   */
  refused(note: string, status: number | null): void;
  lost(note: string): void;
}

export interface Link {
  /** Dropped when the connection is not open. */
  send(event: ClientEvent): void;
  /** Ends it; nothing is told any more. Safe to repeat. */
  close(): void;
}

/** Opens a connection. Everything is told to the watcher, later than this returns. Throws: never. */
export function openLink(target: Target, clock: Clock, watcher: LinkWatcher): Link {
  const socket = new WebSocket(target.url, {
    headers: target.headers,
    handshakeTimeout: connectTimeoutMs,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    followRedirects: false,
  });
  const over = new AbortController();
  let opened = false;
  let malformed = 0;
  let alive = true;

  function end(tell: () => void): void {
    if (over.signal.aborted) return;
    over.abort();
    socket.terminate();
    tell();
  }
  const lose = (note: string) => end(() => (opened ? watcher.lost(note) : watcher.refused(note, null)));

  socket.on('open', () => {
    if (over.signal.aborted) return;
    opened = true;
    watcher.open();
    void keepAlive();
  });
  socket.on('unexpected-response', (_request, response) => {
    const { statusCode = 0 } = response;
    response.destroy();
    end(() => watcher.refused(refusal(statusCode), statusCode));
  });
  socket.on('message', (data, isBinary) => {
    if (over.signal.aborted) return;
    const event = isBinary ? null : readServerEvent(textOf(data));
    if (event === null) {
      malformed += 1;
      if (malformed > maxMalformed) lose('the realtime provider does not speak the protocol');
    } else if (event !== 'ignored') watcher.event(event);
  });
  socket.on('pong', () => {
    alive = true;
  });
  socket.on('error', () => lose(unreachable(opened)));
  socket.on('close', (code) => {
    if (code === closeUnauthorized) end(() => watcher.refused(refusal(401), 401));
    else lose(unreachable(opened));
  });

  async function keepAlive(): Promise<void> {
    while (await clock.sleep(pingEveryMs, over.signal)) {
      if (!alive) return lose('the realtime provider gave no sign of life');
      alive = false;
      socket.ping();
    }
  }

  return {
    send(event) {
      if (over.signal.aborted || socket.readyState !== WebSocket.OPEN) return;
      if (socket.bufferedAmount > maxUnsentBytes) return lose('the realtime provider does not read');
      socket.send(JSON.stringify(event));
    },
    close() {
      if (over.signal.aborted) return;
      over.abort();
      socket.close(1000);
      // Whoever does not answer our goodbye is not waited for.
      void clock.sleep(1_000).then(() => socket.terminate());
    },
  };
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return data instanceof ArrayBuffer ? Buffer.from(data).toString('utf8') : data.toString('utf8');
}

function unreachable(opened: boolean): string {
  return opened
    ? 'the connection to the realtime provider broke'
    : 'the realtime provider can not be reached';
}

/** What a refusal with an HTTP status is, in words. */
export function refusal(status: number): string {
  switch (status) {
    case 401:
    case 403:
      return `the realtime provider rejected the key (${status})`;
    case 429:
      return 'the realtime provider is at its limit for this key (429)';
    default:
      return `the realtime provider refused the connection (${status})`;
  }
}
