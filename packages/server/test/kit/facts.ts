/** What a deployment with the simulated network knows of itself, for tests of its HTTP. */
import { simulatedTrunk } from '../../src/carriers/simulated/network.ts';
import { readConfig, settingsInForce } from '../../src/config.ts';
import type { DeploymentFacts } from '../../src/http/operator/system.ts';

export const facts: DeploymentFacts = {
  version: '0.0.0',
  startedAt: new Date(0),
  book: {
    trunks: [simulatedTrunk],
    forbids: (_trunk, phone) =>
      phone.startsWith('+33') ? 'phone is in a country that no trunk may call' : null,
  },
  providers: ['chat'],
  settings: settingsInForce(
    readConfig({
      TRUNKCALL_CHAT_API_KEY: 'sk-never-shown',
      TRUNKCALL_PUBLIC_URL: 'https://ada:pw@example.org/',
    }),
  ),
};
