/**
 * Listening in on a live call from the browser: the WebSocket `/console/api/runs/:run/listen` (`contract/listen.ts`).
 *
 *   POST …/listenings: right, call, room ──▶ note in the audit log ──▶ handshake within a minute ──▶ sound
 *
 * - N1  Only calls whose Goal records are open, since the callee was told so; and nobody listens without a note.
 * - N2  Two listeners a call. One who does not read in time loses sound; neither the call nor anybody else notices.
 * - N3  It ends with the call, when its callee is connected with somebody else, after an hour, or within `checkEveryMs`
 *       when the session or the right has ended.
 * - N4  Nothing of the sound is stored or logged (I10).
 */
import {
  isId,
  maxListeners,
  type ConsoleListening,
  type ListenEnd,
  type Listening,
  type ListenMessage,
} from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import { recordChange } from '../../authoring/audit.ts';
import type { Leg } from '../../carriers/carrier.ts';
import { Refusal } from '../../platform/refusal.ts';
import { findHearing } from '../../storage/audit.ts';
import { findCallNow } from '../../storage/console-views.ts';
import { queryParameters } from '../query.ts';
import { acceptHandshake, requireHandshake } from '../upgrade.ts';
import { PageLink } from './page-link.ts';
import { readRun } from './read-run.ts';
import type { ConsoleDeps } from './routes.ts';
import { mayStill, requireOwnSocket, visitorOf, type Visitor } from './visitor.ts';

interface OneRun {
  /** The public id. */
  Params: { run: string };
}

type ReadRun = Awaited<ReturnType<typeof readRun>>;

const action = 'call.listened';
const noteMs = 60_000;
const longestMs = 60 * 60_000;
const checkEveryMs = 15_000;
/** A page has nothing to say. */
const maxMessageBytes = 1_024;
/** What the page has not read yet: two seconds of sound. */
const maxUnsentBytes = 32 * 1024;

/** Why nobody, or nobody more, can listen in. */
const reasons: Readonly<Record<Exclude<Listening, 'open'>, string>> = {
  not_recorded: 'calls of this Goal are not recorded, so the callee was not told that others may hear',
  not_answered: 'nobody is on the phone yet',
  elsewhere: 'another process leads this call; its sound can only be heard there',
  no_sound: 'this call is simulated and has no sound',
  transferred: 'the callee talks to somebody who was not told that others may hear',
  full: `${maxListeners} people listen in on this call already`,
  over: 'the call is over',
};

/** Whether somebody can listen in on a run here; `worker`: the process that leads it elsewhere. */
export async function listeningOf(
  { db, legOf }: Pick<ConsoleDeps, 'db' | 'legOf'>,
  { id, content }: Pick<ReadRun, 'id' | 'content'>,
): Promise<{ readonly listening: Listening; readonly worker: string | null }> {
  const [now] = await db.query(findCallNow, [id]);
  const said = (listening: Listening, worker: string | null = null) => ({ listening, worker });
  if (now === undefined || now.over) return said('over');
  if (content.record !== true) return said('not_recorded');
  const leg = legOf(id);
  if (leg?.transferred?.aborted === true) return said('transferred');
  if (leg !== null) return said(leg.listenIn === undefined ? 'no_sound' : 'open');
  return now.answered ? said('elsewhere', now.worker) : said('not_answered');
}

export function listenRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { db, ids, clock } = deps;
  /** The run of each who listens. */
  const listening: string[] = [];
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());

  /** Throws: Refusal `listening_not_possible`. */
  async function requireOpen(run: ReadRun, visitor: Visitor): Promise<Leg> {
    const { listening: state, worker } = await listeningOf(deps, run);
    if (state !== 'open') throw refusal(state, visitor.session.operator ? worker : null);
    const leg = deps.legOf(run.id);
    if (leg === null) throw refusal('over');
    return leg;
  }

  /** Throws: Refusal `listening_not_possible`. */
  function refuseTooMany({ id }: ReadRun): void {
    if (listening.filter((one) => one === id).length >= maxListeners) throw refusal('full');
  }

  app.post<OneRun>('/runs/:run/listenings', async (request, reply): Promise<ConsoleListening> => {
    const visitor = visitorOf(request);
    const { run: objectId } = request.params;
    const run = await readRun(db, visitor.session, objectId, 'call.listen');
    await requireOpen(run, visitor);
    refuseTooMany(run);
    const change = { by: visitor.session.person_id, accountId: run.account_id, action, objectId };
    const note = await db.transaction((tx) => recordChange(tx, ids, change));
    reply.code(201);
    return { listening: note, expires_at: new Date(clock.now() + noteMs).toISOString() };
  });

  app.get<OneRun>(
    '/runs/:run/listen',
    { onRequest: requireOwnSocket(deps.publicUrl) },
    async (request, reply) => {
      requireHandshake(request.raw);
      const visitor = visitorOf(request);
      const { run: publicId } = request.params;
      const run = await readRun(db, visitor.session, publicId, 'call.listen');
      const { listening: note = '' } = queryParameters(request, ['listening']);
      const noted = isId('aud', note)
        ? await db.query(findHearing, [note, visitor.session.person_id, action, publicId, noteMs])
        : [];
      if (noted.length === 0) throw new Refusal('forbidden', 'listening must name a note of the last minute');
      const leg = await requireOpen(run, visitor);
      refuseTooMany(run);
      reply.hijack();
      // At once, so that nobody comes in between.
      acceptHandshake(request.raw, maxMessageBytes, (socket) => {
        listening.push(run.id);
        const heard = hear(deps, { socket, leg, run, visitor, closing: closing.signal });
        void heard.finally(() => listening.splice(listening.indexOf(run.id), 1));
      });
    },
  );
}

function refusal(why: Exclude<Listening, 'open'>, worker: string | null = null): Refusal {
  const details = { listening: why, ...(worker !== null && { worker }) };
  return new Refusal('listening_not_possible', reasons[why], { details });
}

interface Hearing {
  readonly socket: WebSocket;
  readonly leg: Leg;
  readonly run: ReadRun;
  readonly visitor: Visitor;
  /** The process is about to end. */
  readonly closing: AbortSignal;
}

/** Ends with the connection closed or about to be. Never rejects. Writes one log line. */
async function hear(deps: ConsoleDeps, hearing: Hearing): Promise<void> {
  const { clock, log } = deps;
  const { socket, leg, run } = hearing;
  const beganAtMs = clock.monotonic();
  const link = new PageLink(socket, clock, () => link.close('broken'));
  let lost = 0;
  const stop = leg.listenIn?.((heard, sent) => {
    if (!link.send(Buffer.concat([heard, sent]), maxUnsentBytes)) lost += 1;
  });
  const reason = await whyOver(deps, hearing, link.gone).catch((error: unknown) => {
    log.error({ run_id: run.id, err: error }, 'listening failed');
    return 'closing' as const;
  });
  stop?.();
  const ended: ListenMessage = { type: 'ended', reason: reason === 'gone' ? 'call_ended' : reason };
  // Behind the sound that waits.
  link.send(JSON.stringify(ended), 2 * maxUnsentBytes);
  link.close(reason === 'closing' ? 'leaving' : 'done');
  const duration_ms = Math.round(clock.monotonic() - beganAtMs);
  log.info(
    { run_id: run.id, account_id: run.account_id, reason, lost_frames: lost, duration_ms },
    'listened in',
  );
}

/** Waits for whatever ends it first. Throws: when the session can not be read for another reason than an outage. */
async function whyOver(
  { db, clock }: ConsoleDeps,
  { leg, run, visitor, closing }: Hearing,
  gone: AbortSignal,
): Promise<ListenEnd | 'gone'> {
  const over = new AbortController();
  const { transferred = new AbortController().signal } = leg;
  const awake = AbortSignal.any([over.signal, transferred, gone, closing]);
  const endsAtMs = clock.monotonic() + longestMs;
  void leg.ended.then(() => over.abort());
  while (await clock.sleep(checkEveryMs, awake)) {
    if (clock.monotonic() >= endsAtMs) return 'limit';
    if (!(await mayStill(db, visitor, run.account_id, 'call.listen'))) return 'not_allowed';
  }
  if (transferred.aborted) return 'transferred';
  if (over.signal.aborted) return 'call_ended';
  return gone.aborted ? 'gone' : 'closing';
}
