/** User agents on the loopback, with timers short enough for tests. */

import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import {
  createUserAgent,
  type LocalMedia,
  type ListenOptions,
  openNetwork,
  type TransportName,
  type UserAgent,
  type UserAgentOptions,
} from '../../src/index.ts';
import { CountingClock } from './counting-clock.ts';
import { TappedNetwork } from './tapped-network.ts';

/** Retransmission from 25 ms, giving up after 1.6 s. */
export const SHORT_TIMERS = { t1Ms: 25, t2Ms: 100, t4Ms: 125, timerDMs: 800 };

export function pem(name: string): string {
  return readFileSync(new URL(`./certificates/${name}.pem`, import.meta.url), 'utf8');
}

export const SERVER_TLS = {
  certificate: pem('server'),
  key: pem('server-key'),
  authorities: pem('authority'),
};
export const CLIENT_TLS = {
  certificate: pem('client'),
  key: pem('client-key'),
  authorities: pem('authority'),
};

export interface TestAgent extends AsyncDisposable {
  readonly agent: UserAgent;
  readonly network: TappedNetwork;
  readonly clock: CountingClock;
  readonly port: number;
  readonly transport: TransportName;
  /** The URI of a user at this agent. */
  uri(user: string): string;
}

export interface TestAgentOptions extends Partial<Omit<UserAgentOptions, 'network'>> {
  readonly transport?: TransportName;
  readonly address?: string;
  readonly listen?: Partial<ListenOptions>;
  /** Further listeners, beside the one that `transport` names. */
  readonly beside?: readonly ListenOptions[];
}

/** Opens an agent that takes calls from everybody; the rest is as `options` say. */
export async function openAgent(options: TestAgentOptions = {}): Promise<TestAgent> {
  const { transport = 'udp', address = '127.0.0.1', listen, beside = [], ...rest } = options;
  const clock = new CountingClock();
  const tls = transport === 'tls' ? { tls: SERVER_TLS } : {};
  const network = new TappedNetwork(
    await openNetwork({ clock, listen: [{ transport, address, port: 0, ...tls, ...listen }, ...beside] }),
  );
  const agent = createUserAgent({ clock, timers: SHORT_TIMERS, allowSource: () => true, ...rest, network });
  const host = address.includes(':') ? `[${address}]` : address;
  const port = network.sentBy({ transport, address, port: 0 })?.port ?? 0;
  return {
    agent,
    network,
    clock,
    port,
    transport,
    uri: (user) => `sip:${user}@${host}:${port};transport=${transport}`,
    [Symbol.asyncDispose]: () => agent.close(),
  };
}

/** Media that nobody sends: signalling tests only agree on it. */
export function mediaAt(port: number, more: Partial<LocalMedia> = {}): LocalMedia {
  return {
    address: '127.0.0.1',
    port,
    codecs: ['PCMU', 'PCMA'],
    telephoneEvents: true,
    srtp: 'never',
    rtcpMux: false,
    ...more,
  };
}

/** Waits until `condition` holds. Throws after `limitMs`. */
export async function until(condition: () => boolean, what: string, limitMs = 15_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
    await wait(2);
  }
}
