import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigError, readConfig, unknownVariables } from '../../src/config.ts';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function settingsFile(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'trunkcall-config-'));
  directories.push(directory);
  const path = join(directory, 'settings.yaml');
  writeFileSync(path, text);
  return path;
}

describe('readConfig', () => {
  it('serves on the embedded default with no setting at all', () => {
    expect(readConfig({})).toMatchObject({
      environment: 'test',
      roles: ['api', 'worker'],
      host: '127.0.0.1',
      port: 8080,
      dataDir: './data',
      databaseUrl: null,
    });
  });

  it('names a wrong variable, what it got and what it takes', () => {
    for (const [name, value] of [
      ['TRUNKCALL_PORT', '80a'],
      ['TRUNKCALL_PORT', '65536'],
      ['TRUNKCALL_ENVIRONMENT', 'staging'],
      ['TRUNKCALL_ROLES', 'api,console'],
      ['TRUNKCALL_LEASE_MS', '60001'],
      ['TRUNKCALL_SIMULATION_SPEED', 'fast'],
      ['TRUNKCALL_DATA_DIR', ''],
      ['TRUNKCALL_TRUSTED_PROXIES', '10.0.0.0/33'],
      ['TRUNKCALL_TRUSTED_PROXIES', 'proxy.example'],
      ['TRUNKCALL_REALTIME_URL', 'https://api.openai.com/v1/realtime'],
      ['TRUNKCALL_REALTIME_URL', 'wss://api.openai.com/v1/realtime?key=1'],
      ['TRUNKCALL_REALTIME_DIALECT', 'beta'],
    ] as const) {
      expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
      expect(() => readConfig({ [name]: value })).toThrow(`${name} is ${JSON.stringify(value)}; it takes `);
    }
  });

  it('reads lists', () => {
    const env = { TRUNKCALL_TRUSTED_PROXIES: '10.0.0.0/8, ::1', TRUNKCALL_ROLES: 'worker, worker' };
    expect(readConfig(env)).toMatchObject({ trustedProxies: ['10.0.0.0/8', '::1'], roles: ['worker'] });
  });

  it('never repeats a secret', () => {
    const wrong = () => readConfig({ TRUNKCALL_DATABASE_URL: 'mysql://me:hunter2@db/x' });
    expect(wrong).toThrow('TRUNKCALL_DATABASE_URL is (hidden)');
    expect(wrong).not.toThrow('hunter2');
    const wrongKey = () => readConfig({ TRUNKCALL_REALTIME_API_KEY: 'sk hunter2' });
    expect(wrongKey).toThrow('TRUNKCALL_REALTIME_API_KEY is (hidden)');
    expect(wrongKey).not.toThrow('hunter2');
  });

  it('reads a settings file, over which a variable wins', () => {
    const path = settingsFile('port: 9000\nhost: 0.0.0.0\n');
    const config = readConfig({ TRUNKCALL_SETTINGS_FILE: path, TRUNKCALL_PORT: '9001' });
    expect(config).toMatchObject({ port: 9001, host: '0.0.0.0' });
  });

  it('refuses a settings file that is missing, or names what is no setting', () => {
    expect(() => readConfig({ TRUNKCALL_SETTINGS_FILE: '/nonexistent/x.yaml' })).toThrow('can not read');
    const path = settingsFile('prot: 9000\n');
    expect(() => readConfig({ TRUNKCALL_SETTINGS_FILE: path })).toThrow('prot is not a setting');
    const nested = settingsFile('port: [1]\n');
    expect(() => readConfig({ TRUNKCALL_SETTINGS_FILE: nested })).toThrow('port must be a plain value');
  });

  const trunk = (password: string) =>
    `sip: {bind: 127.0.0.1}
trunks:
  - name: north
    proxy: {host: sip.example.com}
    credentials: {username: acme, password: '${password}'}
    caller_numbers: ['+12025550142']
    countries: [US]
    calls_per_second: 1
    max_calls: 10
`;

  it('reads trunks from the settings file, and a password from the environment', () => {
    const plain = readConfig({ TRUNKCALL_SETTINGS_FILE: settingsFile(trunk('hush')) });
    expect(plain).toMatchObject({
      sip: { bind: '127.0.0.1' },
      trunks: [{ name: 'north', credentials: { password: 'hush' } }],
    });
    const named = readConfig({
      TRUNKCALL_SETTINGS_FILE: settingsFile(trunk('${NORTH_PASSWORD}')),
      NORTH_PASSWORD: 'whisper',
    });
    expect(named.trunks[0]?.credentials?.password).toBe('whisper');
    expect(readConfig({})).toMatchObject({ trunks: [], sip: {} });
  });

  it('names a wrong trunk and its field, and never repeats its secret', () => {
    const wrong = () =>
      readConfig({ TRUNKCALL_SETTINGS_FILE: settingsFile(trunk('hush').replace('[US]', '[XX]')) });
    expect(wrong).toThrow(ConfigError);
    expect(wrong).toThrow('trunk north: countries has XX, which is no known country');
    expect(wrong).not.toThrow('hush');
    const unset = settingsFile(trunk('${NORTH_PASSWORD}'));
    expect(() => readConfig({ TRUNKCALL_SETTINGS_FILE: unset })).toThrow(
      'trunk north: credentials.password wants NORTH_PASSWORD, which is not set',
    );
    const broken = settingsFile(`${trunk('hush')}   password: hush: [\n`);
    expect(() => readConfig({ TRUNKCALL_SETTINGS_FILE: broken })).toThrow('can not read');
    expect(() => readConfig({ TRUNKCALL_SETTINGS_FILE: broken })).not.toThrow('hush');
  });

  it('finds variables that look like settings but are none', () => {
    expect(
      unknownVariables({ TRUNKCALL_PROT: '1', TRUNKCALL_PORT: '1', TRUNKCALL_URL: 'x', PATH: 'y' }),
    ).toEqual(['TRUNKCALL_PROT']);
  });
});
