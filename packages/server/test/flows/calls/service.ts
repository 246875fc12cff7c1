/** The whole service for calls: HTTP, a worker, the simulated network; what is dialled is written down. */
import type { CallTask, OneShotCall } from '@trunkcall/contract';
import { expect } from 'vitest';
import type { CallAcceptanceDependencies } from '../../../src/acceptance/accept-call.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { statement } from '../../../src/storage/database.ts';
import { callDependencies } from '../../kit/calls.ts';
import { createAccount } from '../../kit/fixtures.ts';
import { createHarness, type Harness, type HarnessOptions } from '../execution/harness.ts';
import { ids, startService, type Service } from '../http/service.ts';

export interface CallService extends Service {
  readonly harness: Harness;
  /** Every number that left for the carrier, in order. */
  dialled(): string[];
  send(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  createTask(body: unknown, key?: string): Promise<CallTask>;
  createCall(body: unknown, key?: string): Promise<OneShotCall>;
  /** Waits until nothing about the call will change, at most 20 s. */
  finalTask(id: string): Promise<CallTask>;
  finalCall(id: string): Promise<OneShotCall>;
  /** Gives the account a number of its own. */
  giveNumber(phone: string): Promise<void>;
  /** The key of another account. */
  strangersKey(): Promise<string>;
  /** Bodies of the webhook events of a call, in order. */
  published(callId: string): Promise<string[]>;
}

export interface CallServiceOptions {
  readonly kind?: 'postgres' | 'embedded';
  readonly calls?: Partial<CallAcceptanceDependencies>;
  readonly worker?: Partial<HarnessOptions>;
}

const insertNumber = statement<never>(
  'test_insert_number',
  `with number as (insert into numbers (id, phone, account_id) values ('num_' || $1, $1, $2) returning phone)
   update accounts set default_number = (select phone from number) where id = $2`,
);
const readBodies = statement<{ readonly body: string }>(
  'test_webhook_bodies',
  'select body from webhook_events where call_id = $1 order by id',
);

export const yesNo = {
  type: 'object',
  properties: { confirmed: { type: 'boolean', description: 'whether the delivery suits' } },
  required: ['confirmed'],
} as const;

export async function startCallService(options: CallServiceOptions = {}): Promise<CallService> {
  const { kind = 'embedded' } = options;
  let wake: () => void = () => undefined;
  const service = await startService({
    kind,
    calls: (db, clock) => callDependencies(db, clock, ids, { onAccepted: () => wake(), ...options.calls }),
  });
  const { db } = service.database;
  const harness = await createHarness({ db, accountId: service.accountId, ...options.worker });
  wake = () => harness.worker.wake();

  const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    service.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  async function create<View>(path: string, status: number, body: unknown, key: string): Promise<View> {
    const response = await send(path, body, { 'idempotency-key': key });
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status });
    return JSON.parse(text) as View;
  }

  async function until<View>(path: string, done: (view: View) => boolean): Promise<View> {
    const giveUpAt = performance.now() + 20_000;
    for (;;) {
      const view = (await (await service.fetch(path)).json()) as View;
      if (done(view)) return view;
      if (performance.now() > giveUpAt) throw new Error(`still waiting: ${JSON.stringify(view)}`);
      await systemClock.sleep(10);
    }
  }

  return {
    ...service,
    harness,
    dialled: () => harness.dialled.map(({ to }) => to),
    send,
    createTask: (body, key = ids.next('req')) => create('/v1/calls', 201, body, key),
    createCall: (body, key = ids.next('req')) => create('/v2/calls', 202, body, key),
    finalTask: (id) => until<CallTask>(`/v1/calls/${id}`, (task) => task.completed_at !== null),
    finalCall: (id) => until<OneShotCall>(`/v2/calls/${id}`, (call) => call.result_status !== 'pending'),
    giveNumber: async (phone) => {
      await db.query(insertNumber, [phone, service.accountId]);
    },
    strangersKey: async () => service.newKey({ accountId: await createAccount(db, ids) }),
    published: async (callId) => (await db.query(readBodies, [callId])).map(({ body }) => body),
    async close() {
      await harness.stop();
      await service.close();
    },
  };
}

/** Starts the service for one test, and stops it whatever happens. */
export async function withCallService(
  options: CallServiceOptions,
  work: (service: CallService) => Promise<void>,
): Promise<void> {
  const service = await startCallService(options);
  try {
    await work(service);
  } finally {
    await service.close();
  }
}
