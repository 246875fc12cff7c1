/**
 * How webhooks are delivered: `node bench/webhooks.ts`. Each figure is a ratio to a limit that is measured in the same
 * run, in turns with it. The receiver is a thread of its own, on loopback with TLS; database, deliverer and receiver
 * share the machine.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { Pool } from 'pg';
import { migrate } from '../packages/server/src/storage/migrate.ts';
import { openPostgres } from '../packages/server/src/storage/postgres.ts';
import { statement } from '../packages/server/src/storage/database.ts';
import { createWebhookHarness, ids, until } from '../packages/server/test/flows/webhooks/harness.ts';
import { startPostgresServer } from '../packages/server/test/kit/postgres-server.ts';
import { authorities, startReceiver } from '../packages/server/test/kit/receiver.ts';
import { median } from './processes.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const deliveries = 3_000;
const parallel = 16;
const samples = 150;
const pending = 10_000;

interface Arrival {
  readonly id: string;
  /** On the machine's monotonic clock, which threads share, milliseconds. */
  readonly at: number;
}

const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Answers at once, except below `/hang`; says when each request came. */
async function runReceiver(): Promise<void> {
  const receiver = await startReceiver(({ path, headers }, response) => {
    if (path === '/hang') return;
    if (path !== '/quiet') {
      const arrival: Arrival = { id: String(headers['trunkcall-event-id']), at: monotonic() };
      parentPort?.postMessage(arrival, []);
    }
    response.writeHead(204).end();
  });
  parentPort?.postMessage(receiver.port, []);
}

const fill = statement<never>(
  'bench_fill',
  `with events as (
     insert into webhook_events (id, account_id, type, body)
     select 'evt_' || $3 || i, account_id, 'call.completed', $4
     from webhook_endpoints cross join generate_series(1, $2::int) i where id = $1
     returning id
   )
   insert into webhook_deliveries (id, event_id, endpoint_id, url, lane)
   select replace(e.id, 'evt_', 'dlv_'), e.id, w.id, w.url, w.id
   from events e cross join webhook_endpoints w where w.id = $1`,
);
/** Asked often while deliveries are measured, so it must cost nothing. */
const isOpen = statement<{ open: boolean }>(
  'bench_open',
  `select exists (select 1 from webhook_deliveries where state = 'ready' and lane > '')
       or exists (select 1 from webhook_deliveries where state = 'sending' and leased_until > '-infinity') as open`,
);
const clear = statement<never>('bench_clear', 'delete from webhook_deliveries');

const body = JSON.stringify({ id: 'evt_bench', type: 'call.completed', data: { text: 'x'.repeat(2_000) } });

async function main(): Promise<void> {
  const thread = new Worker(new URL(import.meta.url));
  const [port] = (await once(thread, 'message')) as [number];
  const arrivals = new Map<string, number>();
  thread.on('message', ({ id, at }: Arrival) => arrivals.set(id, at));
  const origin = `https://127.0.0.1:${port}`;

  const postgres = await startPostgresServer({ fsync: true });
  const db = openPostgres({ url: postgres.url });
  await migrate(db);
  const harness = await createWebhookHarness({ db, allow: [`127.0.0.1:${port}`], logLevel: 'info' });
  const endpoint = async (path: string): Promise<string> => {
    const made = {
      accountId: harness.accountId,
      url: origin + path,
      types: null,
      description: '',
      signed: false,
    };
    const { endpoint } = await harness.endpoints.create(made);
    await harness.endpoints.disable(endpoint.id);
    return endpoint.id;
  };
  const [loud, quiet, dead] = [await endpoint('/'), await endpoint('/quiet'), await endpoint('/hang')];
  const deliverer = await harness.start({ perReceiver: parallel, pollMs: 250 });
  await harness.endpoints.enable(loud);

  /** From the commit of an event to its arrival. */
  async function latency(): Promise<number> {
    const { eventId } = await harness.publish();
    const committedAt = monotonic();
    return (await until(() => arrivals.get(eventId))) - committedAt;
  }

  await ratio(
    'commit → first byte at the receiver',
    'ms',
    '≤ 2',
    async () => median(await each(samples, latency)),
    await barePickUp(postgres.url, origin, arrivals),
  );
  await ratio(
    'deliveries',
    '/s',
    '≥ 0.5',
    async () => {
      await fillAndEnable(quiet);
      const startedAt = performance.now();
      deliverer.wake();
      await until(async () => (await db.query(isOpen))[0]?.open === false);
      return (deliveries * 1_000) / (performance.now() - startedAt);
    },
    barePosts(`${origin}/quiet`),
  );
  const idle = percentile99(await each(samples * 2, latency));
  await db.query(clear);
  await harness.endpoints.enable(dead);
  await db.query(fill, [dead, pending, ids.next('evt').slice(4), body]);
  deliverer.wake();
  const beside = percentile99(await each(samples * 2, latency));
  show('p99 beside 10,000 pending of a dead endpoint', 'ms', '≤ 2', beside, idle);

  await harness.stop();
  await db.close();
  await postgres.stop();
  await thread.terminate();

  async function fillAndEnable(id: string): Promise<void> {
    await harness.endpoints.enable(id);
    await db.query(fill, [id, deliveries, ids.next('evt').slice(4), body]);
    await harness.endpoints.enable(id);
  }
}

async function each(count: number, measure: () => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  for (let index = 0; index < count; index += 1) values.push(await measure());
  return values;
}

/** Measures both in turns, after one round that does not count. */
async function ratio(
  name: string,
  unit: string,
  goal: string,
  ours: () => Promise<number>,
  limit: () => Promise<number>,
): Promise<void> {
  const [measured, limits]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    limits.push(await limit());
    measured.push(await ours());
  }
  show(name, unit, goal, median(measured.slice(1)), median(limits.slice(1)));
}

function show(name: string, unit: string, goal: string, ours: number, limit: number): void {
  const figures = `${ours.toFixed(2)} ${unit}, limit ${limit.toFixed(2)} ${unit}`;
  console.log(`${name.padEnd(48)} ${figures.padEnd(40)} ${(ours / limit).toFixed(2)} (goal ${goal})`);
}

const percentile99 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;

const agent = new Agent({ keepAlive: true, ca: authorities });

function barePost(url: string, id: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': Buffer.byteLength(body), 'trunkcall-event-id': id };
    const posted = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('end', () => resolve());
    });
    posted.once('error', reject);
    posted.end(body);
  });
}

/** The limit of throughput: a loop per connection that posts and does nothing else. */
function barePosts(url: string): () => Promise<number> {
  return async () => {
    const startedAt = performance.now();
    let left = deliveries;
    const loop = async (): Promise<void> => {
      for (; left > 0; left -= 1) await barePost(url, 'evt_bare');
    };
    await Promise.all(Array.from({ length: parallel }, loop));
    return (deliveries * 1_000) / (performance.now() - startedAt);
  };
}

/** The limit of latency: a job that is committed, picked up by one small durable statement, and posted. */
async function barePickUp(
  url: string,
  origin: string,
  arrivals: ReadonlyMap<string, number>,
): Promise<() => Promise<number>> {
  const pool = new Pool({ connectionString: url });
  pool.on('error', () => undefined);
  await pool.query('create table bench_jobs (id text primary key, body text not null, worker text)');
  const once = async (): Promise<number> => {
    const id = ids.next('evt');
    await pool.query({ name: 'add', text: 'insert into bench_jobs values ($1, $2)', values: [id, body] });
    const committedAt = monotonic();
    await pool.query({
      name: 'take',
      text: `update bench_jobs set worker = 'w' where id = (
               select id from bench_jobs where worker is null limit 1 for update skip locked) returning body`,
    });
    await barePost(`${origin}/`, id);
    return (await until(() => arrivals.get(id))) - committedAt;
  };
  return async () => {
    const values = await each(samples, once);
    await pool.query('truncate bench_jobs');
    return median(values);
  };
}

if (isMainThread) await main();
else await runReceiver();
