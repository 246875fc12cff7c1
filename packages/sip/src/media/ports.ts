/** UDP sockets of a call: RTP on an even port, RTCP on the next (RFC 3550 §11). */

import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { randomInt } from 'node:crypto';

/** Both inclusive; at least one even port with its successor. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export interface PortPair {
  readonly rtp: Socket;
  readonly rtcp: Socket;
  readonly port: number;
}

/** Pairs that are tried before the range counts as full. */
const MAX_TRIES = 64;

/** The even ports of a range, halved. Throws when there is none with its successor in the range. */
export function pairsIn({ first, last }: PortRange): { firstPair: number; pairs: number } {
  const firstPair = Math.ceil(first / 2);
  const pairs = Math.floor((last + 1) / 2) - firstPair;
  if (!(pairs > 0) || first < 1 || last > 65_535) {
    throw new Error(`ports ${first}-${last} hold no pair of an even port and the next`);
  }
  return { firstPair, pairs };
}

/** Hands out pairs of one range at one address. Knows its own, so that a busy range is not searched in vain. */
export class Ports {
  readonly #address: string;
  readonly #firstPair: number;
  readonly #pairs: number;
  readonly #inUse = new Set<number>();
  #cursor: number;

  constructor(address: string, range: PortRange) {
    this.#address = address;
    ({ firstPair: this.#firstPair, pairs: this.#pairs } = pairsIn(range));
    // A random start: two processes with one range seldom collide, and late packets of an old call meet no new one.
    this.#cursor = randomInt(this.#pairs);
  }

  get inUse(): number {
    return this.#inUse.size;
  }

  /** Undefined when no free pair was found among the next 64 that we do not use ourselves. */
  async take(): Promise<PortPair | undefined> {
    let tries = 0;
    for (let step = 0; step < this.#pairs && tries < MAX_TRIES; step += 1) {
      const port = (this.#firstPair + this.#cursor) * 2;
      this.#cursor = (this.#cursor + 1) % this.#pairs;
      if (this.#inUse.has(port)) continue;
      tries += 1;
      this.#inUse.add(port);
      const pair = await this.#bindPair(port);
      if (pair !== undefined) return pair;
      this.#inUse.delete(port);
    }
    return undefined;
  }

  release(port: number): void {
    this.#inUse.delete(port);
  }

  async #bindPair(port: number): Promise<PortPair | undefined> {
    const rtp = await bind(this.#address, port);
    if (rtp === undefined) return undefined;
    const rtcp = await bind(this.#address, port + 1);
    if (rtcp !== undefined) return { rtp, rtcp, port };
    rtp.close();
    return undefined;
  }
}

/** Undefined when the port is taken. */
function bind(address: string, port: number): Promise<Socket | undefined> {
  const family = isIPv6(address) ? 6 : 4;
  const socket = createSocket({
    type: family === 6 ? 'udp6' : 'udp4',
    // Every address is numeric here. The resolver would cost a turn of the event loop for each packet.
    lookup: (host, _options, callback) => callback(null, host, family),
  });
  return new Promise((resolve) => {
    const fail = (): void => {
      socket.close();
      resolve(undefined);
    };
    socket.once('error', fail);
    socket.bind({ address, port, exclusive: true }, () => {
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
