/**
 * TCP and TLS connections: found again by their far end, made anew when gone, closed when idle.
 *
 * Bounds: how many there are, how long they may take to open, how long they stay idle or leave a message
 * unfinished, how much one may have waiting in either direction.
 */

import type { Socket } from 'node:net';
import type { Clock, Timer } from '../clock.ts';
import { StreamFramer } from './framing.ts';
import { failed, SENT, type SendOutcome, type Source, type TransportName } from './network.ts';
import { errorCode } from './udp.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxMessageBytes: number;
  readonly connectMs: number;
  /** Without a whole message in either direction. Longer than half a session interval, so that calls keep theirs. */
  readonly idleMs: number;
  /** From the first byte of a message to its last. */
  readonly partialMs: number;
  /** Written but not yet taken by the far end. */
  readonly maxQueuedBytes: number;
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 1_000,
  maxMessageBytes: 65_535,
  connectMs: 5_000,
  idleMs: 30 * 60_000,
  partialMs: 30_000,
  maxQueuedBytes: 1024 * 1024,
};

interface Connection {
  readonly id: number;
  readonly key: string;
  readonly socket: Socket;
  readonly source: Source;
  readonly framer: StreamFramer;
  /** Resolves when the connection is open, to false when it could not be opened. */
  readonly opened: Promise<boolean>;
  timer: Timer | undefined;
  /** Why it closed; the first cause counts. */
  why: string | undefined;
}

export class ConnectionTable {
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #onBytes: (bytes: Buffer, source: Source) => void;
  readonly #onDropped: () => void;
  readonly #byId = new Map<number, Connection>();
  readonly #byKey = new Map<string, Connection>();
  #nextId = 1;
  #closed = false;

  constructor(
    limits: ConnectionLimits,
    clock: Clock,
    onBytes: (bytes: Buffer, source: Source) => void,
    onDropped: () => void,
  ) {
    this.#limits = limits;
    this.#clock = clock;
    this.#onBytes = onBytes;
    this.#onDropped = onDropped;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Takes over a connection that the far end opened; it is destroyed when there are too many. */
  accept(socket: Socket, transport: TransportName): void {
    const { remoteAddress, remotePort } = socket;
    if (this.#full() || remoteAddress === undefined || remotePort === undefined) {
      this.#onDropped();
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    const key = connectionKey(transport, remoteAddress, remotePort);
    this.#add(socket, key, { transport, address: remoteAddress, port: remotePort }, Promise.resolve(true));
  }

  /** Sends on the connection with that id; fails when it is gone. */
  async sendOn(id: number, bytes: Buffer): Promise<SendOutcome> {
    const connection = this.#byId.get(id);
    return connection === undefined ? failed('connection gone') : this.#write(connection, bytes);
  }

  /**
   * Sends to a far end over the connection that there is, or over one that `open` makes. `key` tells apart
   * what must not share a connection: the same address under two TLS names.
   */
  async sendTo(
    target: {
      readonly transport: TransportName;
      readonly address: string;
      readonly port: number;
      readonly key: string;
    },
    bytes: Buffer,
    open: () => Socket,
  ): Promise<SendOutcome> {
    const existing = this.#byKey.get(target.key);
    if (existing !== undefined) {
      const outcome = await this.#write(existing, bytes);
      if (outcome.kind === 'sent' || this.#byKey.has(target.key)) return outcome;
    }
    if (this.#full()) return failed('too many connections');
    const socket = open();
    const ready = target.transport === 'tls' ? 'secureConnect' : 'connect';
    const opened = new Promise<boolean>((resolve) => {
      socket.once(ready, () => resolve(true));
      socket.once('close', () => resolve(false));
    });
    const { transport, address, port } = target;
    return this.#write(this.#add(socket, target.key, { transport, address, port }, opened), bytes);
  }

  /** Ends every connection at once. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#byId.values()) this.#drop(connection, 'closed');
  }

  #full(): boolean {
    return this.#closed || this.#byId.size >= this.#limits.maxConnections;
  }

  #add(socket: Socket, key: string, source: Source, opened: Promise<boolean>): Connection {
    const id = this.#nextId++;
    const framer = new StreamFramer(this.#limits.maxMessageBytes);
    const connection: Connection = {
      id,
      key,
      socket,
      source: { ...source, connection: id },
      framer,
      opened,
      timer: undefined,
      why: undefined,
    };
    this.#byId.set(id, connection);
    if (!this.#byKey.has(key)) this.#byKey.set(key, connection);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(connection, chunk));
    socket.on('error', (error) => (connection.why ??= errorCode(error)));
    socket.on('end', () => this.#drop(connection, 'ended by the far end'));
    socket.on('close', () => this.#drop(connection, 'closed'));
    this.#arm(connection, this.#limits.connectMs, 'connect timeout');
    void opened.then((open) => open && this.#arm(connection, this.#limits.idleMs, 'idle'));
    return connection;
  }

  #read(connection: Connection, chunk: Buffer): void {
    const wasPartial = connection.framer.pendingBytes > 0;
    const { kind, frames } = connection.framer.push(chunk);
    for (const frame of frames) {
      if (frame.kind === 'ping') connection.socket.write('\r\n');
      else this.#onBytes(frame.bytes, connection.source);
    }
    if (kind === 'broken') {
      this.#onDropped();
      this.#drop(connection, 'not SIP');
    } else if (connection.framer.pendingBytes === 0) this.#arm(connection, this.#limits.idleMs, 'idle');
    else if (!wasPartial || frames.length > 0)
      this.#arm(connection, this.#limits.partialMs, 'unfinished message');
  }

  async #write(connection: Connection, bytes: Buffer): Promise<SendOutcome> {
    if (connection.socket.writableLength + bytes.length > this.#limits.maxQueuedBytes)
      return failed('far end does not read');
    const open = await connection.opened;
    if (!open || connection.why !== undefined) return failed(connection.why ?? 'closed');
    if (connection.framer.pendingBytes === 0) this.#arm(connection, this.#limits.idleMs, 'idle');
    return new Promise((resolve) => {
      connection.socket.write(bytes, (error) => resolve(error ? failed(errorCode(error)) : SENT));
    });
  }

  #arm(connection: Connection, delayMs: number, why: string): void {
    connection.timer?.cancel();
    connection.timer =
      connection.why === undefined
        ? this.#clock.setTimer(delayMs, () => this.#drop(connection, why))
        : undefined;
  }

  #drop(connection: Connection, why: string): void {
    connection.why ??= why;
    connection.timer?.cancel();
    this.#byId.delete(connection.id);
    if (this.#byKey.get(connection.key) === connection) this.#byKey.delete(connection.key);
    connection.socket.destroy();
  }
}

export function connectionKey(
  transport: TransportName,
  address: string,
  port: number,
  serverName = '',
): string {
  return `${transport} ${address} ${port} ${serverName}`;
}
