/**
 * Brings events from the outbox to their receivers.
 *
 *     claim a batch ─▶ post each, as its lane allows ─▶ record in batches ─▶ claim what there is room for
 *
 * W1 The body and the event id of a delivery are the same on every try.
 * W2 A try is made only while its lease certainly holds, and a lease outlasts a try; so a delivery is sent twice only
 *    when what came of a try could not be written down, and then with the same id.
 * W3 A receiver takes slots from nobody: see `lanes.ts`.
 */
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { createBatcher } from '../platform/batcher.ts';
import { createWake } from '../platform/wake.ts';
import { DatabaseUnavailable, type Database } from '../storage/database.ts';
import {
  claimDeliveries,
  expireDeliveryLeases,
  forgetOldEvents,
  putBackDeliveries,
  readyDueDeliveries,
  recordTries,
  type ClaimedDelivery,
} from '../storage/deliveries.ts';
import type { Destinations } from './destination.ts';
import { webhookHeaders } from './headers.ts';
import { createLanes } from './lanes.ts';
import { createPoster, type Answer } from './post.ts';
import { maxTries, nextStep, type NextStep } from './schedule.ts';

export interface DelivererSettings {
  /** `Trunkcall` for the header `Trunkcall-Event-Id`. */
  readonly headerPrefix: string;
  /** Certificates of authorities to trust beside the usual ones, PEM. */
  readonly authorities: string | null;
  /** Deliveries on their way to one receiver at once, from this process. */
  readonly perReceiver: number;
  /** How long events are kept, days. */
  readonly retentionDays: number;
  /** How long an idle deliverer waits before it looks at the outbox again, milliseconds. */
  readonly pollMs: number;
  /** Connection, request and status line of one try, milliseconds; 15,000 by default. */
  readonly timeoutMs?: number;
  /** By how much a lease outlasts a try, to write down what came of it, milliseconds; 15,000 by default. */
  readonly leaseGraceMs?: number;
}

export interface DelivererDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly destinations: Destinations;
  readonly settings: DelivererSettings;
  /** In [0, 1). */
  readonly random?: () => number;
}

export interface Deliverer {
  /** Looks at the outbox at once instead of at the next poll. */
  wake(): void;
  /** Takes no new deliveries, gives those on their way `stopMs`, then cuts them off. Safe to repeat. */
  stop(): Promise<void>;
}

/** Deliveries that this process has claimed and not ended. */
const maxHeld = 512;
const maxClaim = 128;
const maxRecorded = 128;
const defaultTimeoutMs = 15_000;
const defaultLeaseGraceMs = 15_000;
const stopMs = 5_000;
/** How often what is due is made ready, and how many deliveries in one go. */
const duePauseMs = 500;
const maxDue = 500;
const forgetPauseMs = 60_000;
const maxForgotten = 200;
const dayMs = 86_400_000;
/** An endpoint that has failed for this long is disabled. */
const failingLimitMs = 5 * dayMs;

interface Held {
  readonly delivery: ClaimedDelivery;
  /** Monotonic. */
  readonly leasedUntil: number;
}

interface Tried {
  readonly delivery: ClaimedDelivery;
  readonly answer: Answer;
  readonly step: NextStep;
  readonly startedAt: number;
  readonly durationMs: number;
}

/** Starts the deliverer. Throws: DatabaseUnavailable when the database can not be asked now. */
export async function startDeliverer(deps: DelivererDependencies): Promise<Deliverer> {
  const { db, clock, log, settings, random = Math.random } = deps;
  const name = deps.ids.next('wrk');
  const timeoutMs = settings.timeoutMs ?? defaultTimeoutMs;
  const leaseMs = timeoutMs + (settings.leaseGraceMs ?? defaultLeaseGraceMs);
  const { authorities } = settings;
  const poster = createPoster({ destinations: deps.destinations, clock, timeoutMs, authorities });
  const lanes = createLanes<Held>({ most: settings.perReceiver, begin, giveBack });
  const wake = createWake(clock);
  const stopping = new AbortController();
  const cutOff = new AbortController();
  /** What is sent or written down. */
  const working = new Set<Promise<void>>();

  if (db.kind === 'embedded') await db.query(expireDeliveryLeases);

  const records = createBatcher<Tried, void>({
    lanes: 1,
    maxBatch: maxRecorded,
    maxWaiting: 2 * maxHeld,
    onFull: () => new Error('too many tries wait to be written down'),
    run: record,
    retryAlone: (error) => !(error instanceof DatabaseUnavailable),
  });

  async function record(tried: readonly Tried[]): Promise<undefined[]> {
    const now = clock.monotonic();
    const disabled = await db.query(recordTries, [
      tried.map(({ delivery }) => delivery.id),
      tried.map(({ delivery }) => delivery.fence),
      tried.map(({ step }) => step.state),
      tried.map(({ step }) => (step.state === 'waiting' ? step.waitMs : 0)),
      tried.map(({ step }) => step.state !== 'waiting' || step.counts),
      tried.map(({ startedAt }) => now - startedAt),
      tried.map(({ durationMs }) => Math.round(durationMs)),
      tried.map(({ answer }) => (answer.kind === 'answered' ? answer.status : null)),
      tried.map(({ answer }) => (answer.kind === 'unanswered' ? answer.error : null)),
      tried.map(({ answer }) => (answer.kind === 'answered' ? answer.text : null)),
      failingLimitMs,
    ]);
    for (const { id, disabled_reason: reason } of disabled)
      log.warn({ endpoint_id: id, reason }, 'webhook endpoint disabled');
    return tried.map(() => undefined);
  }

  /** Claims what there is room for. Ends with whether there may be more at once. */
  async function claim(): Promise<boolean> {
    // What was sent but can not be written down must not grow without bound.
    const most = Math.min(maxClaim, maxHeld - lanes.size, 2 * maxHeld - working.size);
    if (most <= 0) return false;
    const askedAt = clock.monotonic();
    const { lanes: named, rooms } = lanes.rooms();
    const values = [name, settings.perReceiver, named, rooms, most, leaseMs];
    const claimed = await db.query(claimDeliveries, values);
    for (const delivery of claimed) {
      if (!delivery.abandoned) lanes.add(delivery.lane, { delivery, leasedUntil: askedAt + leaseMs });
    }
    return claimed.length === most;
  }

  function begin(held: Held): void {
    track(
      send(held).then((tried) =>
        tried === null ? undefined : write(held.leasedUntil, () => records.submit(tried)),
      ),
    );
  }

  function giveBack(items: readonly Held[]): void {
    const values = [items.map(({ delivery }) => delivery.id), items.map(({ delivery }) => delivery.fence)];
    const leasedUntil = Math.min(...items.map((item) => item.leasedUntil));
    track(
      write(leasedUntil, async () => void (await db.query(putBackDeliveries, values))).then(() =>
        wake.wake(),
      ),
    );
  }

  function track(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => log.error({ err: error }, 'a delivery was not written down'))
      .finally(() => working.delete(done));
    working.add(done);
  }

  /** Makes the try, if there is time for it within the lease; else null, and the delivery goes back. */
  async function send(held: Held): Promise<Tried | null> {
    const { delivery, leasedUntil } = held;
    const startedAt = clock.monotonic();
    // It waited for long, or this process was stopped for a while (W2).
    const late = startedAt + timeoutMs > leasedUntil;
    let succeeded = late;
    try {
      if (late) {
        giveBack([held]);
        return null;
      }
      const { event_id: eventId, body, secrets, url } = delivery;
      const headers = webhookHeaders({ eventId, body, secrets }, settings.headerPrefix, clock.now());
      const answer = await poster.post({ url, headers, body }, cutOff.signal);
      const step = nextStep(answer, delivery.tries, random());
      const durationMs = clock.monotonic() - startedAt;
      succeeded = step.state === 'delivered';
      report(delivery, answer, step, durationMs);
      return { delivery, answer, step, startedAt, durationMs };
    } finally {
      if (lanes.end(delivery.lane, succeeded, clock.monotonic() - startedAt)) wake.wake();
    }
  }

  function report(delivery: ClaimedDelivery, answer: Answer, step: NextStep, durationMs: number): void {
    const line = {
      delivery_id: delivery.id,
      event_id: delivery.event_id,
      endpoint_id: delivery.endpoint_id,
      tries: delivery.tries,
      state: step.state,
      duration_ms: Math.round(durationMs),
      ...(answer.kind === 'answered' ? { status: answer.status } : { error: answer.error }),
    };
    log[step.state === 'delivered' ? 'debug' : 'info'](line, 'webhook tried');
  }

  /** Writes to the database, while it is away again and again, until the lease runs out or the deliverer stops. */
  async function write(leasedUntil: number, work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const over = stopping.signal.aborted || clock.monotonic() > leasedUntil;
        if (over || !(error instanceof DatabaseUnavailable)) throw error;
        await clock.sleep(duePauseMs, stopping.signal);
      }
    }
  }

  async function makeReady(): Promise<boolean> {
    const ready = await db.query(readyDueDeliveries, [maxDue, maxTries]);
    if (ready.length > 0) wake.wake();
    return ready.length >= maxDue;
  }

  async function forget(): Promise<boolean> {
    const forgotten = await db.query(forgetOldEvents, [settings.retentionDays * dayMs, maxForgotten]);
    return forgotten.length === maxForgotten;
  }

  /** Repeats `step` until the deliverer stops: at once while there may be more, else after `wait`. */
  async function loop(step: () => Promise<boolean>, wait: () => Promise<unknown>): Promise<void> {
    while (!stopping.signal.aborted) {
      let more = false;
      try {
        more = await step();
      } catch (error) {
        const away = error instanceof DatabaseUnavailable;
        log[away ? 'warn' : 'error']({ err: error }, away ? 'database unavailable' : 'delivering failed');
        await clock.sleep(duePauseMs, stopping.signal);
      }
      if (!more) await wait();
    }
  }

  const loops = Promise.all([
    loop(claim, () => wake.wait(settings.pollMs)),
    loop(makeReady, () => clock.sleep(duePauseMs, stopping.signal)),
    loop(forget, () => clock.sleep(forgetPauseMs, stopping.signal)),
  ]);

  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    stopping.abort();
    wake.wake();
    await loops;
    const unsent = lanes.drain();
    if (unsent.length > 0) giveBack(unsent);
    const ended = new AbortController();
    void clock.sleep(stopMs, ended.signal).then((elapsed) => elapsed && cutOff.abort());
    while (working.size > 0) await Promise.all(working);
    ended.abort();
    poster.close();
  }

  return { wake: () => wake.wake(), stop: () => (stopped ??= stop()) };
}
