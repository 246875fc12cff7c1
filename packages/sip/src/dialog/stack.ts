import type { Clock } from '../clock.ts';
import { type Resolver, resolveHops } from '../dns/resolve.ts';
import type { SipUri } from '../message/uri.ts';
import type { Random } from '../random.ts';
import type { TransactionLayer } from '../transaction/layer.ts';
import type { TimerSettings } from '../transaction/machine.ts';
import type { Hop, Network } from '../transport/network.ts';

/** What dialogs and everything above them stand on. One per user agent. */
export interface Stack {
  readonly layer: TransactionLayer;
  readonly network: Network;
  readonly resolver: Resolver;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: TimerSettings;
}

/** The places where a request to `uri` may be sent, best first. Never rejects. */
export function hopsFor(stack: Stack, uri: SipUri): Promise<Hop[]> {
  const { network, resolver, random, clock } = stack;
  return resolveHops(uri, {
    resolver,
    random,
    clock,
    transports: network.transports,
    canReach: (hop) => network.canReach(hop),
  });
}
