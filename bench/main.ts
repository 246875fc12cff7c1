/**
 * The benchmarks: each figure is a ratio to a limit that is measured in the same run, in turns with it, because
 * machines are noisy. `node bench/main.ts [section …]`; without names all sections run. See README.md.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { startPostgresServer } from '../packages/server/test/kit/postgres-server.ts';
import { acceptRuns } from '../packages/server/src/storage/acceptance.ts';
import {
  load,
  median,
  pgbench,
  startHello,
  startService,
  type BenchService,
  type Subject,
} from './processes.ts';

const clients = 64;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 4);

const postgres = await startPostgresServer({ fsync: true });
const workDir = mkdtempSync(join(tmpdir(), 'trunkcall-bench-'));
const pool = new Pool({ connectionString: postgres.url });
pool.on('error', () => undefined);

const variables = { customer_name: 'Ada Lovelace', order_reference: 'A-1042' };
const goalOf = ({ credentials }: BenchService) => credentials.goals['confirm-delivery'] ?? '';
const authorization = ({ credentials }: BenchService) => ({ authorization: `Bearer ${credentials.api_key}` });

function accepting(service: BenchService, connections: number, keyPrefix: string) {
  return {
    port: service.port,
    connections,
    seconds,
    method: 'POST' as const,
    path: `/v1/goals/${goalOf(service)}/runs`,
    headers: authorization(service),
    body: JSON.stringify({ phone: '+12025550100', variables }),
    keyPrefix,
    expect: 201,
  };
}

function polling(service: BenchService, runId: string, connections: number) {
  return {
    port: service.port,
    connections,
    seconds,
    method: 'GET' as const,
    path: `/v1/goals/${goalOf(service)}/runs/${runId}`,
    headers: authorization(service),
    expect: 200,
  };
}

async function createRun(service: BenchService, key: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${service.port}/v1/goals/${goalOf(service)}/runs`, {
    method: 'POST',
    headers: { ...authorization(service), 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ phone: '+12025550100', variables }),
  });
  return ((await response.json()) as { id: string }).id;
}

/** Measures two things in turns; the medians and the ratio of the first to the second. */
async function inTurns(
  title: string,
  unit: string,
  goal: string,
  subject: (round: number) => Promise<number>,
  limit: (round: number) => Promise<number>,
): Promise<void> {
  const subjects: number[] = [];
  const limits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    limits.push(await limit(round));
    subjects.push(await subject(round));
  }
  const ratios = subjects.map((value, round) => value / (limits[round] ?? Number.NaN));
  console.log(
    `${title}: ${format(median(subjects))} ${unit} against ${format(median(limits))}: ratio ${median(ratios).toFixed(2)}` +
      ` (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}; goal ${goal})`,
  );
}

const format = (value: number) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(3));

/** `acceptRuns` with one element per array, as a pgbench script. */
function acceptScript(service: BenchService, ids: { account_id: string; run_spec_id: string }): string {
  const values = [
    `array['run_' || :r::text]`,
    `array['grun_' || :r::text]`,
    `array['${ids.account_id}']`,
    `array['${goalOf(service)}']`,
    `array['${ids.run_spec_id}']`,
    'array[1]',
    `array['+12025550100']`,
    `array['${JSON.stringify(variables)}']`,
    `array['pgbench ' || :r::text]`,
    `array[sha256((:r::text)::bytea)]`,
    'array[null::timestamptz]',
  ];
  const text = acceptRuns.text.replace(/\$(\d+)/g, (_, place: string) => values[Number(place) - 1] ?? '');
  const path = join(workDir, 'accept.sql');
  writeFileSync(path, `\\set r random(1, 9000000000000000)\n${text};\n`);
  return path;
}

const sections: Record<string, (service: BenchService) => Promise<void>> = {
  /** Acceptance over HTTP against pgbench running the same statement for single rows. */
  async accept(service) {
    const { rows } = await pool.query<{ account_id: string; run_spec_id: string }>(
      'select account_id, published_run_spec_id as run_spec_id from goals where id = $1',
      [goalOf(service)],
    );
    const script = acceptScript(service, rows[0] ?? { account_id: '', run_spec_id: '' });
    await inTurns(
      `accepted Runs/s, ${clients} clients`,
      '/s',
      '≥ 1.0',
      async (round) => (await load(accepting(service, clients, `a${round} `))).perSecond,
      () => pgbench(postgres.url, script, clients, seconds),
    );
  },

  /** One client's acceptance against a bare commit: of one small row, and of the three rows that it writes. */
  async latency(service) {
    await pool.query('create table bare (id bigserial primary key, filler text)');
    const accepted = async (round: number) => (await load(accepting(service, 1, `l${round} `))).p50Ms;
    await inTurns('accept p50, 1 client, against a commit of one small row', 'ms', '≤ 2', accepted, () =>
      commitP50('bare', 'insert into bare (filler) values ($1)'),
    );
    await inTurns('accept p50, 1 client, against a commit of its three rows', 'ms', '≤ 2', accepted, () =>
      commitP50('three', threeRows),
    );
  },

  /** Polls against a bare Node server's answers. */
  async poll(service) {
    const hello = await startHello();
    const runId = await createRun(service, 'poll');
    await inTurns(
      `polls/s, ${clients} clients`,
      '/s',
      '≥ 0.4',
      async () => (await load(polling(service, runId, clients))).perSecond,
      async () => (await load(helloOrder(hello))).perSecond,
    );
    await hello.stop();
  },

  /** Replays of one key against new Runs. */
  async replay(service) {
    await createRun(service, 'replay!');
    await inTurns(
      `replays/s, ${clients} clients, against new Runs`,
      '/s',
      'for information',
      async () => (await load(accepting(service, clients, 'replay!'))).perSecond,
      async (round) => (await load(accepting(service, clients, `r${round} `))).perSecond,
    );
  },

  /** From the 201 to the call that leaves, against a bare NOTIFY → claim. */
  async dial() {
    const witness = join(workDir, 'dialled');
    writeFileSync(witness, '');
    await pool.query('delete from jobs');
    const service = await startService({
      BENCH_PROGRAM: 'witness-service.ts',
      BENCH_WITNESS: witness,
      TRUNKCALL_DATABASE_URL: postgres.url.replace(/postgres$/, 'bench_dial'),
    });
    const claim = await bareClaim();
    const dialled: number[] = [];
    const bare: number[] = [];
    for (let index = 0; index < 300; index += 1) {
      bare.push(await claim.once());
      const response = await fetch(`http://127.0.0.1:${service.port}/v1/goals/${goalOf(service)}/runs`, {
        method: 'POST',
        headers: {
          ...authorization(service),
          'content-type': 'application/json',
          'idempotency-key': `d${index}`,
        },
        // Nobody has this number: the call is over at once and does not disturb the next measurement.
        body: JSON.stringify({ phone: '+12025550108', variables }),
      });
      const acknowledgedAt = process.hrtime.bigint();
      await response.arrayBuffer();
      dialled.push(Number((await dialTime(witness, index)) - acknowledgedAt) / 1e6);
    }
    await claim.stop();
    await service.stop();
    for (const [name, share] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      const [ours, limit] = [quantile(dialled, share), quantile(bare, share)];
      console.log(
        `201 → dial ${name}: ${format(ours)} ms against ${format(limit)} for NOTIFY → claim: ratio ${(ours / limit).toFixed(2)} (goal ≤ 2)`,
      );
    }
  },

  /** The embedded default, for information. */
  async embedded() {
    const service = await startService({ TRUNKCALL_ROLES: 'api' });
    const { perSecond, p50Ms } = await load(accepting(service, clients, 'e'));
    console.log(
      `embedded: ${format(perSecond)} accepted Runs/s, p50 ${format(p50Ms)} ms, ${clients} clients (information)`,
    );
    await service.stop();
  },

  /** The same poll and list with a million Runs against an empty table. */
  async million() {
    const url = (name: string) => postgres.url.replace(/postgres$/, `bench_${name}`);
    const [empty, full] = await Promise.all(
      ['empty', 'full'].map((name) =>
        startService({ TRUNKCALL_ROLES: 'api', TRUNKCALL_DATABASE_URL: url(name) }),
      ),
    );
    if (empty === undefined || full === undefined) return;
    await fill(url('full'), goalOf(full));
    const ids = { empty: await createRun(empty, 'one'), full: await createRun(full, 'one') };
    const polled = (service: BenchService, id: string) =>
      load(polling(service, id, 8)).then(({ p50Ms }) => p50Ms);
    await inTurns(
      'poll p50 with 1,000,000 Runs',
      'ms',
      '≤ 1.5',
      () => polled(full, ids.full),
      () => polled(empty, ids.empty),
    );
    const listed = (service: BenchService) =>
      load({ ...polling(service, '', 8), path: '/v1/goals?limit=20' }).then(({ p50Ms }) => p50Ms);
    await inTurns(
      'list p50 with 1,000,000 Runs',
      'ms',
      '≤ 1.5',
      () => listed(full),
      () => listed(empty),
    );
    await empty.stop();
    await full.stop();
  },
};

/** The rows of an acceptance without any check, in one statement. */
const threeRows = `with key as (
    insert into idempotency_keys (scope, key, fingerprint, run_id) values ('bench', $1, sha256(convert_to($1, 'UTF8')), $1)
  ), job as (insert into jobs (queue, subject_id, account_id, due_at) values ('dial', $1, 'bench', now()))
  insert into runs (id, public_id, account_id, goal_id, run_spec_id, run_spec_version, phone, variables, status)
  values ($1, $1, 'bench', 'bench', 'bench', 1, '+12025550100', '${JSON.stringify(variables)}', 'in_progress')`;

async function commitP50(name: string, text: string): Promise<number> {
  const client = await pool.connect();
  try {
    const times: number[] = [];
    const stopAt = performance.now() + seconds * 1_000;
    while (performance.now() < stopAt) {
      const startedAt = performance.now();
      await client.query({ name, text, values: [randomUUID()] });
      times.push(performance.now() - startedAt);
    }
    return quantile(times, 0.5);
  } finally {
    client.release();
  }
}

function helloOrder(hello: Subject) {
  return {
    port: hello.port,
    connections: clients,
    seconds,
    method: 'GET' as const,
    path: '/',
    headers: {},
    expect: 200,
  };
}

/** A row is inserted with a NOTIFY; a listener claims it. Milliseconds from the commit's answer to the claim's. */
async function bareClaim(): Promise<{ once(): Promise<number>; stop(): Promise<void> }> {
  await pool.query('create table bare_jobs (id bigserial primary key, worker text)');
  const listener = new Client({ connectionString: postgres.url });
  await listener.connect();
  await listener.query('listen bare_jobs');
  let claimed: () => void = () => undefined;
  listener.on('notification', () => {
    const text = `update bare_jobs set worker = 'w' where id = (
      select id from bare_jobs where worker is null order by id limit 1 for update skip locked) returning id`;
    void listener.query({ name: 'claim', text }).then(() => claimed());
  });
  const insert = {
    name: 'insert',
    text: `with job as (insert into bare_jobs default values) select pg_notify('bare_jobs', '')`,
  };
  return {
    async once() {
      const done = new Promise<bigint>((resolve) => {
        claimed = () => resolve(process.hrtime.bigint());
      });
      await pool.query(insert);
      const committedAt = process.hrtime.bigint();
      return Number((await done) - committedAt) / 1e6;
    },
    stop: () => listener.end(),
  };
}

/** When call number `index` left, as the witness wrote it down. */
async function dialTime(witness: string, index: number): Promise<bigint> {
  for (let tries = 0; tries < 5_000; tries += 1) {
    const line = readFileSync(witness, 'utf8').split('\n')[index];
    if (line !== undefined && line !== '') return BigInt(line);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error('nothing was dialled');
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}

/** A million finished Runs of one Goal, with their keys. */
async function fill(url: string, goalId: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    `insert into runs (id, public_id, account_id, goal_id, run_spec_id, run_spec_version, phone, variables, status,
                       result, created_at, completed_at)
     select 'run_' || lpad(n::text, 26, '0'), 'grun_' || lpad(n::text, 26, '0'), g.account_id, g.id,
            g.published_run_spec_id, 1, '+12025550100', '{"customer_name":"Ada","order_reference":"A-1042"}', 'completed',
            '{"somebody_home":true}', now() - interval '1 day', now() - interval '1 day'
     from generate_series(1, 1000000) n, goals g where g.id = $1`,
    [goalId],
  );
  await client.query(
    `insert into idempotency_keys (scope, key, fingerprint, run_id)
     select goal_id, id, sha256(id::bytea), id from runs`,
  );
  await client.end();
}

// A benchmark that is stopped must leave no server behind.
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(1));

const wanted = process.argv.slice(2);
try {
  for (const name of ['bench_dial', 'bench_empty', 'bench_full']) await pool.query(`create database ${name}`);
  const service = await startService({ TRUNKCALL_ROLES: 'api', TRUNKCALL_DATABASE_URL: postgres.url });
  for (const [name, section] of Object.entries(sections)) {
    if (wanted.length === 0 || wanted.includes(name)) await section(service);
  }
  await service.stop();
} finally {
  await pool.end();
  await postgres.stop();
  rmSync(workDir, { recursive: true, force: true });
}
