/**
 * The acceptance of calls: call tasks (`/v1/calls`) and one-shot calls (`/v2/calls`).
 *
 * A call task is created in two steps, because reading it may take a while: its key is taken first, so that others who
 * bring it meanwhile are told; and what the reading found wrong is kept, to be answered again. The key of a one-shot
 * call is taken together with the call, so a rejection leaves no trace.
 */
import type { AgentSettings, ApiErrorCode, CallSchema, GoalFile } from '@trunkcall/contract';
import { advanceCall, beginWaitingTasks, taskLimit } from '../calls/advance.ts';
import { assert } from '../platform/assert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import { questionsOf } from '../calls/fields.ts';
import {
  bindNewKey,
  bindReservedKey,
  findCallingAccount,
  findCallKey,
  insertCall,
  keepCreationFailure,
  listForbiddenPhones,
  releaseCallKey,
  reserveCallKey,
  type CallKeyRow,
} from '../storage/call-acceptance.ts';
import { findCall, type CallRow } from '../storage/call-views.ts';
import { countTasks, lockTaskLimit, type CallKind } from '../storage/calls.ts';
import { DatabaseUnavailable, type Database, type Queryable } from '../storage/database.ts';
import { appendCallEvent } from '../storage/events.ts';
import type {
  AcceptedCall,
  CallAcceptance,
  CallRequest,
  OneShotRequest,
  TaskCallRequest,
} from './call-acceptance.ts';
import { callContent } from './call-content.ts';
import { onlyLiteral, type ReadRecipient, type TaskReader, type TaskReading } from './task-reader.ts';
import { localeIn } from './task-reader/locales.ts';
import type { SentRecipient } from './task-reader/recipients.ts';

export interface CallAcceptanceDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly reader: TaskReader;
  /** Whether the agent of calls speaks a locale. */
  readonly speaks: (locale: string) => boolean;
  /** Who speaks in calls that have no Goal. */
  readonly agent: AgentSettings;
  /** Why what an agent is told can not be executed here; empty when it can. */
  readonly readiness: (content: GoalFile) => readonly string[];
  /** Why a number must not be dialled from here; null when it may be. */
  readonly forbids: (phone: string) => string | null;
  /** What forbids a webhook URL now, in words that fit behind the field's name; null when nothing does. */
  readonly urlProblem: (url: string) => Promise<string | null>;
  /** Call tasks of one account that may wait for others of it. */
  readonly maxQueuedTasks: number;
  readonly onAccepted: () => void;
}

/** How long a creation may take before its key is free again, should the process die in it. */
const creationLeaseMs = 15_000;
/** How long the reading of a task may take; well within the lease. */
const readingLimitMs = 10_000;
const maxRounds = 4;

/** A call that is ready to be inserted. */
interface Candidate {
  readonly kind: CallKind;
  /** What the agent is told, by the place of the recipients. */
  readonly contents: ReadonlyMap<string, GoalFile>;
  readonly request: CallRequest;
  readonly recipients: readonly ReadRecipient[];
  readonly resultSchema: CallSchema | null;
  readonly recipientResultSchema: CallSchema | null;
  /** Recipients that may be called at once. */
  readonly parallel: number;
}

export function createCallAcceptance(deps: CallAcceptanceDependencies): CallAcceptance {
  const { db, ids } = deps;

  async function acceptTask(request: TaskCallRequest): Promise<AcceptedCall> {
    const { idempotencyKey: key, accountId, fingerprint } = request;
    if (key === null) return { call: await createTask(request, null), replayed: false };
    const creator = ids.next('req');
    for (let round = 0; round < maxRounds; round += 1) {
      const values = [accountId, 'v1', key, fingerprint, creator, creationLeaseMs];
      const [row] = await db.query(reserveCallKey, values);
      // Just now committed by another, unseen by our statement.
      if (row === undefined) continue;
      if (row.creator !== creator) return { call: await whatStandsUnder(row), replayed: true };
      return { call: await createReserved(request, key, creator), replayed: false };
    }
    throw new DatabaseUnavailable('the key changed hands too often during one request');
  }

  /** Creates a task under a key that is ours: it ends bound to the call, to its refusal, or free. */
  async function createReserved(request: TaskCallRequest, key: string, creator: string): Promise<CallRow> {
    const held = [request.accountId, 'v1', key, creator];
    try {
      return await createTask(request, { key, creator });
    } catch (error) {
      // What the reading of the task found stays so; anything else may pass.
      if (error instanceof Refusal && keptFailures.has(error.code)) {
        const { code, message, details } = error;
        const body = JSON.stringify({ code, message, details });
        await db.query(keepCreationFailure, [...held, error.status, body]);
      } else {
        await db.query(releaseCallKey, held).catch(() => undefined);
      }
      throw error;
    }
  }

  async function createTask(
    request: TaskCallRequest,
    held: { readonly key: string; readonly creator: string } | null,
  ): Promise<CallRow> {
    const { accountId } = request;
    const account = await callingAccount(accountId);
    await refuseBadTargets(request);
    const { recipients, title } = await read(request, request.recipients, account.region, 'call_not_ready');
    const numbers = new Set(recipients.flatMap(({ phones }) => phones));
    const several = numbers.size > 1;
    if (several && account.default_number === null) throw needsOwnNumber();
    const { resultSchema, recipientResultSchema } = request;
    const candidate: Candidate = {
      kind: 'task',
      contents: contentsOf({ request, recipients, title, resultSchema, recipientResultSchema }),
      request,
      recipients,
      resultSchema,
      recipientResultSchema,
      parallel: account.default_number === null ? 1 : taskLimit({ ...account, max_active_tasks: null }),
    };
    judge(candidate);
    const call = await db.transaction(async (tx) => {
      await makeRoom(tx, accountId, several);
      const inserted = await insert(tx, candidate);
      if (held !== null) {
        const values = [accountId, 'v1', held.key, held.creator, inserted];
        const [bound] = await tx.query(bindReservedKey, values);
        if (bound === undefined) throw inProgress();
      }
      await beginWaitingTasks(tx, ids, accountId);
      return inserted;
    });
    return accepted(call);
  }

  /** Makes sure that another task may wait; holds the account, so that they begin in the order of their ids. */
  async function makeRoom(tx: Queryable, accountId: string, several: boolean): Promise<void> {
    const [account] = await tx.query(lockTaskLimit, [accountId]);
    const [tasks] = await tx.query(countTasks, [accountId]);
    assert(account !== undefined && tasks !== undefined, 'a key has an account');
    // It may have been taken away since it was looked at.
    if (several && account.default_number === null) throw needsOwnNumber();
    if (tasks.in_progress >= taskLimit(account) && tasks.queued >= deps.maxQueuedTasks) {
      throw new Refusal(
        'rate_limit_exceeded',
        `${deps.maxQueuedTasks} call tasks of this account wait already`,
        {
          headers: { 'retry-after': '60' },
        },
      );
    }
  }

  async function acceptOneShot(request: OneShotRequest): Promise<AcceptedCall> {
    const { accountId, idempotencyKey: key, fingerprint } = request;
    for (let round = 0; round < maxRounds; round += 1) {
      const [known] = await db.query(findCallKey, [accountId, 'v2', key, fingerprint]);
      if (known !== undefined) return { call: await whatStandsUnder(known), replayed: true };
      const account = await callingAccount(accountId);
      await refuseBadTargets(request);
      const { recipients, title } = await read(
        request,
        [request.recipient],
        account.region,
        'input_incomplete',
      );
      const schemas = { resultSchema: request.resultSchema, recipientResultSchema: null };
      const candidate: Candidate = {
        kind: 'one_shot',
        contents: contentsOf({ request, recipients, title, ...schemas }),
        request,
        recipients,
        ...schemas,
        parallel: 1,
      };
      judge(candidate);
      const id = await db.transaction(async (tx) => {
        const inserted = ids.next('call');
        const [bound] = await tx.query(bindNewKey, [accountId, 'v2', key, fingerprint, inserted]);
        if (bound === undefined) return null;
        await insert(tx, candidate, inserted);
        await advanceCall(tx, ids, inserted);
        return inserted;
      });
      if (id !== null) return { call: await accepted(id), replayed: false };
    }
    throw new DatabaseUnavailable('the key changed hands too often during one request');
  }

  /** Refuses what stands in the request and can change with time: so it stands behind the look-up of the key. */
  async function refuseBadTargets({ phoneProblem, webhookUrl }: CallRequest): Promise<void> {
    if (phoneProblem !== null) throw new Refusal('invalid_phone', phoneProblem);
    const problem = webhookUrl === null ? null : await deps.urlProblem(webhookUrl);
    if (problem !== null) throw new Refusal('invalid_webhook_url', `webhook_url ${problem}`);
  }

  async function callingAccount(accountId: string) {
    const [account] = await db.query(findCallingAccount, [accountId]);
    assert(account !== undefined, 'a key has an account');
    return account;
  }

  /** Has the task read, within a time. */
  async function read(
    { task, regions }: CallRequest,
    recipients: readonly SentRecipient[] | null,
    region: string,
    missing: ApiErrorCode,
  ): Promise<Extract<TaskReading, { kind: 'ready' }>> {
    const over = new AbortController();
    const asked = { task, recipients, defaultRegion: region, defaultLocale: localeIn(region, deps.speaks) };
    const reading = await Promise.race([
      deps.reader.read(asked, over.signal),
      deps.clock.sleep(readingLimitMs, over.signal).then((): TaskReading => tooSlow),
    ]).finally(() => over.abort());
    const literal = onlyLiteral(asked, reading);
    if (literal.kind === 'failed') throw unreadable(literal.note);
    if (literal.kind === 'not_ready') throw notReady(missing, literal);
    const foreign = literal.recipients.find((one) => regions !== null && !regions.includes(one.region));
    if (foreign !== undefined) throw new Refusal('forbidden', 'this key may not call this region');
    return literal;
  }

  /** What the agent is told, by the place of the recipients. */
  function contentsOf(parts: {
    readonly request: CallRequest;
    readonly recipients: readonly ReadRecipient[];
    readonly title: string;
    readonly resultSchema: CallSchema | null;
    readonly recipientResultSchema: CallSchema | null;
  }): Map<string, GoalFile> {
    const { request, title, resultSchema, recipientResultSchema } = parts;
    const places = new Map(parts.recipients.map((recipient) => [placeOf(recipient), recipient]));
    return new Map(
      [...places].map(([place, { region, locale }]) => {
        const questions = questionsOf(recipientResultSchema, resultSchema, locale);
        const content = { title, task: request.task, region, locale, questions, agent: deps.agent };
        return [place, callContent(content)];
      }),
    );
  }

  /** Refuses what the deployment can not or must not call. */
  function judge(candidate: Candidate): void {
    for (const { phones } of candidate.recipients) {
      for (const phone of phones) {
        const why = deps.forbids(phone);
        if (why !== null) throw new Refusal('invalid_phone', `${fieldOf(candidate, phone)}: ${why}`);
      }
    }
    const problems = new Set([...candidate.contents.values()].flatMap(deps.readiness));
    if (problems.size > 0) {
      throw new Refusal('call_not_ready', 'the call can not be carried out here now', {
        details: { reason_code: 'not_executable', questions: [], problems: [...problems] },
      });
    }
  }

  async function insert(tx: Queryable, candidate: Candidate, id = ids.next('call')): Promise<string> {
    const { request, recipients } = candidate;
    await refuseForbidden(tx, candidate);
    const specs = new Map(
      [...candidate.contents].map(([place, content]) => [
        place,
        { id: ids.next('rspec'), content: JSON.stringify(content) },
      ]),
    );
    const recipientRows = recipients.map((recipient) => {
      const spec = specs.get(placeOf(recipient));
      assert(spec !== undefined, 'every place of a recipient has its content');
      return { ...recipient, id: ids.next('rcp'), specId: spec.id };
    });
    const [first] = recipients;
    assert(first !== undefined, 'a call has a recipient');
    await tx.query(insertCall, [
      id,
      request.accountId,
      candidate.kind,
      request.task,
      first.region,
      first.locale,
      json(candidate.resultSchema),
      json(candidate.recipientResultSchema),
      JSON.stringify(request.metadata),
      request.webhookUrl,
      candidate.parallel,
      [...specs.values()].map((spec) => spec.id),
      [...specs.values()].map((spec) => spec.content),
      recipientRows.map((one) => one.id),
      recipientRows.map((one) => JSON.stringify(one.phones)),
      recipientRows.map((one) => one.specId),
      recipientRows.map((one) => one.region),
      recipientRows.map((one) => one.locale),
    ]);
    const details = JSON.stringify({ status: 'queued', recipients: recipients.length });
    await tx.query(appendCallEvent, [id, ids.next('evt'), 'call.accepted', details]);
    return id;
  }

  async function accepted(id: string): Promise<CallRow> {
    deps.onAccepted();
    return existing(id);
  }

  async function whatStandsUnder(row: CallKeyRow): Promise<CallRow> {
    if (!row.same_request) {
      throw new Refusal('idempotency_conflict', 'this Idempotency-Key was used for a different request');
    }
    if (row.creator !== null) throw inProgress();
    if (row.failure_body !== null) throw failedBefore(row.failure_body, row.failure_status);
    assert(row.call_id !== null, 'a key stands for one of three things');
    return existing(row.call_id);
  }

  async function existing(id: string): Promise<CallRow> {
    const [call] = await db.query(findCall, [id]);
    assert(call !== undefined, 'a key points to a call that is there');
    return call;
  }

  return { acceptTask, acceptOneShot };
}

/** Refusals of a call task that its key stands for from then on. */
const keptFailures: ReadonlySet<ApiErrorCode> = new Set<ApiErrorCode>(['call_not_ready', 'invalid_phone']);

const needsOwnNumber = (): Refusal =>
  new Refusal(
    'call_not_ready',
    'several numbers need a number of the account’s own as its default outbound number; shared lines call one per task',
    {
      details: {
        reason_code: 'dedicated_number_required',
        questions: ['Which one of the numbers should be called?'],
      },
    },
  );

const tooSlow: TaskReading = { kind: 'failed', note: 'it took too long' };

/** Recipients of one region and locale are called with the same words. */
const placeOf = ({ region, locale }: ReadRecipient): string => `${region} ${locale}`;

async function refuseForbidden(tx: Queryable, candidate: Candidate): Promise<void> {
  const phones = candidate.recipients.flatMap((one) => one.phones);
  const [forbidden] = await tx.query(listForbiddenPhones, [candidate.request.accountId, phones]);
  if (forbidden === undefined) return;
  const why = forbidden.why === 'opted_out' ? 'has asked not to be called' : 'is one of our own numbers';
  throw new Refusal('invalid_phone', `${fieldOf(candidate, forbidden.phone)} ${why}`);
}

/** Names the place of a number without repeating it. */
function fieldOf({ kind, recipients }: Candidate, phone: string): string {
  if (kind === 'one_shot') return 'phone';
  const index = recipients.findIndex(({ phones }) => phones.includes(phone));
  return `recipients[${index}].phones[${recipients[index]?.phones.indexOf(phone)}]`;
}

function notReady(code: ApiErrorCode, reading: Extract<TaskReading, { kind: 'not_ready' }>): Refusal {
  const { reasonCode, questions } = reading;
  return new Refusal(code, 'the task lacks something that is needed for the call', {
    details:
      code === 'input_incomplete'
        ? { reason_code: reasonCode, missing_inputs: questions }
        : { reason_code: reasonCode, questions },
  });
}

const unreadable = (note: string): Refusal =>
  new Refusal('provider_unavailable', 'the task could not be read now; try again', {
    status: 503,
    cause: new Error(note),
    headers: { 'retry-after': '5' },
  });

const inProgress = (): Refusal =>
  new Refusal('idempotency_conflict', 'a request with this Idempotency-Key is being handled just now', {
    details: { reason_code: 'creation_in_progress' },
    headers: { 'retry-after': '1' },
  });

/** The refusal of an earlier request, as it was. */
function failedBefore(body: string, status: number | null): Refusal {
  const { code, message, details } = JSON.parse(body) as {
    code: ApiErrorCode;
    message: string;
    details: Record<string, unknown>;
  };
  return new Refusal(code, message, { status: status ?? 422, details });
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
