import { afterAll, beforeAll } from 'vitest';
import { createCascadeAgent } from '../../../../src/agents/cascade/cascade-agent.ts';
import { createOpenAiChat } from '../../../../src/agents/cascade/providers/openai.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { agentConformance } from '../../../conformance/agent.ts';
import { answerFrom } from '../../../fakes/chat-brain.ts';
import { startOpenAiServer, type OpenAiServer } from '../../../fakes/openai-server.ts';

let server: OpenAiServer;
beforeAll(async () => {
  server = await startOpenAiServer({ apiKey: 'sk-test', chat: answerFrom });
});
afterAll(() => server.close());

const missing = { kind: 'missing', problem: 'not on a leg of sentences' } as const;

agentConformance('cascade, its chat model over HTTP', () => ({
  agent: createCascadeAgent({
    chat: {
      kind: 'ready',
      provider: createOpenAiChat({ clock: systemClock, url: server.url, apiKey: 'sk-test', model: 'chat' }),
    },
    transcriber: missing,
    voice: missing,
  }),
  locales: [
    { locale: 'en-US', automated: /automated assistant/ },
    { locale: 'es-MX', automated: /asistente automático/ },
  ],
}));
