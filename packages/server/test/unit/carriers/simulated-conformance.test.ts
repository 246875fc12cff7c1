import { systemClock } from '../../../src/platform/clock.ts';
import { createSimulatedNetwork } from '../../../src/carriers/simulated/network.ts';
import { carrierConformance, type Phones } from '../../conformance/carrier.ts';

const phones: Phones = {
  answers: '+12125550100',
  ringsOut: '+12125550101',
  busy: '+12125550102',
  declines: '+12125550103',
  voicemail: '+12125550104',
  hangsUp: '+12125550105',
  silent: '+12125550107',
  unassigned: '+12125550108',
  carrierFails: '+12125550109',
  menu: '+12125550111',
  interrupts: '+12125550112',
};

for (const speed of [Infinity, 1_000]) {
  carrierConformance(`simulated, ${speed} times as fast`, () => ({
    carrier: createSimulatedNetwork({ clock: systemClock, speed }),
    phones,
  }));
}
