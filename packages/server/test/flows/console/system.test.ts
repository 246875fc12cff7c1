/** The deployment in the console: alerts, trunks, processes, settings, and who is told of them. */
import type {
  Alert,
  ConsoleAuditEntry,
  ConsoleAccountSettings,
  ConsoleOverview,
  OperatorList,
  OperatorNumber,
  OperatorTrunk,
  ProviderReport,
  SystemReport,
  TrunkReport,
} from '@trunkcall/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addNumber } from '../../../src/authoring/numbers.ts';
import { statement } from '../../../src/storage/database.ts';
import { beat, forgetAllWorkers } from '../../../src/storage/workers.ts';
import { databases } from '../../kit/database.ts';
import { ids, startConsole, type ConsoleService, type Visitor } from './service.ts';

const disable = statement<never>(
  'test_disable_endpoint',
  `insert into webhook_endpoints (id, account_id, url, description, types, disabled_at, disabled_reason)
   values ($1, $2, 'https://example.org/', '', '{call.completed}', now(), 'failing')`,
);
const makeSilent = statement<never>(
  'test_silence_worker',
  `update workers set last_seen_at = now() - interval '1 minute' where id = $1`,
);
const addLateJob = statement<never>(
  'test_add_late_job',
  `insert into jobs (queue, subject_id, account_id, due_at) values ('dial', 'run_late', $1, now() - interval '5 minutes')`,
);

const now = () => new Date().toISOString();
const trunk = (over: Partial<TrunkReport> = {}): TrunkReport => ({
  trunk: 'simulated',
  state: 'up',
  since: now(),
  why: null,
  calls: 0,
  last_failure: null,
  ...over,
});

describe.each(databases)('the deployment in the console on %s', (kind) => {
  let service: ConsoleService;
  let operator: Visitor;
  let viewer: Visitor;
  beforeAll(async () => {
    service = await startConsole(kind);
    operator = await service.operator();
    viewer = await service.person('viewer');
  });
  afterAll(() => service.close());
  beforeEach(() => service.database.db.query(forgetAllWorkers));

  async function worker(
    { trunks = [trunk()], providers = [] }: { trunks?: TrunkReport[]; providers?: ProviderReport[] } = {},
    draining = false,
    id = ids.next('wrk'),
  ): Promise<string> {
    const said = [JSON.stringify(trunks), JSON.stringify(providers), draining];
    await service.database.db.query(beat, [id, 'host-1', '1.2.3', ['api', 'worker'], 2, ...said]);
    return id;
  }
  const alertsFor = async (who: Visitor): Promise<readonly Alert[]> =>
    (await who.get<ConsoleOverview>(`/accounts/${service.accountId}/overview`)).alerts;
  const kindsFor = async (who: Visitor) => (await alertsFor(who)).map((alert) => alert.kind);

  test('without a worker everybody is told, and what to do', async () => {
    expect(await alertsFor(operator)).toMatchObject([
      { kind: 'no_worker', message: 'No worker is alive: no call begins.', goal_id: null },
    ]);
    const [told] = await alertsFor(viewer);
    expect(told?.hint).toContain('Calls wait meanwhile');
    await worker();
    expect(await kindsFor(viewer)).toEqual([]);
    await worker({}, true);
    expect(await kindsFor(viewer)).toEqual([]);
  });

  test('a trunk that is down is told to operators; to an account only when none is left', async () => {
    const down = trunk({ state: 'down', why: 'it does not answer OPTIONS' });
    await worker({ trunks: [down] });
    expect(await alertsFor(operator)).toMatchObject([
      { kind: 'trunk_down', message: 'The trunk simulated is down: it does not answer OPTIONS.' },
    ]);
    expect(await kindsFor(viewer)).toEqual(['no_trunk']);
    await worker();
    expect((await alertsFor(operator)).map(({ message }) => message)).toEqual([
      'The trunk simulated is down for some workers: it does not answer OPTIONS.',
    ]);
    expect(await kindsFor(viewer)).toEqual([]);
    const { data } = await operator.get<OperatorList<OperatorTrunk>>('/trunks');
    expect(data).toMatchObject([{ name: 'simulated', state: 'partly_up' }]);
    expect(data[0]?.workers).toHaveLength(2);
  });

  test('a process that has only just begun, and does not know its trunk yet, is no bad news', async () => {
    await worker({ trunks: [trunk({ state: 'unknown', why: 'it was not heard of yet' })] });
    expect(await kindsFor(operator)).toEqual([]);
    await worker();
    const { data } = await operator.get<OperatorList<OperatorTrunk>>('/trunks');
    expect(data).toMatchObject([{ state: 'up', why: null }]);
  });

  test('a silent process, a failing provider and other accounts’ troubles are the operator’s alone', async () => {
    await worker();
    await service.database.db.query(makeSilent, [await worker()]);
    const note = 'the chat model answered 401: its key is missing or not accepted';
    const chat = {
      provider: 'chat',
      last_success_at: null,
      last_failure: { at: now(), note },
      paused_until: null,
    };
    await worker({ providers: [chat as ProviderReport] });
    expect(await kindsFor(operator)).toEqual(['worker_silent', 'provider_failing']);
    expect((await alertsFor(operator))[1]?.message).toBe(`The provider chat fails: ${note}.`);
    expect(await kindsFor(viewer)).toEqual([]);
    // It answered since: nothing fails any more.
    await service.database.db.query(forgetAllWorkers);
    const success = new Date(Date.now() + 1_000).toISOString();
    await worker({ providers: [{ ...(chat as ProviderReport), last_success_at: success }] });
    expect(await kindsFor(operator)).toEqual([]);
  });

  test('a disabled endpoint and late calls are told to their account, not to another', async () => {
    await worker();
    const endpoint = ids.next('whe');
    await service.database.db.query(disable, [endpoint, service.otherAccountId]);
    await service.database.db.query(addLateJob, [service.otherAccountId]);
    expect(await kindsFor(viewer)).toEqual([]);
    const other = `/accounts/${service.otherAccountId}/overview`;
    const { alerts } = await operator.get<ConsoleOverview>(other);
    expect(alerts).toMatchObject([
      { kind: 'queue_late', message: expect.stringMatching(/^Calls have waited for \d+ s\.$/) },
      { kind: 'webhook_disabled', message: expect.stringContaining(endpoint) },
    ]);
    const system = await operator.get<SystemReport>('/system');
    expect(system.alerts.map((alert) => alert.kind)).toEqual(['queue_late', 'webhook_disabled']);
  });

  test('the system page shows processes, the database and the settings, and never a secret', async () => {
    const id = await worker();
    const response = await operator.send('GET', '/system');
    const text = await response.text();
    const report = JSON.parse(text) as SystemReport;
    expect(report).toMatchObject({
      version: '0.0.0',
      database: { kind },
      workers: [{ id, host: 'host-1', alive: true, live_calls: 2, draining: false }],
      trunks: [{ name: 'simulated', state: 'up', calls_today: 0 }],
      providers_configured: ['chat'],
      webhooks: { due: 0, waiting: 0 },
    });
    expect(report.database.size_bytes).toBeGreaterThan(1_000_000);
    const setting = (variable: string) => report.settings.find((one) => one.variable === variable);
    expect(setting('TRUNKCALL_CHAT_API_KEY')).toMatchObject({ is_set: true, secret: true, value: null });
    expect(setting('TRUNKCALL_OPERATOR_TOKEN')).toMatchObject({ is_set: false, secret: true });
    expect(setting('TRUNKCALL_ENVIRONMENT')).toMatchObject({ value: 'test', is_default: true });
    expect(setting('TRUNKCALL_PUBLIC_URL')?.value).toBe('https://example.org/');
    expect(text).not.toContain('never-shown');
    expect(text).not.toContain('ada:pw');
  });

  test('draining, resuming and test calls are in the audit log, without the number', async () => {
    const id = await worker();
    expect(await (await operator.send('POST', `/workers/${id}/drain`)).json()).toMatchObject({
      id,
      draining: false,
      drain_requested_at: expect.stringMatching(/Z$/),
    });
    const resumed = await operator.send('POST', `/workers/${id}/resume`);
    expect([resumed.status, await resumed.json()]).toMatchObject([202, { drain_requested_at: null }]);
    const placed = await operator.send('POST', '/trunks/simulated/test-calls', { phone: '+12025550100' });
    expect(await placed.json()).toMatchObject({ state: 'waiting', phone: '+•••••••••00' });
    const again = await operator.send('POST', '/trunks/simulated/test-calls', { phone: '+12025550100' });
    expect([again.status, await again.json()]).toMatchObject([
      409,
      { error: { code: 'test_call_conflict' } },
    ]);
    const refused = await operator.send('POST', '/trunks/simulated/test-calls', { phone: '+33123456789' });
    expect(refused.status).toBe(422);
    const { data } = await operator.get<OperatorList<ConsoleAuditEntry>>('/audit');
    expect(data.slice(0, 3)).toMatchObject([
      { action: 'trunk.tested', details: { trunk: 'simulated' }, account_id: null },
      { action: 'worker.resumed', object_id: id, details: { host: 'host-1' } },
      { action: 'worker.drained', object_id: id },
    ]);
    expect(JSON.stringify(data)).not.toContain('2025550100');
    expect(service.logged()).not.toContain('2025550100');
  });

  test('open pages of operators are told that something has changed, those of others are not', async () => {
    const read = async (who: Visitor) => {
      const left = new AbortController();
      const response = await fetch(`${service.origin}/console/api/live`, {
        headers: { cookie: who.cookie },
        signal: left.signal,
      });
      const told: string[] = [];
      const reading = (async () => {
        for await (const chunk of response.body ?? []) told.push(Buffer.from(chunk).toString());
      })().catch(() => undefined);
      return { told: () => told.join(''), close: () => (left.abort(), reading) };
    };
    const [theirs, others] = [await read(operator), await read(viewer)];
    const tries = setInterval(() => void worker(), 300);
    await expect.poll(theirs.told, { timeout: 10_000 }).toContain('event: system');
    clearInterval(tries);
    expect(others.told()).not.toContain('system');
    await theirs.close();
    await others.close();
  });

  test('an owner chooses region and number of the account, an operator its limits; both are on record', async () => {
    const owner = await service.person('owner');
    const { db } = service.database;
    const enter = (phone: string, accountId: string) =>
      db.transaction((tx) => addNumber(tx, ids, { phone, accountId, label: '' }, null));
    const number = await enter('+12025550177', service.accountId);
    await enter('+12025550178', service.otherAccountId);
    const place = `/accounts/${service.accountId}`;
    const settings = await owner.get<ConsoleAccountSettings>(`${place}/settings`);
    expect(settings.numbers.map(({ id }: OperatorNumber) => id)).toEqual([number.id]);
    const change = { region: 'GB', default_number: number.id };
    expect(await (await owner.send('PATCH', place, change)).json()).toMatchObject(change);
    for (const wrong of [{ region: 'XX' }, { default_number: ids.next('num') }])
      expect((await owner.send('PATCH', place, wrong)).status).toBe(400);
    // Not even beside what it may change.
    const both = await owner.send('PATCH', place, { region: 'US', max_active_tasks: 5 });
    expect(both.status).toBe(403);
    await operator.send('PATCH', place, { max_active_calls: 7, max_active_tasks: 3 });
    const { account } = await owner.get<ConsoleAccountSettings>(`${place}/settings`);
    expect(account).toMatchObject({ ...change, max_active_calls: 7, max_active_tasks: 3 });
    const { data } = await owner.get<OperatorList<ConsoleAuditEntry>>(`/audit?account=${service.accountId}`);
    expect(data.filter(({ action }) => action === 'account.changed').map(({ details }) => details)).toEqual([
      { max_active_calls: 7, max_active_tasks: 3 },
      change,
    ]);
  });
});
