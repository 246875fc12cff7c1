import { expect, test } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { createReadiness } from '../../../src/authoring/readiness.ts';
import type { Reach } from '../../../src/carriers/carrier.ts';
import { createProviderKeys, neededKeys } from '../../../src/platform/key-watch.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { createManualClock } from '../../kit/manual-clock.ts';

const notUsed = () => Promise.reject(new Error('not used'));

const agent: Agent = {
  kind: 'scripted',
  problems: (locale) => (locale === 'en-US' ? [] : [`the scripted agent does not speak ${locale}`]),
  converse: notUsed,
};
const carrier: Pick<Reach, 'name' | 'media' | 'reaches' | 'forbids'> = {
  name: 'north',
  media: 'speech',
  forbids: (phone) => (phone.startsWith('+1900') ? 'phone is a premium-rate number' : null),
  reaches: (country) => (country === 'US' ? { ok: true } : { ok: false, reason: 'no route' }),
};

test('a Goal whose agent, locale and countries are served here is ready', () => {
  const readiness = createReadiness({ agents: [agent], carrier });
  expect(readiness(goalFile())).toEqual([]);
});

test('every reason why a Goal is not ready is named', () => {
  const readiness = createReadiness({ agents: [agent], carrier });
  expect(readiness(goalFile({ locale: 'de-DE', targets: { countries: ['US', 'DE', 'FR'] } }))).toEqual([
    'the scripted agent does not speak de-DE',
    'the carrier north does not reach DE: no route',
    'the carrier north does not reach FR: no route',
  ]);
});

test('a Goal that would connect callees with a number which must not be called is not ready', () => {
  const readiness = createReadiness({ agents: [agent], carrier });
  const transfer = [
    { name: 'Front desk', phone: '+12125550100' },
    { name: 'Hotline', phone: '+19005550100' },
  ];
  expect(readiness(goalFile({ transfer }))).toEqual([
    'nobody can be connected with Hotline: the phone is a premium-rate number',
  ]);
});

test('an agent is asked for the kind of legs that the carrier has', () => {
  const mute: Agent = { ...agent, problems: (_, media) => (media === 'audio' ? ['it can not speak'] : []) };
  const overSound = createReadiness({ agents: [mute], carrier: { ...carrier, media: 'audio' } });
  expect(overSound(goalFile())).toEqual(['it can not speak']);
  expect(createReadiness({ agents: [mute], carrier })(goalFile())).toEqual([]);
});

test('a Goal for an agent that this process does not have is not ready', () => {
  const readiness = createReadiness({ agents: [], carrier });
  expect(readiness(goalFile())).toEqual(['the agent kind scripted is not available here']);
});

test('a rejected key of the model that draws results holds up Goals whose agent needs it', () => {
  const keys = createProviderKeys(createManualClock(Infinity));
  const told = 'the provider rejected the key in TRUNKCALL_CHAT_API_KEY';
  const realtime: Agent = { ...agent, kind: 'realtime' };
  const cascade: Agent = { ...agent, kind: 'cascade', problems: () => [told] };
  const keysOf = (kind: Agent['kind']) => neededKeys(kind, keys, true);
  const readiness = createReadiness({ agents: [agent, realtime, cascade], carrier, keysOf });
  const reasons = (kind: Agent['kind']) => readiness(goalFile({ agent: { kind } }));
  expect(reasons('realtime')).toEqual([]);
  keys.chat.saw(401);
  expect(reasons('realtime')).toEqual([told]);
  expect(reasons('cascade')).toEqual([told]);
  expect(reasons('scripted')).toEqual([]);
  // Where no model draws results it is no concern of an agent that does not chat.
  expect(neededKeys('realtime', keys, false)).not.toContain(keys.chat);
  keys.chat.saw(200);
  expect(reasons('realtime')).toEqual([]);
});
