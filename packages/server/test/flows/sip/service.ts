/** The whole service with a SIP carrier whose one trunk is a telephone on the loopback. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GoalFile } from '@trunkcall/contract';
import { expect } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { createReadiness } from '../../../src/authoring/readiness.ts';
import { createSipCarrier } from '../../../src/carriers/sip/sip-carrier.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLog } from '../../../src/platform/log.ts';
import type { Extractor } from '../../../src/result/extractor.ts';
import { createScriptedConcluder } from '../../../src/result/scripted-concluder.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';
import { startWorker } from '../../../src/worker/worker.ts';
import { ids, startService, type Service } from '../http/service.ts';

/** Lines without limits: they have tests of their own. */
const slots = {
  prepare: async () => undefined,
  take: async () => ({ kind: 'taken' }) as const,
  renew: async () => undefined,
  release: async () => undefined,
  countCall: async () => true,
  countTrunkCall: async () => undefined,
  addCost: async () => undefined,
};

export interface SipServiceOptions {
  /** Where the telephone listens. */
  readonly port: number;
  readonly agents: readonly Agent[];
  readonly extractor?: Extractor;
}

export interface SipService extends AsyncDisposable {
  readonly service: Service;
  /** The directory of the recordings. */
  readonly recordings: string;
  /** Starts a Run of a Goal and ends with it, as its client sees it, when it is over. */
  run(over: Partial<GoalFile>): Promise<EndedRun>;
}

export interface EndedRun {
  readonly run_id: string;
  readonly status: string;
  readonly result: unknown;
  readonly error: unknown;
}

export async function startSipService({ port, agents, extractor }: SipServiceOptions): Promise<SipService> {
  const undo: (() => unknown)[] = [];
  const recordings = mkdtempSync(join(tmpdir(), 'trunkcall-recordings-'));
  undo.push(() => rmSync(recordings, { recursive: true, force: true }));
  const log = createLog('silent');
  const carrier = await createSipCarrier({
    trunks: [
      {
        name: 'loopback',
        proxy: { host: '127.0.0.1', port, transport: 'udp' },
        caller_numbers: ['+12025550100'],
        calls_per_second: 10,
        max_calls: 5,
        countries: ['US'],
      },
    ],
    sip: { bind: '127.0.0.1', udp_port: 0, media_ports: { first: 42_000, last: 42_999 } },
    clock: systemClock,
    log,
    slots,
    onFatal: (error) => {
      throw error;
    },
    dailyLimits: { callsPerNumber: 10, callsPerAccount: 10, spendPerAccount: null },
    recordings: { directory: recordings, retentionDays: 1 },
  });
  undo.push(() => carrier.close());
  const service = await startService({ over: { readiness: createReadiness({ agents, carrier }) } });
  undo.push(() => service.close());
  const worker = await startWorker({
    db: service.database.db,
    clock: systemClock,
    ids,
    log,
    carrier,
    agents,
    extractor: extractor ?? createScriptedExtractor(),
    concluder: createScriptedConcluder(),
    onPublished: () => undefined,
    settings: {
      leaseMs: 10_000,
      pollMs: 50,
      maxCallsPerProcess: 5,
      maxDeploymentCalls: 5,
      maxCarrierCalls: 5,
      drainMs: 1_000,
    },
  });
  undo.push(() => worker.stop());

  return {
    service,
    recordings,
    async run(over) {
      const goal = await service.newGoal(over);
      const accepted = await service.fetch(`/v1/goals/${goal}/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'one-call' },
        body: JSON.stringify({ phone: '+12025550123', variables: { name: 'Ada' } }),
      });
      expect(accepted.status).toBe(201);
      const { id } = (await accepted.json()) as { id: string };
      const read = async () =>
        (await (await service.fetch(`/v1/goals/${goal}/runs/${id}`)).json()) as EndedRun;
      const isOver = ({ result, error }: EndedRun) => result !== null || error !== null;
      const limits = { timeout: 110_000, interval: 100 };
      await expect.poll(async () => isOver(await read()), limits).toBe(true);
      return read();
    },
    async [Symbol.asyncDispose]() {
      for (const step of undo.splice(0).reverse()) await step();
    },
  };
}
