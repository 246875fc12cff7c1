import { expect, test } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { createReadiness } from '../../../src/authoring/readiness.ts';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import { goalFile } from '../../kit/fixtures.ts';

const notUsed = () => Promise.reject(new Error('not used'));

const agent: Agent = {
  kind: 'scripted',
  problems: (locale) => (locale === 'en-US' ? [] : [`the scripted agent does not speak ${locale}`]),
  converse: notUsed,
};
const carrier: Carrier = {
  name: 'north',
  reaches: (country) => (country === 'US' ? { ok: true } : { ok: false, reason: 'no route' }),
  place: notUsed,
  close: notUsed,
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

test('a Goal for an agent that this process does not have is not ready', () => {
  const readiness = createReadiness({ agents: [], carrier });
  expect(readiness(goalFile())).toEqual(['the agent kind scripted is not available here']);
});
