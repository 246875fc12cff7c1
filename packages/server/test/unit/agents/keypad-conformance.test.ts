import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import { audioAgentConformance } from '../../conformance/audio-agent.ts';
import { testClock } from '../../conformance/hold-call.ts';
import { person } from '../../kit/audio-callee.ts';

audioAgentConformance('scripted', () => ({
  agent: (synthesizer) => createScriptedAgent({ clock: testClock, synthesizer }),
  locales: [
    { locale: 'en-US', automated: /automated assistant/ },
    { locale: 'en-GB', automated: /automated assistant/ },
    { locale: 'es-ES', automated: /asistente automático/ },
    { locale: 'es-MX', automated: /asistente automático/ },
  ],
  cooperative: person([
    [/^For no, press 2/, '1'],
    [/^For evening, press 3/, '3'],
    [/^The third of May is/, '1124'],
  ]),
}));
