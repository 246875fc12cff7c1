import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { failed, SENT, type SendOutcome } from './network.ts';

/** A bound UDP socket. */
export interface UdpEndpoint {
  readonly port: number;
  send(bytes: Buffer, address: string, port: number): Promise<SendOutcome>;
  close(): Promise<void>;
}

/** Enough for a burst of calls while the event loop is busy; the kernel may grant less. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/** Binds; rejects when the address can not be bound, which is a mistake of the configuration. */
export function openUdp(
  address: string,
  port: number,
  onDatagram: (bytes: Buffer, address: string, port: number) => void,
): Promise<UdpEndpoint> {
  const family = isIPv6(address) ? ({ type: 'udp6', ipv6Only: true } as const) : ({ type: 'udp4' } as const);
  const socket = createSocket({ ...family, recvBufferSize: RECEIVE_BUFFER_BYTES });
  socket.on('message', (bytes, remote) => onDatagram(bytes, remote.address, remote.port));
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, address, () => {
      socket.removeListener('error', reject);
      // A failed send is told to its sender by the callback; nothing else on a bound socket needs us.
      socket.on('error', () => undefined);
      resolve(endpoint(socket));
    });
  });
}

function endpoint(socket: Socket): UdpEndpoint {
  let closed: Promise<void> | undefined;
  return {
    port: socket.address().port,
    send: (bytes, address, port) =>
      new Promise((resolve) => {
        if (closed !== undefined) {
          resolve(failed('closed'));
          return;
        }
        socket.send(bytes, port, address, (error) =>
          resolve(error === null ? SENT : failed(errorCode(error))),
        );
      }),
    close: () => (closed ??= new Promise((resolve) => socket.close(() => resolve()))),
  };
}

/** The code of a system error; its message could name addresses. */
export function errorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
