/**
 * A worker with a SIP carrier whose agent only listens, for the tests of inbound calls over SIP. As a program of its own
 * it takes the database's URL, and prints the port of its SIP: for tests that kill it.
 */
import type { Trunk } from '@trunkcall/contract';
import type { Agent } from '../../../src/agents/agent.ts';
import type { SipCarrier, SipCarrierOptions } from '../../../src/carriers/sip/sip-carrier.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createScriptedConcluder } from '../../../src/result/scripted-concluder.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';
import type { Database } from '../../../src/storage/database.ts';
import { openPostgres } from '../../../src/storage/postgres.ts';
import { startWorker, type Worker, type WorkerSettings } from '../../../src/worker/worker.ts';
import { openCarrier, trunkAt } from '../../kit/sip/carrier.ts';

export interface SipWorker {
  readonly carrier: SipCarrier;
  readonly worker: Worker;
  readonly port: number;
  stop(): Promise<void>;
}

/** Says nothing, until the call is over. */
const listener: Agent = {
  kind: 'scripted',
  problems: () => [],
  async converse(_, leg, __, signal) {
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await Promise.race([leg.ended, stopped]);
    return { kind: 'callee_left' };
  },
};

export interface SipWorkerOptions {
  readonly db: Database;
  readonly agents?: readonly Agent[];
  readonly trunk?: Partial<Trunk>;
  readonly carrier?: Partial<SipCarrierOptions>;
  readonly settings?: Partial<WorkerSettings>;
}

export async function startSipWorker(options: SipWorkerOptions): Promise<SipWorker> {
  const { db, agents = [listener], trunk, settings } = options;
  const clock = systemClock;
  const carrier = await openCarrier([trunkAt(9, { inbound: ['127.0.0.1'], ...trunk })], options.carrier);
  const worker = await startWorker({
    db,
    clock,
    ids: systemIds(clock),
    log: createLog('silent'),
    carrier,
    agents,
    extractor: createScriptedExtractor(),
    concluder: createScriptedConcluder(),
    onPublished: () => undefined,
    settings: {
      leaseMs: 10_000,
      pollMs: 50,
      maxCallsPerProcess: 20,
      maxDeploymentCalls: 20,
      maxCarrierCalls: 20,
      drainMs: 0,
      ...settings,
    },
  });
  return {
    carrier,
    worker,
    port: Number(carrier.address.split(':').at(-1)),
    async stop() {
      await worker.stop();
      await carrier.close();
    },
  };
}

const [url] = process.argv.slice(2);
if (import.meta.main && url !== undefined) {
  const { port } = await startSipWorker({ db: openPostgres({ url }), settings: { leaseMs: 1_500 } });
  process.stdout.write(`${port}\n`);
}
