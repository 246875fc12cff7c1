import { advanceCall } from '../calls/advance.ts';
import type { EndFacts } from '../dial/outcome.ts';
import { settlements } from '../dial/outcome.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { publishCall } from '../publication/publish-call.ts';
import { publishInboundRun } from '../publication/publish-inbound.ts';
import { endCallRun, endExecution } from '../storage/attempts.ts';
import type { Database, Queryable, SqlValue } from '../storage/database.ts';
import { releaseCallSlots, type Lease } from '../storage/jobs.ts';
import { patiently } from '../storage/persist.ts';

export interface EndDependencies {
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Ends a run's telephone execution, waiting out a database that is away. With a run of a call goes, in the same
 * commit, what follows for the call; with an inbound run that is final, the news of it.
 *
 * Ends with whether it was ended now. Throws: as `patiently`. Safe to repeat: yes.
 */
export function endRun(
  deps: EndDependencies & { readonly db: Database },
  lease: Lease,
  kind: Pick<EndedRun, 'callId' | 'inbound'>,
  facts: EndFacts,
): Promise<boolean> {
  const { db, clock } = deps;
  const run: EndedRun = { id: lease.subjectId, fence: lease.fence, ...kind };
  const end = (tx: Queryable) => endRunWithin(tx, deps, run, facts);
  // A single statement is a transaction by itself.
  const isSingle = kind.callId === null && !kind.inbound;
  return patiently(clock, () => (isSingle ? end(db) : db.transaction(end)));
}

export interface EndedRun {
  readonly id: string;
  readonly fence: number;
  /** The call that it belongs to; null for a Goal Run. */
  readonly callId: string | null;
  /** Of an inbound call, whose end its owner learns by webhook. */
  readonly inbound: boolean;
}

/** The same inside a transaction of the caller's. */
export async function endRunWithin(
  tx: Queryable,
  deps: EndDependencies,
  { id, fence, callId, inbound }: EndedRun,
  facts: EndFacts,
): Promise<boolean> {
  const values = [id, fence, ...endValues(deps.ids, facts)];
  if (callId === null) {
    const isEnded = (await tx.query(endExecution, values)).length > 0;
    // Without an error the run is final with its result.
    if (isEnded && inbound && settlements[facts.outcome].errorCode !== null)
      await publishInboundRun(tx, deps, id);
    return isEnded;
  }
  const [ended] = await tx.query(endCallRun, values);
  if (ended === undefined) return false;
  if ((await advanceCall(tx, deps.ids, callId)) === 'over') await publishCall(tx, deps, callId);
  if (ended.carrier !== null) await tx.query(releaseCallSlots, [ended.account_id, ended.carrier]);
  return true;
}

/** The values of `endExecution` behind run id and fence. */
function endValues(ids: Ids, facts: EndFacts): SqlValue[] {
  const { status, errorCode, detailCode, event } = settlements[facts.outcome];
  return [
    status,
    errorCode,
    detailCode,
    facts.outcome,
    facts.endedBy,
    facts.sipStatus,
    facts.q850,
    facts.note,
    errorCode === null,
    ids.next('evt'),
    ids.next('evt'),
    event,
  ];
}
