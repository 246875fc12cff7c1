import type { CallSchema, DetailCode, ResultSchema } from '@trunkcall/contract';
import { beginWaitingTasks } from '../calls/advance.ts';
import { taskEnd } from '../calls/ending.ts';
import type { SpokenTurn } from '../agents/agent.ts';
import { assert } from '../platform/assert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { publishCall } from '../publication/publish-call.ts';
import {
  drawConclusion,
  type Concluder,
  type ConcludedRecipient,
  type ConclusionTask,
} from '../result/conclude.ts';
import { drawCallResult } from '../result/draw-call-result.ts';
import { drawFields, drawResult, inTime, momentOf, type Retry } from '../result/draw-result.ts';
import type { Extractor } from '../result/extractor.ts';
import { questionsOf } from '../calls/fields.ts';
import { findCall, type CallRow } from '../storage/call-views.ts';
import {
  listCallRuns,
  listRecipientStates,
  lockTaskLimit,
  publishConclusion,
  type CallRunState,
  type RecipientState,
} from '../storage/calls.ts';
import type { Database, Queryable, SqlValue } from '../storage/database.ts';
import { appendCallEvent } from '../storage/events.ts';
import { putBackJob, type Lease } from '../storage/jobs.ts';
import { patiently, persist } from '../storage/persist.ts';
import { findCallConversations, type CallTurnRow } from '../storage/results.ts';
import type { EndDependencies } from './end-run.ts';
import { drawnAgain } from './retries.ts';

export interface ConclusionDependencies extends EndDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly extractor: Extractor;
  readonly concluder: Concluder;
  readonly onPublished: () => void;
}

/** One conclusion takes no longer, however many recipients there are. */
const conclusionLimitMs = 5 * 60_000;
/** Recipients whose results are drawn at the same time. */
const drawnAtOnce = 8;

/** What is published about a call at its end. */
interface Concluded {
  readonly status: 'completed' | 'failed' | 'canceled';
  readonly errorCode: string | null;
  readonly detailCode: string | null;
  readonly result: unknown;
  readonly summary: string | null;
  readonly taskCompleted: boolean | null;
  readonly score: number | null;
  readonly evidence: readonly string[];
  readonly recipients: readonly {
    readonly id: string;
    readonly result: unknown;
    readonly summary: string | null;
  }[];
}

type Drawn = { readonly kind: 'drawn'; readonly concluded: Concluded } | Retry;

interface Ended {
  readonly call: CallRow;
  readonly recipients: readonly RecipientState[];
  readonly runs: readonly CallRunState[];
}

/**
 * Draws the results of a call that has ended on the phone, for each recipient and as a whole, and publishes them: with
 * that commit everything about the call is final. May be done again after a crash: only the first publication counts.
 */
export async function concludeCall(deps: ConclusionDependencies, lease: Lease): Promise<void> {
  const ended = await readEnded(deps.db, lease.subjectId);
  const turns = await conversations(deps.db, lease.subjectId);
  const draw = ended.call.kind === 'task' ? drawTask : drawOneShot;
  const drawn = await inTime(deps.clock, conclusionLimitMs, lease.signal, (stop) =>
    draw(deps, ended, turns, stop),
  );
  if (lease.signal.aborted) return;

  if (drawn.kind === 'retry') {
    const again = await drawnAgain(deps.db, lease.subjectId, lease.tries, drawn);
    const level = again?.counts === false ? 'debug' : 'warn';
    deps.log[level]({ call_id: lease.subjectId, tries: lease.tries, note: drawn.note }, 'conclusion failed');
    if (again !== null) {
      await persist(deps.db, deps.clock, lease, putBackJob, ['conclude', again.inMs, again.counts]);
      return;
    }
  }
  const concluded = drawn.kind === 'retry' ? withoutConclusion(ended) : drawn.concluded;
  const stored = await patiently(deps.clock, () =>
    deps.db.transaction((tx) => publish(tx, deps, ended.call, lease.fence, concluded)),
  );
  deps.log.info(
    { call_id: lease.subjectId, status: concluded.status, tries: lease.tries, stored },
    'conclusion',
  );
  if (stored) deps.onPublished();
}

/** Gives a call its end without a conclusion, which could not be drawn. */
export async function publishNoConclusion(
  tx: Queryable,
  deps: EndDependencies,
  callId: string,
  fence: number,
): Promise<void> {
  const ended = await readEnded(tx, callId);
  await publish(tx, deps, ended.call, fence, withoutConclusion(ended));
}

async function readEnded(db: Queryable, callId: string): Promise<Ended> {
  const [call] = await db.query(findCall, [callId]);
  assert(call !== undefined, 'a conclusion has its call');
  const recipients = await db.query(listRecipientStates, [callId]);
  return { call, recipients, runs: await db.query(listCallRuns, [callId]) };
}

interface Conversation {
  readonly turns: readonly SpokenTurn[];
  readonly heldOn?: string;
}
type Conversations = ReadonlyMap<string, Conversation>;

/** What was said and when, by recipient. */
async function conversations(db: Queryable, callId: string): Promise<Conversations> {
  const rows = await db.query(findCallConversations, [callId]);
  const byRecipient = Map.groupBy(rows, (row) => row.recipient_id);
  return new Map([...byRecipient].map(([id, said]) => [id, conversationIn(said)]));
}

function conversationIn(rows: readonly CallTurnRow[]): Conversation {
  const turns = rows.map((row) => ({ ...row, offsetMs: row.offset_ms }));
  const answeredAt = rows.at(-1)?.answered_at ?? null;
  return { turns, ...(answeredAt !== null && { heldOn: momentOf(answeredAt) }) };
}

/** Of somebody who was not reached. */
const nothingSaid: Conversation = { turns: [] };

async function drawOneShot(
  deps: ConclusionDependencies,
  { call, recipients }: Ended,
  spoken: Conversations,
  signal: AbortSignal,
): Promise<Drawn> {
  const said = spoken.get(recipients[0]?.id ?? '') ?? nothingSaid;
  // A one-shot schema is a flat one: acceptance has seen to it.
  const resultSchema = call.result_schema as ResultSchema;
  const drawn = await drawResult({ resultSchema, ...said }, deps.extractor, signal);
  if (drawn.kind === 'retry') return drawn;
  const evidence = drawn.kind === 'result' ? Object.values(drawn.evidence).map(({ quote }) => quote) : [];
  return {
    kind: 'drawn',
    concluded: {
      ...bare('completed'),
      errorCode: drawn.kind === 'error' ? drawn.code : null,
      detailCode: drawn.kind === 'error' ? drawn.detailCode : null,
      result: drawn.kind === 'result' ? drawn.result : null,
      evidence,
    },
  };
}

async function drawTask(
  deps: ConclusionDependencies,
  { call, recipients, runs }: Ended,
  spoken: Conversations,
  signal: AbortSignal,
): Promise<Drawn> {
  const resultSchema = call.result_schema as CallSchema | null;
  const recipientSchema = call.recipient_result_schema as CallSchema | null;
  const questions = questionsOf(recipientSchema, resultSchema);
  const concludedRecipients: ConcludedRecipient[] = [];
  for (let at = 0; at < recipients.length; at += drawnAtOnce) {
    const drawn = await Promise.all(
      recipients.slice(at, at + drawnAtOnce).map(async (recipient) => {
        const said = spoken.get(recipient.id) ?? nothingSaid;
        const outcome = lastOutcome(runs, recipient.id);
        const status = settled(recipient);
        if (recipientSchema === null || status !== 'completed')
          return { status, outcome, ...said, result: null };
        const fields = await drawFields({ resultSchema: questions, ...said }, deps.extractor, signal);
        if (fields.kind === 'retry') return fields;
        const result = drawCallResult(recipientSchema, fields);
        return { status, outcome, ...said, result: result.kind === 'result' ? result.result : null };
      }),
    );
    for (const one of drawn) {
      if ('kind' in one) return one;
      concludedRecipients.push(one);
    }
  }
  const task: ConclusionTask = {
    task: call.task,
    resultSchema,
    recipientSchema,
    recipients: concludedRecipients,
  };
  const conclusion = await drawConclusion(task, deps.concluder, signal);
  if (conclusion.kind === 'retry') return conclusion;
  const { status, failure } = taskEnd(call.cancel_requested_at !== null, recipients, runs);
  return {
    kind: 'drawn',
    concluded: {
      status,
      errorCode: failure,
      detailCode: null,
      result: conclusion.structuredResult,
      summary: conclusion.summary,
      taskCompleted: conclusion.taskCompleted,
      score: conclusion.confidence.score,
      evidence: conclusion.evidence,
      recipients: recipients.map(({ id }, index) => ({
        id,
        result: concludedRecipients[index]?.result ?? null,
        summary: conclusion.recipientSummaries[index] ?? null,
      })),
    },
  };
}

function settled({ status }: RecipientState): ConcludedRecipient['status'] {
  assert(status !== 'pending' && status !== 'in_progress', 'a call is concluded behind its recipients');
  return status;
}

function lastOutcome(runs: readonly CallRunState[], recipientId: string): DetailCode | null {
  const last = runs.findLast((run) => run.recipient_id === recipientId);
  return (last?.error_detail_code ?? null) as DetailCode | null;
}

/** What is left to say when no conclusion could be drawn. */
function withoutConclusion({ call, recipients, runs }: Ended): Concluded {
  if (call.kind === 'one_shot') {
    return { ...bare('completed'), errorCode: 'result_failed', detailCode: 'extraction_failed' };
  }
  const { status, failure } = taskEnd(call.cancel_requested_at !== null, recipients, runs);
  return { ...bare(status), errorCode: failure };
}

const bare = (status: Concluded['status']): Concluded => ({
  status,
  errorCode: null,
  detailCode: null,
  result: null,
  summary: null,
  taskCompleted: null,
  score: null,
  evidence: [],
  recipients: [],
});

async function publish(
  tx: Queryable,
  deps: EndDependencies,
  call: CallRow,
  fence: number,
  concluded: Concluded,
): Promise<boolean> {
  // The account before the call: the order in which everybody locks them.
  await tx.query(lockTaskLimit, [call.account_id]);
  const [published] = await tx.query(publishConclusion, [call.id, fence, ...valuesOf(concluded)]);
  if (published === undefined) return false;
  const { status, errorCode } = concluded;
  for (const type of ['call.result_ready', `call.${status}`]) {
    const told = type === 'call.result_ready' && call.kind === 'task' ? 'in_progress' : status;
    const details = JSON.stringify({ status: told, error_code: errorCode });
    await tx.query(appendCallEvent, [call.id, deps.ids.next('evt'), type, details]);
  }
  await publishCall(tx, deps, call.id);
  if (call.kind === 'task') await beginWaitingTasks(tx, deps.ids, call.account_id);
  return true;
}

function valuesOf(concluded: Concluded): SqlValue[] {
  const { recipients } = concluded;
  return [
    concluded.status,
    concluded.errorCode,
    concluded.detailCode,
    json(concluded.result),
    concluded.summary,
    concluded.taskCompleted,
    concluded.score,
    JSON.stringify(concluded.evidence),
    recipients.map(({ id }) => id),
    recipients.map(({ result }) => json(result)),
    recipients.map(({ summary }) => summary),
  ];
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
