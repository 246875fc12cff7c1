import { afterAll, beforeAll, describe } from 'vitest';
import { carrierConformance } from '../../../conformance/carrier.ts';
import { audioConformance, type AudioPhones } from '../../../conformance/audio-media.ts';
import { openCarrier, trunkAt } from '../../../kit/sip/carrier.ts';
import {
  beep,
  informationTones,
  startPhones,
  type Answering,
  type TrunkPhones,
} from '../../../kit/sip/phones.ts';
import { sippMissing, startSipp, type Sipp } from '../../../kit/sip/sipp.ts';

const phones: AudioPhones = {
  answers: '+12125550100',
  echoes: '+12125550100',
  ringsOut: '+12125550101',
  busy: '+12125550102',
  declines: '+12125550103',
  hangsUp: '+12125550105',
  silent: '+12125550107',
  unassigned: '+12125550108',
  carrierFails: '+12125550109',
  presses: '+14155550120',
  menu: '+14155550121',
  beeps: '+14155550122',
  announces: '+14155550123',
};

/** What SIPp can not play. */
const answering: Readonly<Record<string, Answering>> = {
  [phones.presses]: (call, trunk) => void trunk.pickUp(call, (media) => media.dial('123')),
  [phones.menu]: (call, trunk) =>
    void trunk.pickUp(call, undefined, (media, key) => {
      if (key === '2') media.dial('9');
    }),
  [phones.beeps]: (call, trunk) => void trunk.pickUp(call, (media) => media.play(beep())),
  [phones.announces ?? '']: (call, trunk) =>
    void trunk.pickUp(call, (media) => media.play(informationTones())),
};

describe.skipIf(sippMissing)('SIP', () => {
  let sipp: Sipp;
  let trunk: TrunkPhones;
  beforeAll(async () => {
    sipp = await startSipp();
    trunk = await startPhones(answering);
  });
  afterAll(async () => {
    await sipp.close();
    await trunk.close();
  });

  const build = async () => ({
    carrier: await openCarrier([
      trunkAt(sipp.port, { countries: [], allow_prefixes: ['+1212'] }),
      trunkAt(trunk.port, { name: 'west', countries: [], allow_prefixes: ['+1415'] }),
    ]),
    phones,
    ringLimitMs: 1_500,
  });
  carrierConformance('sip', build);
  audioConformance('sip', build, { hasNetwork: true });
});
