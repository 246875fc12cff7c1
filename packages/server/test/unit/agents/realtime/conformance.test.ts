import { afterEach } from 'vitest';
import { createRealtimeAgent } from '../../../../src/agents/realtime/realtime-agent.ts';
import { agentConformance } from '../../../conformance/agent.ts';
import { testClock } from '../../../conformance/hold-call.ts';
import { startRealtimeServer, type RealtimeFake } from '../../../fakes/realtime-server.ts';
import { scriptedModel } from '../../../fakes/scripted-model.ts';

const servers: RealtimeFake[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    await server.close();
    if (server.violations.length > 0) throw new Error(server.violations.join('\n'));
  }
});

agentConformance('realtime', async () => {
  const server = await startRealtimeServer({ newModel: () => scriptedModel(testClock.now()) });
  servers.push(server);
  const { url, key: apiKey } = server;
  return {
    agent: createRealtimeAgent({
      clock: testClock,
      provider: { dialect: 'openai', url, apiKey, model: null },
    }),
    locales: [
      { locale: 'en-US', automated: /automated assistant/ },
      { locale: 'en-GB', automated: /automated assistant/ },
      { locale: 'es-ES', automated: /asistente automático/ },
      { locale: 'es-MX', automated: /asistente automático/ },
    ],
  };
});
