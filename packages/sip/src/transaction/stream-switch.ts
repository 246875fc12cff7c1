/**
 * Requests that are too large for UDP go over TCP (RFC 3261 §18.1.1): a datagram that is cut into fragments is lost
 * whole when one of them is, and many firewalls drop fragments.
 *
 * Many trunks speak UDP alone, and some drop what knocks at their TCP port without a word. A place where TCP failed
 * gets its large requests over UDP for ten minutes, so that not every call waits for the connection that never opens.
 */

import type { Clock } from '../clock.ts';
import type { SipRequest } from '../message/message.ts';
import { messageLength } from '../message/write.ts';
import type { Hop, Network } from '../transport/network.ts';

/** What may go over UDP where nobody knows the path's MTU. */
export const MAX_DATAGRAM_BYTES = 1_300;
const AVOID_MS = 10 * 60_000;
/** Places remembered; the one that failed first is forgotten first. */
const MAX_PLACES = 1_000;

export class StreamSwitch {
  readonly #network: Network;
  readonly #clock: Clock;
  /** Places without TCP, in the order in which they failed, and when that was. */
  readonly #failedAt = new Map<string, number>();

  constructor(network: Network, clock: Clock) {
    this.#network = network;
    this.#clock = clock;
  }

  /** The hop that a request takes instead; undefined when it can stay as it is or there is no other. */
  insteadOf(hop: Hop, request: SipRequest): Hop | undefined {
    const stream: Hop = { ...hop, transport: 'tcp' };
    const isDue =
      hop.transport === 'udp' &&
      this.#network.canReach(stream) &&
      messageLength(request) > MAX_DATAGRAM_BYTES &&
      !this.#isAvoided(hop);
    return isDue ? stream : undefined;
  }

  #isAvoided(hop: Hop): boolean {
    const failedAt = this.#failedAt.get(placeOf(hop));
    return failedAt !== undefined && this.#clock.now() - failedAt < AVOID_MS;
  }

  /** No connection could be opened there. */
  failed(hop: Hop): void {
    this.#failedAt.delete(placeOf(hop));
    this.#failedAt.set(placeOf(hop), this.#clock.now());
    const [oldest] = this.#failedAt.keys();
    if (this.#failedAt.size > MAX_PLACES && oldest !== undefined) this.#failedAt.delete(oldest);
  }
}

function placeOf({ address, port }: Hop): string {
  return `${address} ${port}`;
}
