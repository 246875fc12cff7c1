/** Which carrier the program really builds. */
import { createSocket, type Socket } from 'node:dgram';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import { readConfig } from '../../../src/config.ts';
import { startService } from '../../../src/service.ts';
import { createLog } from '../../../src/platform/log.ts';
import { freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { until } from '../../kit/until.ts';

describe('the program with trunks in its settings', () => {
  let directory: string;
  let database: TestDatabase;
  /** The trunk: it answers nothing and counts what it is sent. */
  let trunk: Socket;
  let messages: string[];
  let logged: string;
  const stops: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'trunkcall-trunks-'));
    database = await freshDatabase('postgres');
    messages = [];
    logged = '';
    trunk = createSocket('udp4');
    trunk.on('message', (bytes) => messages.push(bytes.toString()));
    await new Promise<void>((resolve) => trunk.bind(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await new Promise<void>((resolve) => trunk.close(() => resolve()));
    await database.close();
    await rm(directory, { recursive: true });
  });

  /** Starts the program and says which carrier its worker got. */
  async function start(environment: string, roles: string, udpPort = 0): Promise<Carrier | undefined> {
    const settings = join(directory, 'settings.yaml');
    await writeFile(
      settings,
      `sip:
  bind: 127.0.0.1
  udp_port: ${udpPort}
  media_ports: {first: 43000, last: 43999}
trunks:
  - name: north
    proxy: {host: 127.0.0.1, port: ${trunk.address().port}}
    caller_numbers: ['+12025550142']
    countries: [US]
    calls_per_second: 1
    max_calls: 1
`,
    );
    const config = readConfig({
      TRUNKCALL_SETTINGS_FILE: settings,
      TRUNKCALL_ENVIRONMENT: environment,
      TRUNKCALL_ROLES: roles,
      TRUNKCALL_PORT: '0',
      TRUNKCALL_DATA_DIR: join(directory, 'data'),
      TRUNKCALL_DATABASE_URL: database.url,
    });
    const sink = new Writable({
      write(chunk, _, done) {
        logged += String(chunk);
        done();
      },
    });
    let seen: Carrier | undefined;
    const service = await startService(config, {
      log: createLog('warn', sink),
      onFatal: (error) => {
        throw error;
      },
      watchCarrier: (carrier) => (seen = carrier),
    });
    stops.push(() => service.stop());
    return seen;
  }

  it('calls over them in production', async () => {
    const carrier = await start('production', 'worker');
    expect(carrier).toMatchObject({ name: 'sip', media: 'audio' });
    expect(carrier?.forbids('+12025550142')).toMatch(/this service itself/);
    expect(carrier?.reaches('US')).toEqual({ ok: true });
    expect(carrier?.reaches('FR')).toMatchObject({ ok: false });
    await until(() => messages.some((text) => text.startsWith('OPTIONS')), 'the question whether it is up');
  });

  it('can not reach them in test, and says so', async () => {
    const carrier = await start('test', 'worker');
    expect(carrier).toMatchObject({ name: 'simulated', media: 'speech' });
    expect(logged).toContain('trunks are not used in the environment test');
    const placed = await carrier?.place(
      {
        attemptId: 'att_1',
        to: '+12125550102',
        from: null,
        ringLimitMs: 1_000,
        locale: 'en-US',
        simulation: {
          resultSchema: { type: 'object', additionalProperties: false, properties: {}, required: [] },
          callees: [],
        },
      },
      { progress: () => undefined },
      new AbortController().signal,
    );
    expect(placed).toMatchObject({ kind: 'ended', ending: { outcome: 'busy' } });
    expect(messages).toEqual([]);
  });

  it('opens no telephone socket in a process that places no calls', async () => {
    // The port is taken: whoever wanted it would fail.
    await expect(start('production', 'worker', trunk.address().port)).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    expect(await start('production', 'api', trunk.address().port)).toBeUndefined();
    expect(messages).toEqual([]);
  });
});
