import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallTask, DoctorReport, GoalRun, OneShotCall } from '@trunkcall/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { databases } from '../kit/database.ts';
import { startPostgresServer } from '../kit/postgres-server.ts';
import { until } from '../kit/until.ts';
import { startProcess, type Running } from './process.ts';

/** `KILLS=50 npx vitest run packages/server/test/faults` is the long form. */
const kills = Number(process.env['KILLS'] ?? 12);
const clients = 12;
/** Enough to have calls in every stage when the process dies, few enough to be done soon afterwards. */
const requestsPerClient = 4;

interface Request {
  readonly kind: Kind;
  readonly key: string;
  readonly phone: string;
  /** What was acknowledged; undefined while the answer has not come. */
  id: string | undefined;
}

/** The three ways to have somebody called. */
const kinds = ['run', 'call', 'task'] as const;
type Kind = (typeof kinds)[number];

/** What a view of any of the three says about its end. */
type View = { readonly id: string; readonly status: string } & Partial<
  Pick<GoalRun, 'result' | 'error'> &
    Pick<OneShotCall, 'result_status'> &
    Pick<CallTask, 'recipients' | 'completed_at'>
>;

const acknowledged = (requests: readonly Request[]) => requests.filter(({ id }) => id !== undefined);

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
    `keeps every acknowledged Run and call, makes none twice and dials none twice, over ${kills} kills under load`,
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
        if (kill === 0) await allowTasks(service);
        const stop = new AbortController();
        const done = acknowledged(requests).length;
        const load = Array.from({ length: clients }, () => post(service, requests, stop.signal));
        // Amid the work, however slow the machine; now and then before anything was acknowledged.
        if (kill % 4 > 0) await until(() => acknowledged(requests).length > done, 'an answer', 60_000);
        await sleep(random() * 1_200);
        service.process.kill('SIGKILL');
        stop.abort();
        await Promise.all([...load, once(service.process, 'exit')]);
      }

      const service = await startProcess(dataDir, settings);
      cleanUp.push(() => service.process.kill('SIGKILL'));
      expect(acknowledged(requests).length).toBeGreaterThan(kills / 2);

      // Every request again: the acknowledged ones give the same answer, the others one of their own.
      const ids = new Set<string>();
      for (const request of requests) {
        const { id } = await send(service, request);
        expect(request.id ?? id).toBe(id);
        request.id = id;
        ids.add(id);
      }
      expect(ids.size).toBe(requests.length);

      for (const { kind, id = '' } of requests) await settled(service, kind, id);
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
    const kind = kinds[index % kinds.length] ?? 'run';
    const request: Request = { kind, key: `key ${index}`, phone: phoneOf(index), id: undefined };
    requests.push(request);
    try {
      request.id = (await send(service, request)).id;
    } catch {
      return;
    }
  }
}

async function send(service: Running, request: Request): Promise<View> {
  const giveUpAt = performance.now() + 60_000;
  let answer = await sendOnce(service, request);
  // The process died while it read the task: the key is free again within 15 seconds.
  while (answer.dying && performance.now() < giveUpAt) {
    await sleep(250);
    answer = await sendOnce(service, request);
  }
  expect([201, 202]).toContain(answer.status);
  return answer.view;
}

async function sendOnce(service: Running, request: Request) {
  const response = await fetch(`${service.url}${pathOf(service, request.kind)}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.credentials.api_key}`,
      'idempotency-key': request.key,
      'content-type': 'application/json',
    },
    body: JSON.stringify(bodyOf(request)),
  });
  const view = (await response.json()) as View & { error?: { details?: { reason_code?: string } } };
  return {
    status: response.status,
    view,
    dying: view.error?.details?.reason_code === 'creation_in_progress',
  };
}

function pathOf({ credentials }: Running, kind: Kind): string {
  if (kind === 'run') return `/v1/goals/${credentials.goals['confirm-delivery']}/runs`;
  return kind === 'call' ? '/v2/calls' : '/v1/calls';
}

function bodyOf({ kind, phone }: Request): object {
  const result_schema = { type: 'object', properties: { suits: { type: 'boolean' } }, required: ['suits'] };
  switch (kind) {
    case 'run':
      return { phone, variables: { customer_name: 'Ada', order_reference: 'A-1' } };
    case 'call':
      return { task: 'Ask whether Tuesday suits.', phone, result_schema };
    case 'task':
      return { task: `Call ${phone} and ask whether Tuesday suits.`, result_schema };
  }
}

/** Lets call tasks of the account run side by side. */
async function allowTasks({ url, credentials }: Running): Promise<void> {
  const response = await fetch(`${url}/operator/v1/accounts/${credentials.account}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${credentials.operator_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ max_active_tasks: 100 }),
  });
  expect(response.status).toBe(200);
}

/** Waits until nothing will change any more. */
async function settled(service: Running, kind: Kind, id: string): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  for (;;) {
    const response = await fetch(`${service.url}${pathOf(service, kind)}/${id}`, {
      headers: { authorization: `Bearer ${service.credentials.api_key}` },
    });
    expect(response.status).toBe(200);
    const view = (await response.json()) as View;
    if (isSettled(kind, view)) return;
    if (performance.now() > giveUpAt) throw new Error(`${id} is ${view.status} and does not end`);
    await sleep(50);
  }
}

function isSettled(kind: Kind, view: View): boolean {
  switch (kind) {
    case 'run':
      return view.result !== null || view.error !== null;
    case 'call':
      return view.result_status !== 'pending';
    case 'task':
      return view.completed_at !== null;
  }
}

/** What the operator's check-up finds wrong, such as counters that have drifted from the leases. */
async function checkUp({ url, credentials }: Running): Promise<readonly string[]> {
  const response = await fetch(`${url}/operator/v1/doctor`, {
    headers: { authorization: `Bearer ${credentials.operator_token}` },
  });
  return ((await response.json()) as DoctorReport).problems;
}
