import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { followLink } from '../../server/src/authoring/people.ts';
import { sweepUsage } from '../../server/src/billing/sweep.ts';
import { ids, startOperatorService, type OperatorService } from '../../server/test/flows/operator/service.ts';
import { insertEnded, sweepDependencies } from '../../server/test/kit/ended-attempts.ts';
import { createSimulatedNetwork } from '../../server/src/carriers/simulated/network.ts';
import { systemClock } from '../../server/src/platform/clock.ts';
import { createLog } from '../../server/src/platform/log.ts';
import { beat } from '../../server/src/storage/workers.ts';
import { createTestCaller } from '../../server/src/worker/test-calls.ts';
import { goalFile, setTitle } from '../../server/test/kit/fixtures.ts';
import { run } from '../src/program.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

interface Ended {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

let service: OperatorService;
/** Holds `data/credentials.json`, as a first start leaves it, and Goal files. */
let directory: string;

beforeAll(async () => {
  service = await startOperatorService('embedded');
  directory = await mkdtemp(join(tmpdir(), 'cli-'));
  process.chdir(directory);
  await writeFile(
    join(directory, 'credentials.json'),
    JSON.stringify({ base_url: service.origin, operator_token: service.token }),
  );
  await writeFile(join(directory, 'goal.json'), JSON.stringify(goalFile({ title: 'A title' })));
  await writeFile(join(directory, 'wrong.yaml'), 'format: 1\ntitle: 7\ndescription: "\\e[31m"\n');
});
afterAll(async () => {
  process.chdir(tmpdir());
  await service.close();
  await rm(directory, { recursive: true });
});

type Env = Readonly<Record<string, string>>;

/** Runs a command line as the program does, in this process. */
async function trunkcall(args: readonly string[], env: Env = { TRUNKCALL_DATA_DIR: directory }) {
  let out = '';
  let err = '';
  const exit = await run(args, { env, out: (text) => (out += text), err: (text) => (err += text) });
  return { exit, out, err };
}

/** Runs the real program in a process of its own. */
function spawned(args: readonly string[], env: Env = { TRUNKCALL_DATA_DIR: directory }) {
  return new Promise<Ended>((resolve) => {
    const child = spawn(process.execPath, [main, ...args], { cwd: directory, env, timeout: 60_000 });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.on('close', (exit) => resolve({ exit, out, err }));
  });
}

/** Runs it with --json; the standard output must be exactly one document. */
async function json<T>(...args: string[]): Promise<T> {
  const { exit, out, err } = await trunkcall([...args, '--json']);
  expect({ exit, err }).toEqual({ exit: 0, err: '' });
  return JSON.parse(out) as T;
}

interface Id {
  readonly id: string;
}

async function publishedGoal(account: string): Promise<string> {
  const { id } = await json<Id>('goals', 'apply', join(directory, 'goal.json'), '--account', account);
  await json('goals', 'publish', id);
  return id;
}

async function newRun(account: string, goalId: string): Promise<string> {
  const developer = await service.developer(account);
  return (await developer.createRun(goalId, { phone: '+12125550100', variables: { name: 'Ada' } })).run.id;
}

test('accounts are created and listed', async () => {
  const { id } = await json<Id>('accounts', 'create', 'first');
  expect(id).toMatch(/^acct_/);
  expect(await json('accounts', 'list')).toMatchObject({ data: [{ id, name: 'first' }] });
  const { exit, out } = await trunkcall(['accounts', 'list']);
  const [head, row] = out.split('\n');
  expect(exit).toBe(0);
  expect(head).toMatch(/^NAME +ID +CALLS +CREATED$/);
  expect(row).toMatch(new RegExp(`^first +${id} +0/10 +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d$`));
});

test(
  'what calls would cost is shown by day, Goal and call, in words, JSON and CSV',
  { timeout: 180_000 },
  async () => {
    const { id: accountId } = await json<Id>('accounts', 'create', 'spender');
    const goalId = await publishedGoal('spender');
    const { db } = service.database;
    const call = { accountId, goalId, dialedAt: new Date('2026-03-05T10:00:00Z') };
    await insertEnded(db, ids, { ...call, lastsMs: 60_001 });
    await insertEnded(db, ids, { ...call, lastsMs: 5_000, phone: '+442079460000' });
    await sweepUsage(sweepDependencies(db, ids));
    const march = ['--from', '2026-03-01', '--to', '2026-03-31'];
    const spent = ['--account', 'spender', ...march];
    expect(await json('usage', ...spent)).toMatchObject({
      by: 'day',
      totals: { total: '0.1584', carrier_unknown: 1 },
    });
    expect((await trunkcall(['usage', ...spent])).out.split('\n')).toEqual([
      '2026-03-01 to 2026-03-31, USD. Preview of prices; nothing is charged. The success fee is waived.',
      '',
      'DAY         CALLS  ANSWERED  MODEL   CARRIER   TOTAL',
      '2026-03-05  2      2         0.1184  ≥ 0.0400  ≥ 0.1584',
      '',
      'total: ≥ 0.1584 USD (a carrier fee is unknown)',
      'budget: none',
      '',
    ]);
    const byGoal = await trunkcall(['usage', ...spent, '--by', 'goal']);
    expect(byGoal.out).toContain(`${goalId}  A title  2 `);
    const byCall = await trunkcall(['usage', ...spent, '--by', 'call']);
    expect(byCall.out).toMatch(/2026-03-05  grun_\w+  goal  GB       5        0\.0148  unknown  unknown/);
    const { out: csv } = await trunkcall(['usage', ...spent, '--by', 'call', '--csv']);
    expect(csv.split('\r\n').map((line) => line.split(',').length)).toEqual([22, 22, 22, 1]);
    const all = await trunkcall(['usage', ...march]);
    expect(all.out).toMatch(/\nspender  2      2         0\.1184  ≥ 0\.0400  ≥ 0\.1584\n/);
    expect((await trunkcall(['usage', ...march, '--csv'])).out).toContain(`\r\n${accountId},spender,2,`);

    const budget = await trunkcall(['accounts', 'set', 'spender', '--monthly-budget', '12.5']);
    expect(budget.out).toMatch(/\nmonthly budget +12\.5000 USD\n/);
    expect((await trunkcall(['usage', ...spent])).out).toMatch(
      /budget of \d{4}-\d\d: 0\.0000 of 12\.5000 USD \(0 %\)/,
    );
    const unset = ['--monthly-budget=none', '--max-tasks=default', '--default-number=shared'];
    expect(await json('accounts', 'set', 'spender', ...unset)).toMatchObject({
      monthly_budget: null,
      max_active_tasks: null,
      default_number: null,
    });
    const [run] = (
      await service.operator.usage('spender', { from: '2026-03-01', to: '2026-03-31', by: 'call' })
    ).data;
    expect((await trunkcall(['runs', 'show', run?.run_id ?? ''])).out).toContain(
      'cost (preview, not charged): ',
    );
  },
);

test.each([
  [['--by', 'day'], '--by needs --account'],
  [['--account', 'spender', '--after', 'att_1'], '--after goes with --by call'],
  [['--csv', '--json'], '--csv and --json can not both be'],
  [['--account', 'spender', '--by', 'hour'], 'Allowed choices are day, goal, call'],
])('usage %j is a wrong use: %s', async (args, message) => {
  const { exit, err, out } = await trunkcall(['usage', ...args]);
  expect([exit, out]).toEqual([2, '']);
  expect(err).toContain(message);
});

test('the first sentence is left out with a reason, and said again', async () => {
  await json('accounts', 'create', 'quiet');
  const reason = 'Every customer has agreed in writing.';
  expect(await json('accounts', 'set', 'quiet', '--disclosure-off', reason)).toMatchObject({
    disclosure: { off: true, reason, by: null },
  });
  const { out } = await trunkcall(['accounts', 'set', 'quiet', '--max-calls', '3']);
  expect(out).toMatch(/disclosure +off since .* by the operator API: Every customer has agreed in writing\./);
  const both = ['accounts', 'set', 'quiet', '--disclosure-on', '--disclosure-off', reason];
  expect((await trunkcall(both)).exit).not.toBe(0);
  expect((await trunkcall(['accounts', 'set', 'quiet', '--disclosure-off', 'no'])).exit).not.toBe(0);
  expect(await json('accounts', 'set', 'quiet', '--disclosure-on')).toMatchObject({
    disclosure: { off: false },
  });
});

test('a key is printed once, works with the scopes it was given, and can be revoked', async () => {
  await json('accounts', 'create', 'keyed');
  const created = await json<Id & { key: string; regions: string[] }>(
    'keys',
    'create',
    '--account=keyed',
    '--scope=goals:read',
    '--scope=runs:read',
    '--region=US',
    '--expires-at=2099-01-01T00:00:00Z',
  );
  expect(created).toMatchObject({ scopes: ['goals:read', 'runs:read'], regions: ['US'] });
  const list = () =>
    fetch(`${service.origin}/v1/goals`, { headers: { authorization: `Bearer ${created.key}` } });
  expect((await list()).status).toBe(200);
  expect(await json('keys', 'revoke', created.id)).toMatchObject({ id: created.id });
  expect((await list()).status).toBe(401);
  const { out } = await trunkcall(['keys', 'create', '--account', 'keyed']);
  expect(out).toMatch(/^key +tc_test_\S+\n/);
});

test('a webhook endpoint goes through its whole life, with its deliveries', async () => {
  await json('accounts', 'create', 'hooked');
  const url = 'https://receiver.example/hook';
  const added = await json<Id & { secret: string }>(
    'webhooks',
    'add',
    url,
    '--account=hooked',
    '--type=call.failed',
    '--description=Ops',
    '--signed',
  );
  expect(added).toMatchObject({ url, types: ['call.failed'], description: 'Ops', signed: true });
  expect(added.secret).toMatch(/^whsec_/);
  expect(await json('webhooks', 'list', '--account', 'hooked')).toMatchObject({ data: [{ id: added.id }] });
  const rotated = await trunkcall(['webhooks', 'rotate-secret', added.id]);
  expect(rotated.out).toMatch(/^secret +whsec_\S+\n/);

  const delivery = await json<Id>('webhooks', 'test', added.id);
  expect(await json('webhooks', 'deliveries', '--webhook', added.id, '--state', 'pending')).toMatchObject({
    data: [{ id: delivery.id, type: 'webhook.test' }],
  });
  const shown = await trunkcall(['webhooks', 'delivery', delivery.id]);
  expect(shown.out).toContain('"type":"webhook.test"');
  expect(await json('webhooks', 'replay', delivery.id)).toMatchObject({ id: delivery.id, state: 'pending' });

  expect(await json('webhooks', 'disable', added.id)).toMatchObject({ enabled: false });
  const table = await trunkcall(['webhooks', 'list', '--account', 'hooked']);
  expect(table.out).toMatch(new RegExp(`${added.id} +disabled \\(operator\\) +yes +${url} +Ops`));
  expect((await trunkcall(['webhooks', 'deliveries', '--webhook', added.id])).out).toContain(delivery.id);
  expect(await json('webhooks', 'enable', added.id)).toMatchObject({ enabled: true });
  expect(await json('webhooks', 'remove', added.id)).toMatchObject({ id: added.id });
  expect(await json('webhooks', 'list', '--account', 'hooked')).toMatchObject({ data: [] });
});

test('processes are listed, drained and resumed', async () => {
  const id = 'wrk_0123456789abcdefghjkmnpqrs';
  const { db } = service.database;
  await db.query(beat, [id, 'host-1', '1.2.3', ['worker'], 2, '[]', '[]', false]);
  const { out } = await trunkcall(['workers', 'list']);
  expect(out).toMatch(/^ID .*\nwrk_\w+ +host-1 +worker +alive +2 +1\.2\.3 /);
  expect((await trunkcall(['workers', 'drain', id])).out).toMatch(/state +to drain/);
  await db.query(beat, [id, 'host-1', '1.2.3', ['worker'], 0, '[]', '[]', true]);
  expect((await trunkcall(['workers', 'list'])).out).toContain('drained');
  expect(await json('workers', 'resume', id)).toMatchObject({ id, drain_requested_at: null });
  expect(await trunkcall(['workers', 'drain', 'wrk_1'])).toMatchObject({ exit: 1 });
});

test(
  'a test call is followed step by step; it ends with 1 when it did not pass',
  { timeout: 90_000 },
  async () => {
    const caller = createTestCaller({
      db: service.database.db,
      clock: systemClock,
      log: createLog('silent'),
      carrier: createSimulatedNetwork({ clock: systemClock, speed: Number.POSITIVE_INFINITY }),
      synthesizer: null,
      name: 'wrk_0123456789abcdefghjkmnpqrt',
    });
    const looking = setInterval(() => void caller.look(false), 100);
    try {
      expect((await trunkcall(['trunks', 'list'])).out).toMatch(/^TRUNK .*\nsimulated /);
      const passed = await trunkcall(['trunks', 'test', 'simulated', '+12025550100']);
      expect(passed).toMatchObject({ exit: 0, err: '' });
      expect(passed.out).toMatch(/\d {2}claimed\n[^]* {2}ringing\n[^]* {2}ended\n[^]*outcome +passed/);
      const busy = await trunkcall(['trunks', 'test', 'simulated', '+12025550102']);
      expect(busy.exit).toBe(1);
      expect(busy.out).toMatch(/SIP status +486/);
    } finally {
      clearInterval(looking);
      await caller.stop();
    }
  },
);

test('a Goal goes through its whole life', async () => {
  await json('accounts', 'create', 'author');
  const file = join(directory, 'goal.json');
  const { id } = await json<Id>('goals', 'apply', file, '--account', 'author');
  expect(await json('goals', 'apply', file, '--account', 'author', '--goal', id)).toMatchObject({
    id,
    state: 'draft',
  });
  expect(await json('goals', 'publish', id)).toMatchObject({
    state: 'active',
    published_run_spec: { version: 1 },
  });
  expect(await json('goals', 'hide', id)).toMatchObject({ listed: false });
  expect(await json('goals', 'list-publicly', id)).toMatchObject({ listed: true });
  expect(await json('goals', 'pause', id)).toMatchObject({ state: 'paused' });
  expect(await json('goals', 'resume', id)).toMatchObject({ state: 'active' });
  expect(await json('goals', 'unpublish', id)).toMatchObject({ published_run_spec: null });
  expect(await json('goals', 'retire', id)).toMatchObject({ state: 'retired' });
  expect(await json('goals', 'show', id)).toMatchObject({ id, versions: [{ version: 1, runs: 0 }] });
  expect(await json('goals', 'list', '--account', 'author')).toMatchObject({ data: [{ id }] });
});

test('what authors wrote can not steer the terminal', async () => {
  await json('accounts', 'create', 'painter');
  const id = await publishedGoal('painter');
  // Stored before titles had to be printable.
  await service.database.db.query(setTitle, [id, 'A\u001b[31m title']);
  for (const args of [
    ['show', id],
    ['list', '--account', 'painter'],
  ]) {
    const { exit, out } = await trunkcall(['goals', ...args]);
    expect(exit).toBe(0);
    expect(out).toContain('A\uFFFD[31m title');
    expect(out).not.toContain('\u001b');
  }
});

describe('a Goal file', () => {
  test('that is valid passes', async () => {
    expect(await json('goals', 'validate', join(directory, 'goal.json'))).toEqual({ valid: true });
  });

  test.each([['validate'], ['apply']])(
    'that is wrong is named with file, line and column by %s',
    async (command) => {
      const account =
        command === 'apply' ? ['--account', (await json<Id>('accounts', 'create', 'clumsy')).id] : [];
      const { exit, out, err } = await trunkcall(['goals', command, 'wrong.yaml', ...account]);
      expect(exit).toBe(1);
      expect(out).toBe('');
      expect(err).toContain('wrong.yaml:2:1: title must be a string\n');
      expect(err).toMatch(/wrong\.yaml:3:1: description must have no control characters .* U\+001B\n/);
      const machine = await trunkcall(['goals', command, 'wrong.yaml', ...account, '--json']);
      expect(machine).toMatchObject({ exit: 1, out: '' });
      expect(JSON.parse(machine.err)).toMatchObject({
        error: {
          code: 'goal_invalid',
          details: { problems: expect.arrayContaining([expect.objectContaining({ line: 2, column: 1 })]) },
        },
      });
    },
  );

  test('that is not there is one clear line', async () => {
    const { exit, err } = await trunkcall(['goals', 'validate', 'nowhere.yaml']);
    expect({ exit, err }).toEqual({ exit: 1, err: 'nowhere.yaml can not be read\n' });
  });
});

describe('a test of a Goal', () => {
  const goal = (says: string) =>
    goalFile({
      callees: [
        {
          phone: '+12125550141',
          name: 'Ada',
          variables: { name: 'Ada' },
          says: { confirmed: says },
          expect: { result: { confirmed: true } },
        },
        { phone: '+12125550142', variables: { name: 'Bob' }, does: 'busy' },
      ],
    });
  beforeAll(async () => {
    await writeFile(join(directory, 'agrees.json'), JSON.stringify(goal('Yes.')));
    await writeFile(join(directory, 'disagrees.json'), JSON.stringify(goal('No.')));
    await writeFile(
      join(directory, 'nobody.json'),
      JSON.stringify(goalFile({ callees: [{ phone: '+12125550141' }] })),
    );
  });

  const nowhere = { PATH: '' };

  test.each([
    ['by the service', []],
    ['in this process, without a service or a setting', ['--local']],
  ])('prints a table and succeeds when all is as expected, %s', async (_how, more) => {
    const env = more.length === 0 ? { TRUNKCALL_DATA_DIR: directory } : nowhere;
    const { exit, out, err } = await spawned(['goals', 'test', 'agrees.json', ...more], env);
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(out).toMatch(/^✓ {2}Ada {7}a result/m);
    expect(out).toMatch(/^\? {2}callee 2 {2}no_answer: busy$/m);
    expect(out).toContain('1 passed, 0 failed, 1 not judged');
  });

  test('fails with the difference and the conversation when one is not', async () => {
    const { exit, out } = await trunkcall(['goals', 'test', 'disagrees.json']);
    expect(exit).toBe(1);
    expect(out).toContain('✗ Ada\n  /result/confirmed: expected true, was false\n');
    expect(out).toMatch(/^ {2}\d:\d\d user: No\.$/m);
  });

  test('takes the draft of a Goal by its id, and prints one document for machines', async () => {
    const { id: account } = await json<Id>('accounts', 'create', 'tester');
    const { id } = await json<Id>('goals', 'apply', join(directory, 'agrees.json'), '--account', account);
    expect(await json('goals', 'test', id, '--agent', 'scripted')).toMatchObject({
      object: 'goal_test',
      passed: 1,
      callees: [{ name: 'Ada' }, { name: 'callee 2' }],
    });
  });

  test.each([['--local'], ['--json']])(
    'names the file and the place of what is missing, with %s',
    async (flag) => {
      const { exit, err } = await trunkcall(['goals', 'test', 'nobody.json', flag]);
      expect(exit).toBe(1);
      expect(err).toContain('nobody.json');
      expect(err).toContain('callee 1: variables.name is required');
    },
  );

  test('says why an agent can not speak', async () => {
    const { exit, err } = await spawned(
      ['goals', 'test', 'agrees.json', '--agent', 'realtime', '--local'],
      nowhere,
    );
    expect(exit).toBe(1);
    expect(err).toContain('TRUNKCALL_REALTIME_API_KEY');
    expect((await trunkcall(['goals', 'test', 'agrees.json', '--agent', 'parrot'])).exit).toBe(2);
  });
});

describe('a Run', () => {
  let account: string;
  let goalId: string;
  beforeAll(async () => {
    account = (await json<Id>('accounts', 'create', 'caller')).id;
    goalId = await publishedGoal(account);
  });

  test('is listed, shown and canceled', async () => {
    const id = await newRun(account, goalId);
    expect(await json('runs', 'list', '--goal', goalId)).toMatchObject({ data: [{ id }] });
    expect(await json('runs', 'show', id)).toMatchObject({
      id,
      events: [{ type: 'call.accepted' }],
      attempts: [],
    });
    expect(await json('runs', 'cancel', id)).toMatchObject({ id, status: 'canceled' });
    const shown = await trunkcall(['runs', 'show', id]);
    expect(shown.out).toMatch(/outcome +canceled \(operator\)/);
    expect(shown.out).toMatch(/Events\n +\d\d:\d\d:\d\d {2}call\.accepted/);
    const again = await trunkcall(['runs', 'cancel', id]);
    expect(again).toMatchObject({ exit: 1, err: 'the Run has already ended (run_not_cancelable)\n' });
  });

  test('is watched until it has ended', async () => {
    const id = await newRun(account, goalId);
    const watching = trunkcall(['runs', 'watch', id]);
    await service.operator.cancelRun(id);
    const { exit, out } = await watching;
    expect(exit).toBe(0);
    expect(out.indexOf('call.accepted')).toBeLessThan(out.indexOf('canceled (operator)'));
    expect(await json('runs', 'watch', id)).toMatchObject({ id, error: { code: 'canceled' } });
  });
});

test('the check-up ends with 0 when all is well, and prints its report', async () => {
  expect(await json('doctor')).toMatchObject({ problems: [], environment: 'test' });
  const { exit, out } = await trunkcall(['doctor']);
  expect(exit).toBe(0);
  expect(out).toContain('All is well.');
});

test('the check-up ends with 1 when something needs attention', async () => {
  const { id } = await service.operator.createAccount('german');
  const text = JSON.stringify(goalFile({ locale: 'de-DE' }));
  const goal = await service.operator.applyGoal(id, { text, mediaType: 'application/json' });
  await service.operator.commandGoal(goal.id, 'publish');
  const { exit, out } = await trunkcall(['doctor']);
  expect(exit).toBe(1);
  expect(out).toContain(`! ${goal.id} is not ready: no agent speaks de-DE`);
  await service.operator.commandGoal(goal.id, 'retire');
});

describe('what is not right is said in one clear line', () => {
  test('a refusal ends with 1, for machines as JSON on the standard error', async () => {
    const { exit, out, err } = await spawned(['--json', 'goals', 'show', 'goal_x']);
    expect({ exit, out }).toEqual({ exit: 1, out: '' });
    expect(JSON.parse(err)).toMatchObject({
      error: { code: 'not_found', status: 404, request_id: expect.any(String) },
    });
  });

  test.each([
    [['goals', 'list']],
    [['goals', 'apply', 'goal.json']],
    [['keys', 'create', '--account', 'a', '--scope', 'everything']],
    [['runs', 'show']],
    [['frobnicate']],
    [['accounts', 'create', 'a', 'b']],
    [[]],
  ])('%j is wrong usage and ends with 2', async (args) => {
    const { exit, out, err } = await trunkcall(args);
    expect({ exit, out }).toEqual({ exit: 2, out: '' });
    expect(err).not.toBe('');
    const machine = await trunkcall([...args, '--json']);
    expect({ exit: machine.exit, out: machine.out }).toEqual({ exit: 2, out: '' });
    expect(JSON.parse(machine.err)).toMatchObject({ error: { code: 'usage' } });
  });

  test('help is no mistake', async () => {
    const { exit, out, err } = await spawned(['--help']);
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(out).toContain('serve');
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['no address', {}, /^TRUNKCALL_URL is not set and data.credentials\.json does not give it/],
    ['no token', { TRUNKCALL_URL: 'http://127.0.0.1:9' }, /^TRUNKCALL_OPERATOR_TOKEN is not set/],
    [
      'a bad address',
      { TRUNKCALL_URL: 'localhost:80', TRUNKCALL_OPERATOR_TOKEN: 't' },
      /^TRUNKCALL_URL must be an http/,
    ],
  ])('%s ends with 2', async (_name, env, message) => {
    const { exit, out, err } = await trunkcall(['accounts', 'list'], env);
    expect({ exit, out }).toEqual({ exit: 2, out: '' });
    expect(err).toMatch(message);
    expect(err.trimEnd()).not.toContain('\n');
  });

  test('a wrong token is unauthorized', async () => {
    const env = { TRUNKCALL_URL: service.origin, TRUNKCALL_OPERATOR_TOKEN: 'wrong' };
    const { exit, err } = await trunkcall(['accounts', 'list'], env);
    expect(exit).toBe(1);
    expect(err).toContain('(unauthorized)');
  });

  test('a service that is not there is unreachable', async () => {
    const env = { TRUNKCALL_URL: 'http://127.0.0.1:9', TRUNKCALL_OPERATOR_TOKEN: 't' };
    const { exit, err } = await trunkcall(['accounts', 'create', 'a'], env);
    expect(exit).toBe(1);
    expect(err).toMatch(/is the service running/);
  });
});

test('people are invited, get roles, and go', async () => {
  await json('accounts', 'create', 'staffed');
  const account = ['--account', 'staffed'];
  const invited = await trunkcall(['people', 'invite', 'ada@example.com', '--role', 'viewer', ...account]);
  expect(invited.out).toContain('/console/join#');
  const token = /join#(\S+)/.exec(invited.out)?.[1] ?? '';
  await trunkcall(['people', 'invite', 'bob@example.com', '--role', 'owner', ...account]);
  const open = await trunkcall(['people', 'invitations', ...account]);
  expect(open.out).toMatch(/ada@example.com +viewer[^]*bob@example.com +owner/);
  expect(await json('people', 'withdraw', 'bob@example.com', ...account)).toMatchObject({
    data: [{ email: 'bob@example.com', role: 'owner' }],
  });
  const order = { token, email: null, name: 'Ada', passwordHash: 'none' };
  const id = await service.database.db.transaction((tx) => followLink(tx, ids, order));
  const { out } = await trunkcall(['people', 'list', ...account]);
  expect(out).toContain('ada@example.com');
  expect(await json('people', 'role', id, 'author', ...account)).toMatchObject({ id, role: 'author' });
  expect(await json('people', 'leave', id, ...account)).toMatchObject({ id, role: null });
  expect(await json('people', 'password-link', id)).toMatchObject({ token: expect.any(String) });
  expect(await json('people', 'remove', id)).toMatchObject({ id, email: 'ada@example.com' });
  expect(await trunkcall(['people', 'invite', 'ada@example.com', ...account])).toMatchObject({ exit: 2 });
});

test('numbers are entered, answered by a Goal, and forgotten', async () => {
  await json('accounts', 'create', 'answering');
  const goal = goalFile({
    instructions: 'Help.',
    input_schema: { ...goalFile().input_schema, required: [] },
  });
  await writeFile(join(directory, 'answering.json'), JSON.stringify(goal));
  const file = join(directory, 'answering.json');
  const { id: goalId } = await json<Id>('goals', 'apply', file, '--account', 'answering');
  const number = ['numbers', 'add', '+12025550142', '--account', 'answering', '--label', 'Support'];
  const { err } = await trunkcall([...number.slice(0, -1), 'Sup\u202eport']);
  expect(err).toContain('label must be one line');
  const { id } = await json<Id>(...number);
  expect(await json('numbers', 'set', id, '--goal', goalId)).toMatchObject({ inbound_goal_id: goalId });
  const { out } = await trunkcall(['numbers', 'list']);
  expect(out).toMatch(
    /PHONE +ID +ACCOUNT +ANSWERED BY .*\n\+12025550142 +num_\w+ +acct_\w+ +goal_\w+ .* Support\n/,
  );
  expect(await json('numbers', 'set', id, '--goal', 'none')).toMatchObject({ inbound_goal_id: null });
  // The process of this test has no simulated network.
  expect(await trunkcall(['numbers', 'ring', id, '--from', 'anonymous', '--does', 'opts_out'])).toMatchObject(
    {
      exit: 1,
      err: expect.stringContaining('calls are simulated only in the environment test') as string,
    },
  );
  expect(await json('numbers', 'set', id, '--account', 'shared')).toMatchObject({ account_id: null });
  expect(await json('numbers', 'remove', id)).toMatchObject({ id });
  expect(await json('accounts', 'set', 'answering', '--max-inbound-calls', '3')).toMatchObject({
    max_inbound_calls: 3,
  });
  expect(await json('runs', 'list', '--direction', 'inbound')).toMatchObject({ data: [] });
});
