/** The real network: UDP sockets, TCP and TLS listeners and connections. */

import {
  connect as connectTcp,
  createServer as createTcpServer,
  isIP,
  isIPv6,
  type Server,
  type Socket,
} from 'node:net';
import {
  checkServerIdentity,
  connect as connectTls,
  createServer as createTlsServer,
  type PeerCertificate,
} from 'node:tls';
import { type Clock, systemClock } from '../clock.ts';
import { paramText, UnsafeTextError, withParam } from '../message/grammar.ts';
import { type SipMessage, topVia } from '../message/message.ts';
import { DEFAULT_MESSAGE_LIMITS, type MessageLimits, parseMessage } from '../message/parse.ts';
import { addressAsHost, hostAsAddress, type HostPort } from '../message/uri.ts';
import { writeMessage } from '../message/write.ts';
import {
  type ConnectionLimits,
  connectionKey,
  ConnectionTable,
  DEFAULT_CONNECTION_LIMITS,
} from './connections.ts';
import {
  failed,
  type Hop,
  type Network,
  type NetworkReceiver,
  type SendOutcome,
  type Source,
  type TransportName,
} from './network.ts';
import { openUdp, type UdpEndpoint } from './udp.ts';

/** PEM texts. */
export interface TlsSettings {
  /** Ours: needed to be called over TLS; also shown to servers that ask for a client certificate. */
  readonly certificate?: string;
  readonly key?: string;
  /** Whom to trust; the system's authorities when absent. */
  readonly authorities?: string;
  /** Refuse callers over TLS that show no certificate of those authorities. */
  readonly requireClientCertificate?: boolean;
}

export interface ListenOptions {
  readonly transport: TransportName;
  /** An IP address, no brackets. One listener per transport and address family. */
  readonly address: string;
  /** 0 takes a free one. Ignored for TLS without a certificate: then nobody can call in, only out. */
  readonly port: number;
  /** What Via and Contact say instead of the bound address: behind NAT, or when bound to every address. */
  readonly advertise?: HostPort;
  readonly tls?: TlsSettings;
}

export interface NetworkOptions {
  readonly listen: readonly ListenOptions[];
  /** What replaces the listener's own TLS settings towards a server, by the name that its certificate must carry. */
  readonly tlsTowards?: ReadonlyMap<string, TlsSettings>;
  readonly clock?: Clock;
  readonly messageLimits?: Partial<MessageLimits>;
  readonly connectionLimits?: Partial<ConnectionLimits>;
}

interface Listener {
  readonly options: ListenOptions;
  readonly sentBy: HostPort;
  readonly udp?: UdpEndpoint;
  readonly server?: Server;
  /** Accepted sockets, those still in a TLS handshake too: closing the server waits for them. */
  readonly sockets?: ReadonlySet<Socket>;
}

const HANDSHAKE_LIMIT_MS = 10_000;
const WILDCARDS = new Set(['0.0.0.0', '::']);

/**
 * Opens every listener. Rejects when one can not be bound or is configured wrongly (bound to every address
 * without an address to advertise; two for one transport and family); then none stays open.
 */
export async function openNetwork(options: NetworkOptions): Promise<Network> {
  const network = new SocketNetwork(options);
  try {
    for (const listen of options.listen) await network.open(listen);
  } catch (error) {
    await network.close();
    throw error;
  }
  return network;
}

class SocketNetwork implements Network {
  readonly #messageLimits: MessageLimits;
  readonly #connections: ConnectionTable;
  readonly #tlsTowards: ReadonlyMap<string, TlsSettings>;
  readonly #listeners = new Map<string, Listener>();
  #receiver: NetworkReceiver | undefined;
  #dropped = 0;

  constructor(options: NetworkOptions) {
    this.#messageLimits = { ...DEFAULT_MESSAGE_LIMITS, ...options.messageLimits };
    this.#tlsTowards = options.tlsTowards ?? new Map();
    const limits = {
      ...DEFAULT_CONNECTION_LIMITS,
      maxMessageBytes: this.#messageLimits.maxMessageBytes,
      ...options.connectionLimits,
    };
    this.#connections = new ConnectionTable(
      limits,
      options.clock ?? systemClock,
      (bytes, source) => this.#onBytes(bytes, source),
      () => (this.#dropped += 1),
    );
  }

  async open(options: ListenOptions): Promise<void> {
    if (isIP(options.address) === 0) throw new Error('listen.address must be an IP address');
    if (WILDCARDS.has(options.address) && options.advertise === undefined) {
      throw new Error('a listener on every address needs listen.advertise');
    }
    const key = listenerKey(options.transport, options.address);
    if (this.#listeners.has(key)) throw new Error(`two listeners for ${key}`);
    this.#listeners.set(key, await this.#openListener(options));
  }

  async #openListener(options: ListenOptions): Promise<Listener> {
    const { transport, address } = options;
    const sentBy = (port: number): HostPort => ({ host: addressAsHost(address), port, ...options.advertise });
    if (transport === 'udp') {
      const udp = await openUdp(address, options.port, (bytes, from, port) =>
        this.#onBytes(bytes, { transport, address: from, port }),
      );
      return { options, udp, sentBy: sentBy(udp.port) };
    }
    if (transport === 'tls' && options.tls?.certificate === undefined)
      return { options, sentBy: sentBy(5061) };
    const sockets = new Set<Socket>();
    const server = await this.#openServer(options, sockets);
    const bound = server.address();
    return {
      options,
      server,
      sockets,
      sentBy: sentBy(typeof bound === 'object' && bound !== null ? bound.port : options.port),
    };
  }

  #openServer(options: ListenOptions, sockets: Set<Socket>): Promise<Server> {
    const { transport, address, port, tls = {} } = options;
    const server =
      transport === 'tcp'
        ? createTcpServer((socket) => this.#connections.accept(socket, 'tcp'))
        : createTlsServer(
            {
              ...tlsIdentity(tls),
              minVersion: 'TLSv1.2',
              handshakeTimeout: HANDSHAKE_LIMIT_MS,
              requestCert: tls.requireClientCertificate ?? false,
              rejectUnauthorized: tls.requireClientCertificate ?? false,
            },
            (socket) => this.#connections.accept(socket, 'tls'),
          );
    // TLS handshakes that never finish hold sockets that the connection table does not see yet.
    server.maxConnections = DEFAULT_CONNECTION_LIMITS.maxConnections;
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host: address, ipv6Only: true }, () => {
        server.removeListener('error', reject);
        server.on('error', () => (this.#dropped += 1));
        server.on('tlsClientError', () => (this.#dropped += 1));
        resolve(server);
      });
    });
  }

  get transports(): readonly TransportName[] {
    return [...new Set([...this.#listeners.values()].map(({ options }) => options.transport))];
  }

  receive(receiver: NetworkReceiver): void {
    this.#receiver = receiver;
  }

  canReach(hop: Hop): boolean {
    return this.#listenerFor(hop) !== undefined;
  }

  sentBy(hop: Hop): HostPort | undefined {
    return this.#listenerFor(hop)?.sentBy;
  }

  async sendRequest(message: SipMessage, hop: Hop): Promise<SendOutcome> {
    const bytes = safely(message);
    return bytes === undefined ? UNSAFE : this.#sendTo(bytes, hop);
  }

  async sendResponse(message: SipMessage, source: Source): Promise<SendOutcome> {
    const bytes = safely(message);
    if (bytes === undefined) return UNSAFE;
    const via = topVia(message);
    if (source.transport === 'udp') {
      // RFC 3581 §4: to the source port when the sender asked for it, else to the port of Via.
      const port = via.params.has('rport') ? source.port : (via.port ?? 5060);
      return this.#sendTo(bytes, { ...source, port });
    }
    if (source.connection !== undefined) {
      const outcome = await this.#connections.sendOn(source.connection, bytes);
      if (outcome.kind === 'sent') return outcome;
    }
    const port = via.port ?? (source.transport === 'tls' ? 5061 : 5060);
    return this.#sendTo(bytes, { ...source, port, serverName: hostAsAddress(via.host) });
  }

  async #sendTo(bytes: Buffer, hop: Hop): Promise<SendOutcome> {
    const listener = this.#listenerFor(hop);
    if (listener === undefined) return failed(`no ${hop.transport} listener for this address family`);
    if (listener.udp !== undefined) return listener.udp.send(bytes, hop.address, hop.port);
    const { transport, address, port } = hop;
    const serverName = transport === 'tls' ? (hop.serverName ?? address) : undefined;
    const key = connectionKey(transport, address, port, serverName);
    return this.#connections.sendTo({ transport, address, port, key }, bytes, () =>
      serverName === undefined
        ? connectTcp({ host: address, port })
        : connectTls({
            ...tlsIdentity(this.#tlsTowards.get(serverName) ?? listener.options.tls ?? {}),
            host: address,
            port,
            minVersion: 'TLSv1.2',
            ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
            checkServerIdentity: (_, certificate) => checkSipIdentity(serverName, certificate),
          }),
    );
  }

  #listenerFor(hop: Hop): Listener | undefined {
    return this.#listeners.get(listenerKey(hop.transport, hop.address));
  }

  #onBytes(bytes: Buffer, source: Source): void {
    const outcome = parseMessage(bytes, this.#messageLimits);
    if (outcome.kind === 'parsed') {
      const { message } = outcome;
      this.#receiver?.onMessage(message.kind === 'request' ? markSource(message, source) : message, source);
    } else if (outcome.answerable === undefined) this.#dropped += 1;
    else this.#receiver?.onMalformed(markSource(outcome.answerable, source), outcome.status, source);
  }

  stats(): { connections: number; dropped: number } {
    return { connections: this.#connections.size, dropped: this.#dropped };
  }

  async close(): Promise<void> {
    this.#connections.close();
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    await Promise.all(
      listeners.map(async ({ udp, server, sockets = [] }) => {
        await udp?.close();
        for (const socket of sockets) socket.destroy();
        if (server !== undefined) await new Promise((resolve) => server.close(resolve));
      }),
    );
  }
}

const UNSAFE = failed('a line break inside a header');

/**
 * Undefined for a message that could inject a header. Every input is checked where it comes in; should one slip
 * through all the same, its message stays here and nothing else happens: no exception that ends other calls.
 */
function safely(message: SipMessage): Buffer | undefined {
  try {
    return writeMessage(message);
  } catch (error) {
    if (error instanceof UnsafeTextError) return undefined;
    throw error;
  }
}

function listenerKey(transport: TransportName, address: string): string {
  return `${transport}/${isIPv6(address) ? 'IPv6' : 'IPv4'}`;
}

function tlsIdentity(tls: TlsSettings): { cert?: string; key?: string; ca?: string } {
  return {
    ...(tls.certificate === undefined ? {} : { cert: tls.certificate }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
    ...(tls.authorities === undefined ? {} : { ca: tls.authorities }),
  };
}

/** A SIP domain may be named by a `sip:` URI in the certificate (RFC 5922 §7.1), else as in HTTPS. */
function checkSipIdentity(serverName: string, certificate: PeerCertificate): Error | undefined {
  const names = (certificate.subjectaltname ?? '').split(', ');
  const isSipDomain = names.some((name) => name.toLowerCase() === `uri:sip:${serverName.toLowerCase()}`);
  return isSipDomain ? undefined : checkServerIdentity(serverName, certificate);
}

/** Writes where a request really came from into its Via: `received` always, `rport` when asked (RFC 3581 §4). */
function markSource<T extends SipMessage>(message: T, source: Source): T {
  const [top, ...others] = message.via;
  if (top === undefined) return message;
  const received = withParam(top.params, 'received', source.address);
  const wantsPort = top.params.has('rport') && paramText(top.params, 'rport') === undefined;
  const params = wantsPort ? withParam(received, 'rport', String(source.port)) : received;
  return { ...message, via: [{ ...top, params }, ...others] };
}
