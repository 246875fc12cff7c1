/** Acceptance and a worker on a real database, with the simulated network; what is dialled is written down. */
import type { GoalFile, Scalar } from '@trunkcall/contract';
import { expect } from 'vitest';
import { createAcceptance } from '../../../src/acceptance/accept.ts';
import type { Acceptance } from '../../../src/acceptance/acceptance.ts';
import type { Agent } from '../../../src/agents/agent.ts';
import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import type { Carrier, CallOrder, TransferOrder } from '../../../src/carriers/carrier.ts';
import { createSimulatedNetwork, type SimulatedNetwork } from '../../../src/carriers/simulated/network.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import type { KeysOf } from '../../../src/platform/key-watch.ts';
import { createLog, type Logger } from '../../../src/platform/log.ts';
import type { Concluder } from '../../../src/result/conclude.ts';
import type { Extractor } from '../../../src/result/extractor.ts';
import { createScriptedConcluder } from '../../../src/result/scripted-concluder.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';
import { statement, type Database } from '../../../src/storage/database.ts';
import { createRunReader, type RunRow } from '../../../src/storage/runs.ts';
import { startWorker, type Worker, type WorkerSettings } from '../../../src/worker/worker.ts';
import { createAccount, goalFile, publishGoal } from '../../kit/fixtures.ts';

export const ids = systemIds(systemClock);

export interface Harness {
  readonly accountId: string;
  readonly acceptance: Acceptance;
  readonly worker: Worker;
  /** Every order that left for the carrier. */
  readonly dialled: CallOrder[];
  /** Lets a simulated person call one of our numbers. */
  readonly ring: SimulatedNetwork['ring'];
  /** Every call that was asked for to connect somebody. */
  readonly transfers: TransferOrder[];
  publish(over?: Partial<GoalFile>): Promise<string>;
  /** Accepts a Run; its id is the public one. */
  run(goalId: string, phone: string, variables?: Readonly<Record<string, Scalar>>): Promise<RunRow>;
  /** Waits until `done` holds of the Run, at most 20 s. */
  until(run: RunRow, done?: (run: RunRow) => boolean): Promise<RunRow>;
  stop(): Promise<void>;
}

export interface HarnessOptions {
  readonly db: Database;
  readonly workerDb?: Database;
  readonly clock?: Clock;
  readonly speed?: number;
  readonly agents?: readonly Agent[];
  readonly keysOf?: KeysOf;
  readonly extractor?: Extractor;
  readonly settings?: Partial<WorkerSettings>;
  readonly accountId?: string;
  readonly log?: Logger;
  /** In place of those of the simulated network, which has no limits. */
  readonly limits?: Partial<Pick<Carrier, 'forbids' | 'reserve'>>;
  readonly concluder?: Concluder;
}

const settings: WorkerSettings = {
  leaseMs: 10_000,
  pollMs: 50,
  maxCallsPerProcess: 50,
  maxDeploymentCalls: 50,
  maxCarrierCalls: 50,
  drainMs: 20_000,
};

const isFinal = (run: RunRow): boolean => run.result !== null || run.error_code !== null;

export async function createHarness(options: HarnessOptions): Promise<Harness> {
  const { db, clock = systemClock } = options;
  const accountId = options.accountId ?? (await createAccount(db, ids));
  const network = createSimulatedNetwork({
    clock: systemClock,
    speed: options.speed ?? Number.POSITIVE_INFINITY,
  });
  const dialled: CallOrder[] = [];
  const transfers: TransferOrder[] = [];
  const carrier: Carrier = {
    ...network,
    ...options.limits,
    async place(order, watcher, signal) {
      dialled.push(order);
      const placed = await network.place(order, watcher, signal);
      if (placed.kind === 'ended') return placed;
      const { leg } = placed;
      return {
        kind: 'answered',
        leg: {
          ...leg,
          async transfer(to, stop) {
            transfers.push(to);
            return (await leg.transfer?.(to, stop)) ?? { kind: 'failed', why: 'failed' };
          },
        },
      };
    },
  };
  const worker = await startWorker({
    db: options.workerDb ?? db,
    clock,
    ids,
    log: options.log ?? createLog('silent'),
    carrier,
    agents: options.agents ?? [createScriptedAgent({ clock: systemClock, synthesizer: null })],
    ...(options.keysOf && { keysOf: options.keysOf }),
    extractor: options.extractor ?? createScriptedExtractor(),
    concluder: options.concluder ?? createScriptedConcluder(),
    onPublished: () => undefined,
    settings: { ...settings, ...options.settings },
  });
  const acceptance = createAcceptance({
    db,
    clock: systemClock,
    ids,
    readiness: () => [],
    forbids: () => null,
    onAccepted: () => worker.wake(),
  });
  const find = createRunReader(db);

  return {
    accountId,
    acceptance,
    worker,
    dialled,
    ring: (ring) => network.ring(ring),
    transfers,
    publish: (over) => publishGoal(db, ids, accountId, goalFile(over)),
    async run(goalId, phone, variables = { name: 'Ada' }) {
      const { run } = await acceptance.accept({
        accountId,
        regions: null,
        goalId,
        idempotencyKey: ids.next('req'),
        phone,
        variables: { ok: true, values: variables },
      });
      return run;
    },
    async until(run, done = isFinal) {
      const giveUpAt = performance.now() + 20_000;
      for (;;) {
        const now = await find(run.public_id, run.goal_id, accountId);
        if (now === null) throw new Error('the run is gone');
        if (done(now)) return now;
        if (performance.now() > giveUpAt) throw new Error(`the run is ${now.status} and does not get there`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    async stop() {
      await worker.stop();
      await network.close();
    },
  };
}

const counters = statement<{ drift: number }>(
  'harness_counters',
  `select (select coalesce(sum(active_calls + active_inbound_calls), 0) from accounts)::int
        + (select coalesce(sum(active_calls), 0) from capacity)::int
        + (select count(*) from jobs where worker is not null)::int as drift`,
);

/** Nothing holds a slot or a lease any more; the lease of a worker that was stopped amid its work runs out first. */
export async function expectIdle(db: Database): Promise<void> {
  const drift = async () => (await db.query(counters))[0]?.drift;
  await expect.poll(drift, { timeout: 15_000, interval: 20 }).toBe(0);
}
