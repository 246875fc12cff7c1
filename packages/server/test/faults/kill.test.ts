import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DoctorReport, GoalRun } from '@trunkcall/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { databases } from '../kit/database.ts';
import { startPostgresServer } from '../kit/postgres-server.ts';
import { startProcess, type Running } from './process.ts';

/** `KILLS=50 npx vitest run packages/server/test/faults` is the long form. */
const kills = Number(process.env['KILLS'] ?? 12);
const clients = 12;
/** Enough to have calls in every stage when the process dies, few enough to be done soon afterwards. */
const requestsPerClient = 4;

interface Request {
  readonly key: string;
  readonly phone: string;
  /** The Goal Run that was acknowledged; undefined while the answer has not come. */
  id: string | undefined;
}

/** Numbers that are valid, all different, and belong to people who cooperate. */
const phoneOf = (index: number): string => `+1212${String(2_000_000 + index * 7)}`;

/** A small generator of its own (mulberry32), so that a failing sequence of moments can be had again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

describe.each(databases)('a service that is killed again and again on %s', (kind) => {
  it(
    `keeps every acknowledged Run, makes none twice and dials none twice, over ${kills} kills under load`,
    { timeout: 60_000 + kills * 15_000 },
    async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'trunkcall-kill-'));
      cleanUp.push(() => rmSync(dataDir, { recursive: true, force: true }));
      const postgres = kind === 'postgres' ? await startPostgresServer({ fsync: true }) : null;
      if (postgres !== null) cleanUp.push(() => postgres.stop());
      const witness = join(dataDir, 'dialled');
      const settings = {
        DIAL_WITNESS: witness,
        TRUNKCALL_SIMULATION_SPEED: '400',
        TRUNKCALL_LEASE_MS: '2000',
        ...(postgres !== null && { TRUNKCALL_DATABASE_URL: postgres.url }),
      };
      const random = seeded(7);
      const requests: Request[] = [];

      for (let kill = 0; kill < kills; kill += 1) {
        const service = await startProcess(dataDir, settings);
        const stop = new AbortController();
        const load = Array.from({ length: clients }, () => post(service, requests, stop.signal));
        await sleep(100 + random() * 1_200);
        service.process.kill('SIGKILL');
        stop.abort();
        await Promise.all([...load, once(service.process, 'exit')]);
      }

      const service = await startProcess(dataDir, settings);
      cleanUp.push(() => service.process.kill('SIGKILL'));
      const acknowledged = requests.filter(({ id }) => id !== undefined);
      expect(acknowledged.length).toBeGreaterThan(kills * 3);

      // Every request again: the acknowledged ones give the same Run, the others one of their own.
      const ids = new Set<string>();
      for (const request of requests) {
        const { id } = await send(service, request);
        expect(request.id ?? id).toBe(id);
        ids.add(id);
      }
      expect(ids.size).toBe(requests.length);

      for (const id of ids) await settled(service, id);
      const dialled = readFileSync(witness, 'utf8').trim().split('\n');
      expect(new Set(dialled).size).toBe(dialled.length);
      expect(await checkUp(service)).toEqual([]);
    },
  );
});

/** Posts a few new requests one after the other; a lost answer leaves the request unacknowledged. */
async function post(service: Running, requests: Request[], stop: AbortSignal): Promise<void> {
  for (let sent = 0; sent < requestsPerClient && !stop.aborted; sent += 1) {
    const index = requests.length;
    const request: Request = { key: `key ${index}`, phone: phoneOf(index), id: undefined };
    requests.push(request);
    try {
      request.id = (await send(service, request)).id;
    } catch {
      return;
    }
  }
}

async function send({ url, credentials }: Running, { key, phone }: Request): Promise<GoalRun> {
  const goalId = credentials.goals['confirm-delivery'] ?? '';
  const response = await fetch(`${url}/v1/goals/${goalId}/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${credentials.api_key}`,
      'idempotency-key': key,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ phone, variables: { customer_name: 'Ada', order_reference: 'A-1' } }),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as GoalRun;
}

/** Waits until the Run has its result or error. */
async function settled({ url, credentials }: Running, id: string): Promise<void> {
  const goalId = credentials.goals['confirm-delivery'] ?? '';
  const giveUpAt = performance.now() + 60_000;
  for (;;) {
    const response = await fetch(`${url}/v1/goals/${goalId}/runs/${id}`, {
      headers: { authorization: `Bearer ${credentials.api_key}` },
    });
    expect(response.status).toBe(200);
    const run = (await response.json()) as GoalRun;
    if (run.result !== null || run.error !== null) return;
    if (performance.now() > giveUpAt) throw new Error(`${id} is ${run.status} and does not end`);
    await sleep(50);
  }
}

/** What the operator's check-up finds wrong, such as counters that have drifted from the leases. */
async function checkUp({ url, credentials }: Running): Promise<readonly string[]> {
  const response = await fetch(`${url}/operator/v1/doctor`, {
    headers: { authorization: `Bearer ${credentials.operator_token}` },
  });
  return ((await response.json()) as DoctorReport).problems;
}
