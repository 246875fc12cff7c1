/** Where the demonstration phones people: in the simulated network, or on real SIP telephones on this machine. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Credentials } from '@trunkcall/contract';
import type { OperatorClient } from '@trunkcall/sdk';
import { ownTelephone, people, sipPeople, type Person } from './people.ts';
import { startPhones } from './phones.ts';

/** What calls are placed with. */
export interface Access {
  readonly apiKey: string;
  /** Goal ids by the name of their example. */
  readonly goals: Readonly<Record<string, string>>;
}

export interface World {
  readonly people: readonly Person[];
  /** Settings of the service, beside its port and data directory. */
  readonly settings: Readonly<Record<string, string>>;
  access(credentials: Credentials, operator: OperatorClient): Promise<Access>;
  close(): Promise<void>;
}

export const simulatedWorld: World = {
  people,
  settings: {},
  access: async ({ api_key: apiKey = '', goals = {} }) => ({ apiKey, goals }),
  close: async () => undefined,
};

const goalFile = fileURLToPath(new URL('../goals/confirm-delivery.yaml', import.meta.url));

/**
 * A production deployment with one trunk. `peer` (host:port) is the telephone that it leads to, such as a baresip or
 * sipp of yours, and is called once; null: telephones of our own, which answer by pressing keys.
 *
 * Throws: when eSpeak NG, with which the scripted agent speaks on a telephone line, is not installed.
 */
export async function sipWorld(dataDir: string, peer: string | null): Promise<World> {
  if (spawnSync('espeak-ng', ['--version']).error !== undefined) {
    throw new Error('eSpeak NG is needed to speak on a telephone line: apt-get install -y espeak-ng');
  }
  const phones = peer === null ? await startPhones() : null;
  const [host, port] = peer === null ? ['127.0.0.1', String(phones?.port)] : peer.split(/:(?=\d+$)/);
  const file = join(dataDir, 'settings.yaml');
  const trunk = {
    name: 'demo',
    proxy: { host, port: Number(port ?? 5060), transport: 'udp' },
    caller_numbers: ['+12025550199'],
    calls_per_second: 10,
    max_calls: 10,
    countries: ['US', 'CA'],
  };
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ trunks: [trunk], sip: { bind: '127.0.0.1', udp_port: 0 } }));
  return {
    people: peer === null ? sipPeople : [ownTelephone],
    settings: { TRUNKCALL_ENVIRONMENT: 'production', TRUNKCALL_SETTINGS_FILE: file },
    async access(_credentials, operator) {
      const { id: account } = await operator.createAccount('demo');
      const text = readFileSync(goalFile, 'utf8');
      const goal = await operator.applyGoal(account, { text, mediaType: 'application/yaml' });
      await operator.commandGoal(goal.id, 'publish');
      const { key: apiKey } = await operator.createKey({ account });
      return { apiKey, goals: { 'confirm-delivery': goal.id } };
    },
    close: async () => phones?.close(),
  };
}
