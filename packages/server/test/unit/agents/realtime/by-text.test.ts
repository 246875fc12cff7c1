/** The realtime agent on the simulated network, by text, against a strict provider on a real socket. */
import { afterEach, expect, it } from 'vitest';
import { createRealtimeAgent } from '../../../../src/agents/realtime/realtime-agent.ts';
import { talk, testClock } from '../../../conformance/hold-call.ts';
import { startRealtimeServer, type RealtimeFake } from '../../../fakes/realtime-server.ts';
import { scriptedModel } from '../../../fakes/scripted-model.ts';

let server: RealtimeFake;

afterEach(async () => {
  await server.close();
  if (server.violations.length > 0) throw new Error(server.violations.join('\n'));
});

async function call(to: string) {
  server = await startRealtimeServer({ newModel: () => scriptedModel(testClock.now()) });
  const { url, key: apiKey } = server;
  const agent = createRealtimeAgent({
    clock: testClock,
    provider: { dialect: 'openai', url, apiKey, model: null },
  });
  return talk({ agent, to });
}

it.each([
  ['who lets us finish', '+12125550100'],
  ['who interrupts us', '+12125550112'],
])('of a callee %s the model knows all, and of its own words those that were heard', async (_, to) => {
  const { turns } = await call(to);
  const known = server.sessions[0]?.items.filter(({ role }) => role === 'user' || role === 'assistant') ?? [];
  expect(known.map(({ role, text }) => `${role}: ${text}`)).toEqual(
    turns.map(({ speaker, text }) => `${speaker === 'bot' ? 'assistant' : 'user'}: ${text}`),
  );
});

it('no sound is asked for', async () => {
  await call('+12125550100');
  expect(server.sessions[0]?.settings).toMatchObject({ output_modalities: ['text'] });
  expect(server.sessions[0]?.heardMs).toBe(0);
});
