import { renderInstructions } from '../agents/instructions.ts';
import type { Agent } from '../agents/agent.ts';
import type { Carrier } from '../carriers/carrier.ts';
import { converse, type Conversed } from '../conversation/converse.ts';
import { createTranscript } from '../conversation/transcript.ts';
import { dial, stopOutcome, type Dialled } from '../dial/dial.ts';
import { ownEnd, type EndFacts } from '../dial/outcome.ts';
import { assert } from '../platform/assert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
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
}

/** The agent is told to wrap up so long before the call limit. */
const wrapUpMs = 30_000;

/**
 * Executes a run: dials, lets the agent talk, and stores how it ended. Writes one log line for the call.
 *
 * Ends with the run ended, put back for later, or left to whoever holds its lease now.
 * Throws: when the database stayed away or the program has a fault; the reaper then decides.
 */
export async function executeRun(deps: ExecutionDependencies, run: DialJob, lease: Lease): Promise<void> {
  const startedAt = deps.clock.monotonic();
  assert(run.content !== null, 'a dial job has a run and a RunSpec');
  const agent = deps.agents.find(({ kind }) => kind === run.content.agent.kind);
  const dialled = agent === undefined ? noAgent : await dial(deps, run, lease);
  if (dialled.kind === 'lost') return;
  if (dialled.kind === 'later') {
    await persist(deps.db, deps.clock, lease, putBackJob, ['dial', dialled.inMs, false]);
    return;
  }
  const { facts, turns } = await carryThrough(deps, run, lease, agent, dialled);
  const ended = await endRun(deps, lease, run.call_id, facts);
  deps.log.info(
    {
      run_id: run.subject_id,
      call_id: run.call_id,
      account_id: run.account_id,
      carrier: deps.carrier.name,
      outcome: facts.outcome,
      ended_by: facts.endedBy,
      sip_status: facts.sipStatus,
      q850: facts.q850,
      note: facts.note,
      turns,
      duration_ms: Math.round(deps.clock.monotonic() - startedAt),
      stored: ended,
    },
    'call',
  );
}

/** Acceptance asked for readiness; an agent that was configured away since then must not make a phone ring. */
const noAgent = { kind: 'ended', facts: ownEnd('agent_failed', 'no such agent here') } as const;

async function carryThrough(
  deps: ExecutionDependencies,
  run: DialJob,
  lease: Lease,
  agent: Agent | undefined,
  dialled: Extract<Dialled, { kind: 'answered' | 'ended' }>,
): Promise<{ facts: EndFacts; turns: number }> {
  if (dialled.kind === 'ended') return { facts: dialled.facts, turns: 0 };
  assert(agent !== undefined, 'nothing was dialled without an agent');
  const { content } = run;
  const callLimitMs = content.limits.call_seconds * 1_000;
  const transcript = createTranscript({
    ...deps,
    lease,
    attemptId: dialled.attemptId,
    after: dialled.stored,
  });
  const conversed = await converse({
    agent,
    brief: {
      callerName: run.account_name,
      title: content.title,
      instructions: renderInstructions(content.instructions, run.variables),
      variables: run.variables,
      locale: content.locale,
      timeZone: content.calling_window?.timezone ?? 'UTC',
      resultSchema: content.result_schema,
      settings: content.agent,
      machine: content.machine,
      recorded: content.record === true,
      wrapUpAtMs: callLimitMs - wrapUpMs,
    },
    leg: dialled.leg,
    lease,
    transcript,
    callLimitMs,
  });
  return { facts: factsOf(conversed, lease), turns: transcript.length };
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
