/**
 * Takes a call to one of our numbers in, or refuses it.
 *
 *   Incoming ─▶ whose number, which Goal, open? ─▶ limits ══commit══▶ an InboundCall, which may be answered
 *                        └──────── no ────────────────┴────────▶ refused, counted, logged
 *
 * Invariants
 * - N1  A call is answered only after the commit of its run, attempt, lease and slots.
 * - N2  Of one call, however many copies of its request come and to whichever process, one run is made; another one only
 *       when that has failed by our fault before it was answered, such as by the death of its worker.
 * - N3  A call that is not taken in leaves a counter and a log line, and nothing else.
 */
import { createHash } from 'node:crypto';
import type { GoalFile, Variables } from '@trunkcall/contract';
import type { Agent } from '../agents/agent.ts';
import type { Carrier, Incoming } from '../carriers/carrier.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { DatabaseUnavailable, type Database } from '../storage/database.ts';
import { acceptInbound, acceptInboundValues, countRefusedCall, findLine } from '../storage/inbound.ts';
import type { ClaimedJob } from '../storage/jobs.ts';
import { decideAnswer, whyNotAccepted, type AnsweredLine, type Answering } from './decide.ts';

export interface AdmissionDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly carrier: Pick<Carrier, 'name' | 'media'>;
  readonly agents: readonly Agent[];
  /** Whose lease the call's job is from the beginning. */
  readonly worker: string;
  readonly leaseMs: number;
  /** Shared counters of live calls, and how far each may go. */
  readonly scopes: readonly string[];
  readonly limits: readonly number[];
}

/** A call that was taken in: it may be answered now. */
export interface InboundCall extends ClaimedJob {
  readonly attemptId: string;
  readonly account_name: string;
  readonly variables: Variables;
  readonly content: GoalFile;
  readonly announcement: string | null;
}

/** Null: it was refused, or its caller has gone. Throws: never. */
export async function admitIncoming(
  deps: AdmissionDependencies,
  incoming: Incoming,
): Promise<InboundCall | null> {
  const { db, clock, agents, carrier } = deps;
  const problemsOf = ({ agent: { kind }, locale }: GoalFile): readonly string[] =>
    agents.find((agent) => agent.kind === kind)?.problems(locale, carrier.media) ?? ['no such agent here'];
  let numberId: string | null = null;
  try {
    const [line] = await db.query(findLine, [incoming.to]);
    numberId = line?.number_id ?? null;
    const decided = decideAnswer(line, clock.now(), problemsOf);
    if (decided.kind === 'answer') {
      // Whoever has hung up meanwhile needs no run.
      if (incoming.signal.aborted) return null;
      const stored = await store(deps, incoming, decided.line);
      if ('subject_id' in stored) return stored;
      await refuse(deps, incoming, numberId, stored);
    } else await refuse(deps, incoming, numberId, decided);
  } catch (error) {
    incoming.reject({ reason: 'unavailable', retryAfterSeconds: unavailableSeconds });
    const about = { carrier: carrier.name, trunk: incoming.trunk };
    if (error instanceof DatabaseUnavailable) deps.log.warn(about, 'an inbound call was lost: no database');
    else deps.log.error({ ...about, err: error }, 'an inbound call was lost');
  }
  return null;
}

/** What a caller is told to wait when the database is away. */
const unavailableSeconds = 5;

type Refused = Extract<Answering, { kind: 'refuse' }>;

async function store(
  { db, ids, carrier, worker, leaseMs, scopes, limits }: AdmissionDependencies,
  { from, providerCallId, identity }: Incoming,
  line: AnsweredLine,
): Promise<InboundCall | Refused> {
  const { accountId, accountName, goalId, runSpecId, runSpecVersion, numberId, content, variables } = line;
  const [runId, attemptId] = [ids.next('run'), ids.next('att')];
  const [row] = await db.query(
    acceptInbound,
    acceptInboundValues({
      runId,
      publicId: ids.next('grun'),
      accountId,
      goalId,
      runSpecId,
      runSpecVersion,
      numberId,
      phone: from,
      variables: JSON.stringify(variables),
      attemptId,
      carrier: carrier.name,
      providerCallId,
      identity,
      fingerprint: createHash('sha256').update(identity).digest(),
      worker,
      leaseMs,
      scopes,
      limits,
      eventId: ids.next('evt'),
    }),
  );
  if (row?.accepted !== true) {
    return whyNotAccepted(row ?? { unchanged: false, account_room: 0, room: null });
  }
  return {
    subject_id: runId,
    account_id: accountId,
    fence: 1,
    tries: 1,
    attemptId,
    account_name: accountName,
    variables,
    content,
    announcement: line.announcement,
  };
}

/** Tells the caller first: what is noted of it need not keep them waiting. */
async function refuse(
  { db, log, carrier }: AdmissionDependencies,
  incoming: Incoming,
  numberId: string | null,
  { reason, retryAfterSeconds, note }: Refused,
): Promise<void> {
  incoming.reject({ reason, retryAfterSeconds });
  log.info(
    { carrier: carrier.name, trunk: incoming.trunk, number_id: numberId, reason, note },
    'inbound call refused',
  );
  if (numberId === null || reason === 'duplicate') return;
  await db
    .query(countRefusedCall, [numberId, reason])
    .catch((error: unknown) => log.warn({ err: error }, 'a refused call was not counted'));
}
