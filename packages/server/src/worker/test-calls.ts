/**
 * Places test calls over trunks.
 *
 * T1  Claiming one is the intent to dial: it is committed before anything leaves, and nobody claims it again (I4).
 * T2  Each write carries the fence of the claim; nothing leaves once its lease may be over (I6).
 * T3  It rings 30 s at most, plays 15 s at most, and is over within its lease (I9).
 * T4  The number is in no log and in no step (I10).
 */
import type { MediaQuality, OperatorTestCall, TestCallStep } from '@trunkcall/contract';
import { announce } from '../agents/audio/announcement.ts';
import type { Synthesizer } from '../agents/audio/synthesizer.ts';
import type { CallOrder, Carrier, EndedBy, Ending, Leg, LegEnd } from '../carriers/carrier.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Database } from '../storage/database.ts';
import { patiently } from '../storage/persist.ts';
import {
  claimTestCall,
  endTestCall,
  expireTestCalls,
  isBarred,
  recordTestSteps,
  type ClaimedTestCall,
} from '../storage/test-calls.ts';

export interface TestCallerDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly carrier: Carrier;
  /** Null: tones are played. */
  readonly synthesizer: Synthesizer | null;
  /** The process. */
  readonly name: string;
}

export interface TestCaller {
  /** Claims what waits, unless this process drains; also decides about test calls whose worker is gone. */
  look(draining: boolean): Promise<void>;
  /** Hangs up what is under way. Safe to repeat. */
  stop(): Promise<void>;
}

const ringLimitMs = 30_000;
const soundLimitMs = 15_000;
/** All of it, before the lease is over; what is left of the lease is for the last write. */
const callLimitMs = 75_000;
const leaseMs = 90_000;
/** While the announcement plays the sound is measured this often. */
const measureEveryMs = 1_000;
/** Whose daily limits count test calls. No id of an account looks like this. */
const testAccount = 'test_calls';

/** How a test call ended. */
interface End {
  readonly outcome: string;
  readonly endedBy: EndedBy | null;
  readonly sipStatus: number | null;
  readonly q850: number | null;
  readonly note: string | null;
  readonly media: MediaQuality | null;
}

export function createTestCaller(deps: TestCallerDependencies): TestCaller {
  const { db, clock, log, carrier, name } = deps;
  const stopping = new AbortController();
  const working = new Set<Promise<void>>();

  async function claim(): Promise<void> {
    const trunks = carrier.states().map(({ trunk }) => trunk);
    for (;;) {
      const askedAt = clock.monotonic();
      const steps = [stepNow('claimed', clock)];
      const [call] = await db.query(claimTestCall, [name, trunks, leaseMs, JSON.stringify(steps)]);
      if (call === undefined) return;
      const work = lead(deps, call, askedAt, steps, stopping.signal)
        .catch((error: unknown) => log.error({ test_call_id: call.id, err: error }, 'test call failed'))
        .finally(() => working.delete(work));
      working.add(work);
    }
  }

  return {
    async look(draining) {
      await db.query(expireTestCalls);
      if (!draining && !stopping.signal.aborted) await claim();
    },
    async stop() {
      stopping.abort();
      await Promise.all(working);
    },
  };
}

type Step = OperatorTestCall['steps'][number];

const stepNow = (step: TestCallStep, clock: Clock): Step => ({
  step,
  at: new Date(clock.now()).toISOString(),
});

/** Leads a claimed test call to its end, and writes each step down. */
async function lead(
  deps: TestCallerDependencies,
  call: ClaimedTestCall,
  askedAt: number,
  steps: Step[],
  stopping: AbortSignal,
): Promise<void> {
  const { db, clock, log } = deps;
  const over = new AbortController();
  const tooLong = new AbortController();
  void clock.sleep(callLimitMs, over.signal).then((late) => late && tooLong.abort());
  let recorded: Promise<unknown> = Promise.resolve();
  const record = (providerCallId: string | null, media: MediaQuality | null) => {
    const values = [call.id, call.fence, JSON.stringify(steps), providerCallId, jsonOrNull(media)];
    recorded = recorded
      .then(() => patiently(clock, () => db.query(recordTestSteps, values)))
      // The end tells it all once more.
      .catch((error: unknown) => log.warn({ test_call_id: call.id, err: error }, 'a step was not stored'));
  };
  const progress: Progress = {
    step(step, providerCallId = null) {
      steps.push(stepNow(step, clock));
      record(providerCallId, null);
    },
    measured: (media) => record(null, media),
    mayLeave: () => clock.monotonic() < askedAt + callLimitMs,
    signal: AbortSignal.any([stopping, tooLong.signal]),
  };
  const end = await place(deps, call, progress).catch((error: unknown) => {
    log.error({ test_call_id: call.id, err: error }, 'test call failed');
    return ours('failed', 'a fault of ours; the log of the process has it');
  });
  over.abort();
  await recorded;
  steps.push(stepNow('ended', clock));
  const facts = [end.outcome, end.endedBy, end.sipStatus, end.q850, end.note, jsonOrNull(end.media)];
  const values = [call.id, call.fence, JSON.stringify(steps), ...facts];
  const stored = await patiently(clock, () => db.query(endTestCall, values));
  const { outcome, sipStatus: sip_status, q850, note } = end;
  log.info(
    { test_call_id: call.id, trunk: call.trunk, outcome, sip_status, q850, note, stored: stored.length > 0 },
    'test call',
  );
}

interface Progress {
  readonly step: (step: TestCallStep, providerCallId?: string | null) => void;
  readonly measured: (media: MediaQuality) => void;
  readonly mayLeave: () => boolean;
  readonly signal: AbortSignal;
}

async function place(
  deps: TestCallerDependencies,
  { id, trunk, phone }: ClaimedTestCall,
  { step, measured, mayLeave, signal }: Progress,
): Promise<End> {
  const { carrier, db } = deps;
  const [barred] = await db.query(isBarred, [phone]);
  if (barred?.ours === true || barred?.opted_out === true) return ours('not_allowed');
  const wish = { attemptId: id, accountId: testAccount, to: phone, trunk };
  const room = await carrier.reserve(wish, signal);
  if (room.kind === 'refused') return ours(room.why);
  if (room.kind === 'later') return ours('no_line', 'every line is in use, or the trunk asked for a pause');
  const order: CallOrder = {
    attemptId: id,
    to: phone,
    from: null,
    ringLimitMs,
    locale: 'en-US',
    trunk,
    mayLeave,
    simulation,
  };
  const placed = await carrier.place(order, { progress: step }, signal);
  if (placed.kind === 'ended') return endOf(placed.ending);
  const { leg } = placed;
  step('answered', leg.providerCallId);
  return listenIn(deps, leg, step, measured);
}

/** Plays the announcement on an answered leg, measures, and hangs up. */
async function listenIn(
  { synthesizer }: TestCallerDependencies,
  leg: Leg,
  step: Progress['step'],
  measured: Progress['measured'],
): Promise<End> {
  const done = new AbortController();
  const measuring = (async () => {
    while (leg.quality !== undefined && (await leg.clock.sleep(measureEveryMs, done.signal))) {
      const quality = await leg.quality();
      if (quality !== null) measured(quality);
    }
  })();
  let legEnd: LegEnd;
  let sound: 'played' | 'cut_short';
  try {
    sound = await announce(leg, synthesizer, soundLimitMs);
  } finally {
    done.abort();
    legEnd = await leg.hangUp();
  }
  await measuring;
  if (sound === 'played') step('announced');
  const media = (await leg.quality?.()) ?? null;
  const { reason, endedBy, sipStatus, q850 } = legEnd;
  return { outcome: outcomeOf(reason, sound, media), endedBy, sipStatus, q850, note: noteOf(media), media };
}

function outcomeOf(reason: LegEnd['reason'], sound: string, media: MediaQuality | null): string {
  if (reason !== 'hung_up') return reason;
  if (media?.packets_in === 0) return 'no_sound';
  return sound === 'played' ? 'passed' : 'hung_up_early';
}

const noteOf = (media: MediaQuality | null): string | null =>
  media?.packets_in === 0 ? 'no sound came from the far end: look at the address and the media ports' : null;

function endOf({ outcome, endedBy, sipStatus, q850, note }: Ending): End {
  return { outcome, endedBy, sipStatus, q850, note, media: null };
}

const ours = (outcome: string, note: string | null = null): End => ({
  outcome,
  endedBy: 'us',
  sipStatus: null,
  q850: null,
  note,
  media: null,
});

/** Simulated people are asked nothing. */
const simulation: CallOrder['simulation'] = {
  resultSchema: { type: 'object', additionalProperties: false, properties: {}, required: [] },
  callees: [],
};

const jsonOrNull = (value: MediaQuality | null) => (value === null ? null : JSON.stringify(value));
