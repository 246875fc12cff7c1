import type { Agent, Brief } from '../agents/agent.ts';
import type { Carrier, Leg } from '../carriers/carrier.ts';
import { briefOf, callLimitOf } from '../conversation/brief.ts';
import { converse, type Conversed } from '../conversation/converse.ts';
import { createTranscript } from '../conversation/transcript.ts';
import { offerTransfer } from '../conversation/transfer.ts';
import { dial, stopOutcome, type DialDependencies } from '../dial/dial.ts';
import { ownEnd, type EndFacts } from '../dial/outcome.ts';
import { assert } from '../platform/assert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { recordMedia } from '../storage/attempts.ts';
import type { Database } from '../storage/database.ts';
import { putBackJob, type DialJob, type Lease } from '../storage/jobs.ts';
import { persist } from '../storage/persist.ts';
import { endRun } from './end-run.ts';

export interface ExecutionDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly carrier: Carrier;
  readonly agents: readonly Agent[];
  /** The legs on which this process talks now, by run id; added by `converseOn`, removed when the work is done. */
  readonly legs: Map<string, Leg>;
}

/** The media engine is asked for no longer than this, milliseconds. */
const qualityLimitMs = 1_000;

/**
 * Executes a run: dials, lets the agent talk, and stores how it ended. Writes one log line for the call.
 *
 * Ends with the run ended, put back for later, or left to whoever holds its lease now.
 * Throws: when the database stayed away or the program has a fault; the reaper then decides.
 */
export async function executeRun(
  deps: ExecutionDependencies & DialDependencies,
  run: DialJob,
  lease: Lease,
): Promise<void> {
  const startedAt = deps.clock.monotonic();
  assert(run.content !== null, 'a dial job has a run and a RunSpec');
  const agent = deps.agents.find(({ kind }) => kind === run.content.agent.kind);
  const dialled = agent === undefined ? noAgent : await dial(deps, run, lease);
  if (dialled.kind === 'lost') return;
  if (dialled.kind === 'later') {
    await persist(deps.db, deps.clock, lease, putBackJob, ['dial', dialled.inMs, false]);
    return;
  }
  const { facts, turns } =
    dialled.kind === 'ended'
      ? { facts: dialled.facts, turns: 0 }
      : await converseOn(deps, { ...run, direction: 'outbound', announcement: null }, lease, dialled);
  const stored = await endRun(deps, lease, { callId: run.call_id, inbound: false }, facts);
  logCall(deps, { ...run, direction: 'outbound' }, { facts, turns, startedAt, stored });
}

/** The one log line of a call. */
export function logCall(
  { log, carrier, clock }: ExecutionDependencies,
  run: Pick<DialJob, 'subject_id' | 'call_id' | 'account_id'> & Pick<Brief, 'direction'>,
  end: {
    readonly facts: EndFacts;
    readonly turns: number;
    readonly startedAt: number;
    readonly stored: boolean;
  },
): void {
  const { facts, turns, startedAt, stored } = end;
  log.info(
    {
      run_id: run.subject_id,
      call_id: run.call_id,
      account_id: run.account_id,
      direction: run.direction,
      carrier: carrier.name,
      outcome: facts.outcome,
      ended_by: facts.endedBy,
      sip_status: facts.sipStatus,
      q850: facts.q850,
      note: facts.note,
      turns,
      duration_ms: Math.round(clock.monotonic() - startedAt),
      stored,
    },
    'call',
  );
}

/** Acceptance asked for readiness; an agent that was configured away since then must not make a phone ring. */
const noAgent = { kind: 'ended', facts: ownEnd('agent_failed', 'no such agent here') } as const;

/** What an agent must know of a call beside its leg. */
export type Talk = Pick<DialJob, 'account_name' | 'disclosure' | 'variables' | 'content'> &
  Pick<Brief, 'direction' | 'announcement'>;

/** Lets the Goal's agent talk on an answered leg until the call is over; ends with how it ended. */
export async function converseOn(
  deps: ExecutionDependencies,
  run: Talk,
  lease: Lease,
  answered: { readonly attemptId: string; readonly leg: Leg; readonly stored: Promise<unknown> },
): Promise<{ facts: EndFacts; turns: number }> {
  const { content } = run;
  const agent = deps.agents.find(({ kind }) => kind === content.agent.kind);
  assert(agent !== undefined, 'nothing is dialled or answered without an agent');
  const transcript = createTranscript({
    ...deps,
    lease,
    attemptId: answered.attemptId,
    after: answered.stored,
  });
  const { leg } = answered;
  deps.legs.set(lease.subjectId, leg);
  const conversed = await converse({
    agent,
    brief: briefOf(content, run.variables, {
      ...run,
      callerName: run.account_name,
      transfer: offerTransfer({ ...deps, lease, ...answered, content, transcript }),
    }),
    leg,
    signal: lease.signal,
    transcript,
    callLimitMs: callLimitOf(content),
  });
  await keepQuality(deps, lease, answered.attemptId, leg);
  return { facts: factsOf(conversed, lease), turns: transcript.length };
}

/** Stores how the call sounded, while its lease is held. What was not measured is not waited for. */
async function keepQuality(
  { db, clock }: ExecutionDependencies,
  lease: Lease,
  attemptId: string,
  leg: Leg,
): Promise<void> {
  const done = new AbortController();
  const late = clock.sleep(qualityLimitMs, done.signal).then(() => null);
  const quality = (await Promise.race([leg.quality?.() ?? null, late])) ?? null;
  done.abort();
  if (quality !== null) await persist(db, clock, lease, recordMedia, [attemptId, JSON.stringify(quality)]);
}

function factsOf({ outcome, legEnd, note }: Conversed, lease: Lease): EndFacts {
  return {
    outcome: outcome === 'stopped' ? stopOutcome(lease) : outcome,
    endedBy: legEnd.endedBy,
    sipStatus: legEnd.sipStatus,
    q850: legEnd.q850,
    note,
  };
}
