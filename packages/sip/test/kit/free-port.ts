import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/**
 * A port that was free a moment ago, for UDP and for TCP, below those that the kernel hands out by itself: other
 * tests that run beside must not get it before the program that it is for has started.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    if (await isFree(port)) return port;
  }
}

/** The same for two ports in a row; the first. */
export async function freePair(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (await isFree(port + 1)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  return (await isFreeForTcp(port)) && isFreeForUdp(port);
}

function isFreeForTcp(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function isFreeForUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
  });
}
