import { systemClock } from '../../../src/platform/clock.ts';
import { createSimulatedNetwork } from '../../../src/carriers/simulated/network.ts';
import { carrierConformance } from '../../conformance/carrier.ts';
import { speechConformance, type SpeechPhones } from '../../conformance/speech-media.ts';

const phones: SpeechPhones = {
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
  const build = () => ({ carrier: createSimulatedNetwork({ clock: systemClock, speed }), phones });
  carrierConformance(`simulated, ${speed} times as fast`, build);
  speechConformance(`simulated, ${speed} times as fast`, build);
}
