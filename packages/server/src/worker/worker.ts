import type { Agent } from '../agents/agent.ts';
import type { Carrier, Incoming, Leg } from '../carriers/carrier.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { KeysOf } from '../platform/key-watch.ts';
import type { Logger } from '../platform/log.ts';
import { createWake, type Wake } from '../platform/wake.ts';
import { createLeases } from '../queue/leases.ts';
import type { Concluder } from '../result/conclude.ts';
import type { Extractor } from '../result/extractor.ts';
import { DatabaseUnavailable, type Database } from '../storage/database.ts';
import {
  claimDialJobs,
  claimJobs,
  ensureCapacity,
  type ClaimedJob,
  type Lease,
  type Queue,
} from '../storage/jobs.ts';
import { admitIncoming } from '../inbound/admit.ts';
import { answerIncoming } from './answer-incoming.ts';
import { concludeCall } from './conclude-call.ts';
import { executeRun } from './execute-run.ts';
import { processResult } from './process-result.ts';
import { reap } from './reap.ts';
import { createWhyMute } from './why-mute.ts';

export interface WorkerSettings {
  /** How long a lease lasts without a heartbeat, milliseconds, at most 60,000. */
  readonly leaseMs: number;
  /** How long an idle worker waits before it looks at the queue again, milliseconds. */
  readonly pollMs: number;
  /** Calls that this process leads at once. */
  readonly maxCallsPerProcess: number;
  /** Calls that all processes together lead at once. */
  readonly maxDeploymentCalls: number;
  /** Calls that go through the carrier at once, over all processes. */
  readonly maxCarrierCalls: number;
  /** How long a stopping worker lets live calls go on, milliseconds. */
  readonly drainMs: number;
}

export interface WorkerDependencies {
  /** Under which it holds leases; one of its own by default. */
  readonly name?: string;
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly carrier: Carrier;
  readonly agents: readonly Agent[];
  /** The keys that a call of an agent of this kind may need; none by default. */
  readonly keysOf?: KeysOf;
  readonly extractor: Extractor;
  readonly concluder: Concluder;
  /** Told after a call became final, so that its webhooks need not wait. */
  readonly onPublished: () => void;
  readonly settings: WorkerSettings;
}

export interface Worker {
  /** Looks at the queue at once instead of at the next poll. */
  wake(): void;
  /** Stops a run that this process leads, if it does. */
  stopRun(runId: string): void;
  /** The leg on which this process talks for a run now; null when it does not. */
  legOf(runId: string): Leg | null;
  /** Dial jobs that it leads now. */
  readonly liveCalls: number;
  /** Whether it claims no dial jobs: it was told so, or is stopping. */
  readonly draining: boolean;
  /** Leaves dial jobs to others, or takes them again; calls under way go on. */
  drain(on: boolean): void;
  /** Takes no new work, lets live calls end within `drainMs`, then hangs up. Safe to repeat. */
  stop(): Promise<void>;
}

/** Extractions, and conclusions, that this process works on at once. */
const maxAftermath = 16;
const maxClaim = 50;

/**
 * Starts the part of the service that phones people and answers them: claims jobs, leads their work, keeps their leases, and
 * takes over what dead workers left. Throws: DatabaseUnavailable when the database can not be asked now.
 */
export async function startWorker(deps: WorkerDependencies): Promise<Worker> {
  const { db, clock, log, settings, carrier } = deps;
  const name = deps.name ?? deps.ids.next('wrk');
  const leases = createLeases({ db, clock, log, leaseMs: settings.leaseMs });
  const stopping = new AbortController();
  const working: Record<Queue, Set<Promise<void>>> = {
    dial: new Set(),
    extract: new Set(),
    conclude: new Set(),
  };
  const scopes = ['deployment', `carrier:${carrier.name}`];
  const wakes: Record<Queue, Wake> = {
    dial: createWake(clock),
    extract: createWake(clock),
    conclude: createWake(clock),
  };

  const limits = [settings.maxDeploymentCalls, settings.maxCarrierCalls];
  const legs = new Map<string, Leg>();
  const whyMute = createWhyMute(deps);
  /** Inbound calls of which nothing is stored yet. */
  const arriving = new Set<Promise<void>>();
  const roomForCalls = () => settings.maxCallsPerProcess - working.dial.size - arriving.size;
  await db.query(ensureCapacity, [scopes]);

  let drains = false;

  async function takeIncoming(incoming: Incoming): Promise<void> {
    const askedAt = clock.monotonic();
    const admission = { ...deps, worker: name, leaseMs: settings.leaseMs, scopes, limits };
    const call = await admitIncoming(admission, incoming);
    if (call !== null)
      begin('dial', call, askedAt, (lease) => answerIncoming({ ...deps, legs }, call, incoming, lease));
  }

  carrier.onIncoming((incoming) => {
    if (drains || roomForCalls() <= 0) {
      log.info(
        { carrier: carrier.name, trunk: incoming.trunk },
        'inbound call refused: this process is full, or drains',
      );
      return incoming.reject({ reason: 'unavailable', retryAfterSeconds: null });
    }
    const arrived = takeIncoming(incoming).finally(() => arriving.delete(arrived));
    arriving.add(arrived);
  });

  async function claimDials(): Promise<boolean> {
    if (drains) return false;
    const room = Math.min(maxClaim, roomForCalls());
    if (room <= 0) return false;
    const askedAt = clock.monotonic();
    const jobs = await db.query(claimDialJobs, [name, carrier.name, scopes, limits, room, settings.leaseMs]);
    const dialling = { ...deps, legs, whyMute };
    for (const job of jobs) begin('dial', job, askedAt, (lease) => executeRun(dialling, job, lease));
    // Fewer than asked for: no more are due, or their limits are reached, and then the next slot wakes us.
    return jobs.length === room;
  }

  /** Claims work that follows a call and holds no slot. */
  async function claimAftermath(
    queue: 'extract' | 'conclude',
    work: (deps: WorkerDependencies, lease: Lease) => Promise<void>,
  ): Promise<boolean> {
    const room = maxAftermath - working[queue].size;
    if (room <= 0) return false;
    const askedAt = clock.monotonic();
    const jobs = await db.query(claimJobs, [name, queue, room, settings.leaseMs]);
    for (const job of jobs) begin(queue, job, askedAt, (lease) => work(deps, lease));
    return jobs.length === room;
  }

  function begin(
    queue: Queue,
    job: ClaimedJob,
    askedAt: number,
    work: (lease: Lease) => Promise<void>,
  ): void {
    const lease = leases.hold(queue, job, askedAt);
    const done = work(lease)
      .catch((error: unknown) => log.error({ subject_id: job.subject_id, queue, err: error }, 'work failed'))
      .finally(() => {
        leases.drop(lease);
        if (queue === 'dial') legs.delete(job.subject_id);
        working[queue].delete(done);
        // A slot is free, and a call that ended left something to be drawn from it.
        for (const each of Object.values(wakes)) each.wake();
      });
    working[queue].add(done);
  }

  /** Repeats `step` until the worker stops: at once while it finds all the work it can take, else after `wait`. */
  async function loop(step: () => Promise<boolean>, wait: () => Promise<unknown>): Promise<void> {
    while (!stopping.signal.aborted) {
      let found = false;
      try {
        found = await step();
      } catch (error) {
        const away = error instanceof DatabaseUnavailable;
        log[away ? 'warn' : 'error']({ err: error }, away ? 'database unavailable' : 'worker step failed');
      }
      if (!found) await wait();
    }
  }

  const heartbeatEnd = new AbortController();
  const heartbeat = (async () => {
    // Goes on while live calls are drained.
    while (!heartbeatEnd.signal.aborted) {
      await clock.sleep(settings.leaseMs / 4, heartbeatEnd.signal);
      await leases.renew().catch((error: unknown) => log.warn({ err: error }, 'heartbeat failed'));
    }
  })();
  const reapPauseMs = Math.min(1_000, settings.leaseMs / 2);
  const loops = Promise.all([
    loop(claimDials, () => wakes.dial.wait(settings.pollMs)),
    loop(
      () => claimAftermath('extract', processResult),
      () => wakes.extract.wait(settings.pollMs),
    ),
    loop(
      () => claimAftermath('conclude', concludeCall),
      () => wakes.conclude.wait(settings.pollMs),
    ),
    loop(
      async () => {
        // Of a process that was paused the own calls are looked after first: they are on the line still.
        await leases.renewLate();
        return (await reap(deps)) > 0;
      },
      () => clock.sleep(reapPauseMs, stopping.signal),
    ),
  ]);

  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    stopping.abort();
    carrier.onIncoming(null);
    for (const each of Object.values(wakes)) each.wake();
    await loops;
    await Promise.all(arriving);
    const live = Promise.all(Object.values(working).flatMap((work) => [...work]));
    const inTime = new AbortController();
    await Promise.race([live, clock.sleep(settings.drainMs, inTime.signal)]);
    inTime.abort();
    leases.stopAll('shutdown');
    await live;
    heartbeatEnd.abort();
    await heartbeat;
  }

  return {
    wake: () => wakes.dial.wake(),
    stopRun: (runId) => leases.cancel(runId),
    legOf: (runId) => legs.get(runId) ?? null,
    get liveCalls() {
      return working.dial.size;
    },
    get draining() {
      return drains || stopping.signal.aborted;
    },
    drain(on) {
      if (drains && !on) wakes.dial.wake();
      drains = on;
    },
    stop: () => (stopped ??= stop()),
  };
}
