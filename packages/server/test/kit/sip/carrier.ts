/** A SIP carrier on the loopback, with limits that nobody meets unless the test says so. */
import type { SipSettings, Trunk } from '@trunkcall/contract';
import {
  createSipCarrier,
  type SipCarrier,
  type SipCarrierOptions,
} from '../../../src/carriers/sip/sip-carrier.ts';
import type { TrunkSlots } from '../../../src/carriers/sip/slots.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLog } from '../../../src/platform/log.ts';

export function trunkAt(port: number, over: Partial<Trunk> = {}): Trunk {
  return {
    name: 'north',
    proxy: { host: '127.0.0.1', port },
    caller_numbers: ['+12025550142', '+12025550143'],
    calls_per_second: 1_000,
    max_calls: 1_000,
    countries: ['US'],
    keepalive_seconds: 0,
    ...over,
  };
}

/** No limits at all. */
const freeSlots: TrunkSlots = {
  prepare: async () => undefined,
  take: async () => ({ kind: 'taken' }),
  renew: async () => undefined,
  release: async () => undefined,
  countCall: async () => true,
  countTrunkCall: async () => undefined,
  addCost: async () => undefined,
};

export const sipSettings: SipSettings = {
  bind: '127.0.0.1',
  udp_port: 0,
  tcp_port: 0,
  tls_port: 0,
  // Below the ports that the kernel hands out, and apart from those of the phones.
  media_ports: { first: 10_000, last: 14_999 },
};

/** Gives up on a dead trunk after 3.2 s, where the standard says 32. */
const quickTimers = { t1Ms: 50, t2Ms: 200, t4Ms: 250, timerDMs: 1_600 };

export function openCarrier(
  trunks: readonly Trunk[],
  over: Partial<SipCarrierOptions> = {},
): Promise<SipCarrier> {
  return createSipCarrier({
    trunks,
    sip: sipSettings,
    clock: systemClock,
    log: createLog('silent'),
    slots: freeSlots,
    onFatal: (error) => {
      throw error;
    },
    dailyLimits: { callsPerNumber: 1_000, callsPerAccount: 1_000, spendPerAccount: null },
    timers: quickTimers,
    ...over,
  });
}
