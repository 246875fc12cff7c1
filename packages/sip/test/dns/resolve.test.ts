import { describe, expect, test } from 'vitest';
import { orderRecords, type Resolver, resolveHops, type SrvRecord } from '../../src/dns/resolve.ts';
import { parseUri, type SipUri } from '../../src/message/uri.ts';
import type { TransportName } from '../../src/transport/network.ts';
import { SeededRandom } from '../kit/seeded-random.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';

const SRV: Record<string, SrvRecord[]> = {
  '_sip._udp.example.com': [
    { name: 'backup.example.com', port: 5070, priority: 20, weight: 0 },
    { name: 'main.example.com', port: 5062, priority: 10, weight: 5 },
  ],
  '_sip._tcp.example.com': [{ name: 'main.example.com', port: 5063, priority: 10, weight: 5 }],
  '_sips._tcp.example.com': [{ name: 'main.example.com', port: 5064, priority: 10, weight: 5 }],
};
const ADDRESSES: Record<string, string[]> = {
  'main.example.com': ['192.0.2.1', '2001:db8::1'],
  'backup.example.com': ['192.0.2.2'],
  'plain.example.com': ['192.0.2.3'],
};

const RESOLVER: Resolver = {
  srv: async (name) => SRV[name] ?? [],
  addresses: async (name) => ADDRESSES[name] ?? [],
};

async function hops(
  text: string,
  transports: readonly TransportName[] = ['udp', 'tcp', 'tls'],
  resolver = RESOLVER,
): Promise<string[]> {
  const found = await resolveHops(parseUri(text) as SipUri, {
    resolver,
    random: new SeededRandom(1),
    clock: new VirtualClock(),
    transports,
    canReach: ({ transport, address }) => transports.includes(transport) && !address.includes(':'),
  });
  return found.map(({ transport, address, port }) => `${transport} ${address}:${port}`);
}

describe('hops of a URI', () => {
  test.each<[string, string[]]>([
    ['sip:192.0.2.9', ['udp 192.0.2.9:5060']],
    ['sip:192.0.2.9:5080;transport=tcp', ['tcp 192.0.2.9:5080']],
    ['sips:192.0.2.9', ['tls 192.0.2.9:5061']],
    ['sip:plain.example.com', ['udp 192.0.2.3:5060']],
    ['sip:plain.example.com:5090;transport=tls', ['tls 192.0.2.3:5090']],
    ['sip:main.example.com:5060', ['udp 192.0.2.1:5060']],
    [
      'sip:example.com',
      ['udp 192.0.2.1:5062', 'udp 192.0.2.2:5070', 'tcp 192.0.2.1:5063', 'tls 192.0.2.1:5064'],
    ],
    ['sip:example.com;transport=tcp', ['tcp 192.0.2.1:5063']],
    ['sips:example.com', ['tls 192.0.2.1:5064']],
    ['sip:nowhere.example.com', []],
  ])('%s', async (uri, expected) => expect(await hops(uri)).toEqual(expected));

  test('transports that we do not speak are left out', async () => {
    expect(await hops('sip:example.com', ['tcp'])).toEqual(['tcp 192.0.2.1:5063']);
  });

  test('there are never more than eight', async () => {
    const addresses = Array.from({ length: 30 }, (_, n) => `192.0.2.${n}`);
    const many: Resolver = { srv: async () => [], addresses: async () => addresses };
    expect(await hops('sip:many.example.com', ['udp'], many)).toHaveLength(8);
  });

  test('a name service that fails or never answers ends with no hop', async () => {
    const failing: Resolver = {
      srv: () => Promise.reject(new Error('no')),
      addresses: () => Promise.reject(new Error('no')),
    };
    expect(await hops('sip:example.com', ['udp'], failing)).toEqual([]);
    const clock = new VirtualClock();
    const silent: Resolver = { srv: async () => [], addresses: () => new Promise(() => undefined) };
    const pending = resolveHops(parseUri('sip:example.com:5060') as SipUri, {
      resolver: silent,
      random: new SeededRandom(1),
      clock,
      transports: ['udp'],
      canReach: () => true,
    });
    clock.advance(5_000);
    expect(await pending).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

describe('SRV order', () => {
  test('within a priority, records are drawn by weight; the root name means no service', () => {
    const records: SrvRecord[] = [
      { name: 'heavy', port: 1, priority: 1, weight: 90 },
      { name: 'light', port: 1, priority: 1, weight: 10 },
      { name: 'last', port: 1, priority: 2, weight: 100 },
      { name: '.', port: 1, priority: 0, weight: 100 },
    ];
    const random = new SeededRandom(4);
    const first = Array.from({ length: 1_000 }, () => orderRecords(records, random)).map((order) => {
      expect(order.at(-1)?.name).toBe('last');
      expect(order).toHaveLength(3);
      return order[0]?.name;
    });
    const heavy = first.filter((name) => name === 'heavy').length;
    expect(heavy).toBeGreaterThan(850);
    expect(heavy).toBeLessThan(950);
  });
});
