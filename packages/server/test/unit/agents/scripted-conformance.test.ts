import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import { agentConformance } from '../../conformance/agent.ts';
import { testClock } from '../../conformance/hold-call.ts';

agentConformance('scripted', () => ({
  agent: createScriptedAgent({ clock: testClock, synthesizer: null }),
  locales: [
    { locale: 'en-US', automated: /automated assistant/ },
    { locale: 'en-GB', automated: /automated assistant/ },
    { locale: 'es-ES', automated: /asistente automático/ },
    { locale: 'es-MX', automated: /asistente automático/ },
  ],
}));
