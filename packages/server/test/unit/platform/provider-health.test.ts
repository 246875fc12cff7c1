import { expect, it } from 'vitest';
import { createProviderHealth } from '../../../src/platform/provider-health.ts';

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();

it('a provider is remembered with its last answer, its last failure, and how long it is left alone', () => {
  let seconds = 100;
  let pauseMs = 0;
  const clock = { now: () => seconds * 1_000, monotonic: () => 0, sleep: async () => true };
  const health = createProviderHealth(clock, (provider) => (provider === 'chat' ? pauseMs : 0));
  expect(health.reports()).toEqual([]);
  health.failed('chat', 'it answered 500');
  pauseMs = 30_000;
  expect(health.reports()).toEqual([
    {
      provider: 'chat',
      last_success_at: null,
      last_failure: { at: at(100), note: 'it answered 500' },
      paused_until: at(130),
    },
  ]);
  seconds = 140;
  pauseMs = 0;
  health.answered('chat');
  health.answered('realtime');
  expect(health.reports()).toEqual([
    {
      provider: 'chat',
      last_success_at: at(140),
      last_failure: { at: at(100), note: 'it answered 500' },
      paused_until: null,
    },
    { provider: 'realtime', last_success_at: at(140), last_failure: null, paused_until: null },
  ]);
});
