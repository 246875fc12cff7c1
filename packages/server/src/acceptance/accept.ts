import type { GoalFile } from '@trunkcall/contract';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { nextOpening } from '../platform/calling-window.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Batcher } from '../platform/batcher.ts';
import {
  findAcceptingGoal,
  findRunByKey,
  isDoNotCall,
  type AcceptingGoal,
  type AcceptRow,
  type Candidate,
} from '../storage/acceptance.ts';
import { DatabaseUnavailable, type Database } from '../storage/database.ts';
import type { RunRow } from '../storage/runs.ts';
import { createAcceptBatcher } from './accept-batch.ts';
import type { Acceptance, RunRequest } from './acceptance.ts';
import { fingerprint } from './fingerprint.ts';
import { phoneProblem } from './phone-policy.ts';
import { compileVariables, type VariablesCheck } from './variables.ts';

export interface AcceptanceDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Why a RunSpec can not be executed here; empty when it can. */
  readonly readiness: (content: GoalFile) => readonly string[];
  /** Why no carrier may dial a number (canonical E.164), in words that do not repeat it; null when one may. */
  readonly forbids: (phone: string) => string | null;
  /** Told after each acceptance, so that a worker in this process need not wait for its next poll. */
  readonly onAccepted: () => void;
}

type Published = Pick<AcceptingGoal, 'state' | 'listed'> & { readonly runSpec: RunSpec | null };

interface RunSpec {
  readonly id: string;
  readonly version: number;
  readonly content: GoalFile;
  readonly checkVariables: VariablesCheck;
}

/** How often a Goal may be republished under one request's feet before the request is told to come again. */
const maxRounds = 6;
const maxRemembered = 1_000;
/** Equal to no accepted request's fingerprint, for a request whose variables could not even be read. */
const unreadable = Buffer.alloc(32);

/**
 * Builds the acceptance of Goal Runs.
 *
 * The quick way is one trip: the request is checked against the RunSpec that this process saw last, and the
 * statement inserts it only if the Goal still publishes exactly that one. So the memory may be stale; it can
 * cost a second round, never a wrong pin (I3). A refusal is never given from memory: everything that is
 * refused is looked up afresh, in the order of checks.
 */
export function createAcceptance(deps: AcceptanceDependencies): Acceptance {
  const { db } = deps;
  const batcher: Batcher<Candidate, AcceptRow | null> = createAcceptBatcher(db);
  const remembered = new Map<string, Published>();
  const compiled = new Map<string, RunSpec>();

  async function accept(request: RunRequest): Promise<{ run: RunRow; replayed: boolean }> {
    const known = remembered.get(`${request.accountId} ${request.goalId}`);
    if (known !== undefined) {
      const candidate = judge(request, known);
      if (!(candidate instanceof Refusal)) {
        const accepted = await submit(candidate);
        if (accepted !== null) return accepted;
      }
    }
    return acceptAfresh(request);
  }

  async function acceptAfresh(request: RunRequest): Promise<{ run: RunRow; replayed: boolean }> {
    for (let round = 0; round < maxRounds; round += 1) {
      const goal = await loadGoal(request);
      const replay = await findReplay(request);
      if (replay !== null) return replay;
      const candidate = judge(request, goal);
      if (candidate instanceof Refusal) throw candidate;
      if (await mustNotCall(request)) throw new Refusal('invalid_phone', 'phone has asked not to be called');
      const accepted = await submit(candidate);
      if (accepted !== null) return accepted;
    }
    throw new DatabaseUnavailable('the Goal was republished too often during one request');
  }

  async function loadGoal(request: RunRequest): Promise<Published> {
    const memoryKey = `${request.accountId} ${request.goalId}`;
    const [row] = await db.query(findAcceptingGoal, [request.goalId, request.accountId]);
    if (row === undefined) {
      remembered.delete(memoryKey);
      throw noSuchGoal();
    }
    const goal: Published = { state: row.state, listed: row.listed, runSpec: runSpecOf(row) };
    remember(remembered, memoryKey, goal);
    return goal;
  }

  function runSpecOf(row: AcceptingGoal): RunSpec | null {
    if (row.run_spec_id === null || row.run_spec_version === null || row.content === null) return null;
    const seen = compiled.get(row.run_spec_id);
    if (seen !== undefined) return seen;
    const { content } = row;
    const runSpec = {
      id: row.run_spec_id,
      version: row.run_spec_version,
      content,
      checkVariables: compileVariables(content.input_schema),
    };
    remember(compiled, runSpec.id, runSpec);
    return runSpec;
  }

  async function findReplay(request: RunRequest): Promise<{ run: RunRow; replayed: boolean } | null> {
    const values = [request.goalId, request.idempotencyKey, fingerprintOf(request)];
    const [row] = await db.query(findRunByKey, values);
    if (row === undefined) return null;
    if (!row.same_request) throw conflict();
    return { run: row, replayed: true };
  }

  async function mustNotCall(request: RunRequest): Promise<boolean> {
    const rows = await db.query(isDoNotCall, [request.accountId, request.phone]);
    return rows.length > 0;
  }

  /** Goes through the checks behind the key look-up, in order: hidden, region, phone, Goal state, variables. */
  function judge(request: RunRequest, goal: Published): Candidate | Refusal {
    if (!goal.listed) return noSuchGoal();
    const content = goal.runSpec?.content;
    if (
      content !== undefined &&
      request.regions !== null &&
      !request.regions.includes(content.voice.region)
    ) {
      return new Refusal('forbidden', 'this key may not run Goals of this region');
    }
    const badPhone = phoneProblem(request.phone, content?.targets ?? null) ?? deps.forbids(request.phone);
    if (badPhone !== null) return new Refusal('invalid_phone', badPhone);
    if (goal.state !== 'active')
      return new Refusal('goal_not_executable', `the Goal is ${goal.state}, not active`);
    if (goal.runSpec === null) return new Refusal('goal_not_published', 'the Goal has no published RunSpec');
    const problems = deps.readiness(goal.runSpec.content);
    if (problems.length > 0) {
      return new Refusal('goal_not_ready', 'the published RunSpec can not be executed here now', {
        details: { problems },
      });
    }
    if (!request.variables.ok) return new Refusal('variables_invalid', request.variables.problem);
    const checked = goal.runSpec.checkVariables(request.variables.values);
    if (!checked.ok) return new Refusal('variables_invalid', checked.problem);
    const opening = nextOpening(goal.runSpec.content.calling_window, deps.clock.now());
    return {
      runId: deps.ids.next('run'),
      publicId: deps.ids.next('grun'),
      accountId: request.accountId,
      goalId: request.goalId,
      runSpecId: goal.runSpec.id,
      runSpecVersion: goal.runSpec.version,
      phone: request.phone,
      variables: JSON.stringify(checked.values),
      idempotencyKey: request.idempotencyKey,
      fingerprint: fingerprintOf(request),
      dueAt: opening === null ? null : new Date(opening),
    };
  }

  async function submit(candidate: Candidate): Promise<{ run: RunRow; replayed: boolean } | null> {
    const row = await batcher.submit(candidate);
    if (row === null) return null;
    if (row.outcome === 'accepted') {
      deps.onAccepted();
      return { run: acceptedRun(candidate, row.created_at), replayed: false };
    }
    if (!row.same_request) throw conflict();
    // Our own id under the key: the first answer was lost, and this is its repetition.
    return { run: row, replayed: row.id !== candidate.runId };
  }

  return { accept };
}

function fingerprintOf({ phone, variables }: RunRequest): Buffer {
  return variables.ok ? fingerprint(phone, variables.values) : unreadable;
}

const noSuchGoal = () => new Refusal('not_found', 'no such Goal');

function conflict(): Refusal {
  return new Refusal(
    'idempotency_conflict',
    'this Idempotency-Key was used with another phone or other variables',
  );
}

function acceptedRun(candidate: Candidate, createdAt: Date): RunRow {
  return {
    id: candidate.runId,
    public_id: candidate.publicId,
    goal_id: candidate.goalId,
    run_spec_id: candidate.runSpecId,
    run_spec_version: candidate.runSpecVersion,
    status: candidate.dueAt === null ? 'in_progress' : 'queued',
    attempt_id: null,
    result: null,
    error_code: null,
    error_detail_code: null,
    created_at: createdAt,
    completed_at: null,
  };
}

/** Keeps the newest entries of a memory, at most `maxRemembered`. */
function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= maxRemembered) return;
  const oldest = memory.keys().next();
  if (!oldest.done) memory.delete(oldest.value);
}
