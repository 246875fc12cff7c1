/**
 * Talking to a draft from the browser: the WebSocket `/console/api/goals/:goal/talk` (messages: `contract/talk.ts`).
 *
 *   handshake: own origin, session, goal.write ──▶ start: draft, variables, agent ──▶ conversation ──▶ result
 *
 * - K1  It has the bounds of a call and its own: two talks at a time for each person, twenty for a process, fifteen
 *       minutes, three minutes without a sign of the person.
 * - K2  Whatever the page does, the agent is stopped when the connection is over, and nobody is dialled.
 * - K3  Nothing is stored, and nothing that was said is logged (I10).
 * - K4  A person whose session ends, or who may no longer write the Goal, is cut off within `checkEveryMs`.
 */
import type { GoalFile, GoalFileProblem, TalkMode, TalkOutcome, TalkRequest } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import { compileVariables } from '../../acceptance/variables.ts';
import { parseGoalFile } from '../../authoring/goal-file.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Rehearsal, Rehearsed } from '../../rehearsal/rehearse.ts';
import { findAccount } from '../../storage/accounts.ts';
import type { GoalRow } from '../../storage/goals.ts';
import { acceptHandshake, requireHandshake } from '../upgrade.ts';
import { requireRight } from './access.ts';
import { newestDraft } from '../operator/goals.ts';
import { readGoal } from './goals.ts';
import type { ConsoleDeps } from './routes.ts';
import { openLine, slownessOf } from './talk-lines.ts';
import { maxMessageBytes, TalkLink } from './talk-link.ts';
import { mayStill, requireOwnSocket, visitorOf, type Visitor } from './visitor.ts';

const maxTalks = 20;
const maxTalksOfPerson = 2;
const longestSeconds = 15 * 60;
const startWithinMs = 10_000;
const idleLimitMs = 3 * 60_000;
const checkEveryMs = 15_000;

export function talkRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  /** The persons who talk, one entry for each talk. */
  const talking: string[] = [];
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());

  async function admit(socket: WebSocket, visitor: Visitor, goal: GoalRow): Promise<void> {
    const link = new TalkLink(socket, deps.clock);
    const { person_id: person } = visitor.session;
    // Said behind the handshake: a page is not told why one was refused.
    if (talking.length >= maxTalks)
      return link.refuse('too many people are talking to drafts now; try again later');
    if (talking.filter((one) => one === person).length >= maxTalksOfPerson)
      return link.refuse(`you are talking to ${maxTalksOfPerson} drafts already; hang up one of them`);
    talking.push(person);
    try {
      await holdTalk(deps, { visitor, goal, link, closing: closing.signal });
    } catch (error) {
      deps.log.error({ goal_id: goal.id, err: error }, 'talk failed');
      link.refuse('the talk could not be held; try again');
    } finally {
      talking.splice(talking.indexOf(person), 1);
    }
  }

  app.get<{ Params: { goal: string } }>(
    '/goals/:goal/talk',
    { onRequest: requireOwnSocket(deps.publicUrl) },
    async (request, reply) => {
      requireHandshake(request.raw);
      const visitor = visitorOf(request);
      const goal = await readGoal(deps.db, request.params.goal);
      requireRight(visitor.session, goal.account_id, 'goal.write', 'Goal');
      reply.hijack();
      acceptHandshake(request.raw, maxMessageBytes, (socket) => void admit(socket, visitor, goal));
    },
  );
}

interface Talk {
  readonly visitor: Visitor;
  readonly goal: GoalRow;
  readonly link: TalkLink;
  /** The process is about to end. */
  readonly closing: AbortSignal;
}

/** Why we end a conversation. */
type Stop = Extract<TalkOutcome, 'idle' | 'not_allowed' | 'closing'> | 'gone';

/** Ends with the connection closed or about to be. Throws: when the database is away at its beginning. */
async function holdTalk(deps: ConsoleDeps, talk: Talk): Promise<void> {
  const { goal, link, closing } = talk;
  const start = await firstRequest(deps.clock, talk);
  if (start === null) return link.close('leaving');
  const prepared = await prepare(deps, goal, start);
  if (prepared.kind === 'refused') return link.refuse(prepared.message, prepared.problems);

  const { rehearsed, outcome } = await converse(deps, talk, start.mode, prepared);
  if (outcome === 'gone') return;
  link.send({ type: 'ended', outcome, ended_by: endedBy(rehearsed), note: rehearsed.note });
  const signal = AbortSignal.any([link.gone, closing]);
  link.send({ type: 'result', ...(await deps.rehearsals.draw(prepared.content, rehearsed, signal)) });
  link.close(closing.aborted ? 'leaving' : 'done');
}

/** Lets the agent and the page talk to one another. Writes one log line for the talk. */
async function converse(
  { db, clock, rehearsals, log }: ConsoleDeps,
  talk: Talk,
  mode: TalkMode,
  { content, variables, callerName }: Ready,
): Promise<{ readonly rehearsed: Rehearsed; readonly outcome: TalkOutcome | 'gone' }> {
  const { link, goal } = talk;
  const beganAtMs = clock.monotonic();
  const { leg, listener } = openLine(mode, clock, link);
  const presence = { heardAtMs: beganAtMs };
  link.listen({
    request(request) {
      presence.heardAtMs = clock.monotonic();
      listener.request(request);
    },
    sound(frame) {
      presence.heardAtMs = clock.monotonic();
      listener.sound(frame);
    },
  });
  const [stopped, over] = [new AbortController(), new AbortController()];
  const stop = (why: Stop) => stopped.abort(why);
  watch({ db, clock }, talk, { presence, stop, over: over.signal }).catch((error: unknown) => {
    log.error({ err: error }, 'a talk could not be watched');
    stop('not_allowed');
  });
  link.send({ type: 'answered', limit_seconds: content.limits.call_seconds * slownessOf[mode] });
  const rehearsed = await rehearsals.converse({
    content,
    variables,
    callerName,
    leg,
    signal: stopped.signal,
    onTurn: ({ speaker, text, offsetMs, interrupted }, index) => {
      const seconds = Math.max(0, Math.round(offsetMs)) / 1_000;
      link.send({ type: 'turn', index, speaker, text, offset_seconds: seconds, interrupted });
    },
  });
  over.abort();
  const outcome = outcomeOf(rehearsed, stopped.signal);
  const { note, turns } = rehearsed;
  const facts = { goal_id: goal.id, account_id: goal.account_id, mode, outcome, note, turns: turns.length };
  log.info({ ...facts, duration_ms: Math.round(clock.monotonic() - beganAtMs) }, 'talk');
  return { rehearsed, outcome };
}

type Start = Extract<TalkRequest, { type: 'start' }>;

/** The start; null when the page or the process left, or something else came. */
async function firstRequest(clock: Clock, { link, closing }: Talk): Promise<Start | null> {
  const { promise, resolve } = Promise.withResolvers<Start | null>();
  const over = AbortSignal.any([link.gone, closing]);
  const came = new AbortController();
  link.listen({
    request(request) {
      if (request.type !== 'start') return link.reject('the first message is start');
      // What comes while the draft is read is not for anybody; the page waits for `answered`.
      link.listen({ request: () => undefined, sound: () => undefined });
      resolve(request);
    },
    sound: () => link.reject('the first message is start'),
  });
  const late = clock.sleep(startWithinMs, AbortSignal.any([over, came.signal])).then((due) => {
    if (due) link.reject(`no start came within ${startWithinMs / 1_000} s`);
    return null;
  });
  const start = await Promise.race([promise, late]);
  came.abort();
  return start;
}

type Ready = Pick<Rehearsal, 'content' | 'variables' | 'callerName'>;

type Prepared =
  | ({ readonly kind: 'ready' } & Ready)
  | { readonly kind: 'refused'; readonly message: string; readonly problems: readonly GoalFileProblem[] };

/** Checks what a talk needs, by the code that publishes Goals and accepts Runs. */
async function prepare({ db, rehearsals }: ConsoleDeps, goal: GoalRow, start: Start): Promise<Prepared> {
  const refused = (message: string, problems: readonly GoalFileProblem[] = []): Prepared => ({
    kind: 'refused',
    message,
    problems,
  });
  const parsed = parseGoalFile(JSON.stringify(newestDraft(goal)));
  if (!parsed.ok) return refused('the draft is not valid yet', parsed.problems);
  const content = limited(parsed.file, start.mode);
  const variables = compileVariables(content.input_schema)(start.variables);
  if (!variables.ok) return refused(variables.problem);
  const missing = rehearsals.problems(content, start.mode === 'typed' ? 'speech' : 'audio');
  if (missing.length > 0) return refused(missing.join('; '));
  const [account] = await db.query(findAccount, [goal.account_id]);
  return { kind: 'ready', content, variables: variables.values, callerName: account?.name ?? '' };
}

/** No talk is longer than its bound, whatever the Goal allows to calls. */
function limited(content: GoalFile, mode: TalkMode): GoalFile {
  const { limits } = content;
  const call_seconds = Math.min(limits.call_seconds, longestSeconds / slownessOf[mode]);
  return { ...content, limits: { ...limits, call_seconds } };
}

interface Watched {
  /** Monotonic time of the last sign of the person. */
  readonly presence: { readonly heardAtMs: number };
  readonly stop: (why: Stop) => void;
  readonly over: AbortSignal;
}

/** Stops a conversation that should not go on. */
async function watch(
  { db, clock }: Pick<ConsoleDeps, 'db' | 'clock'>,
  talk: Talk,
  { presence, stop, over }: Watched,
): Promise<void> {
  const { link, closing, visitor, goal } = talk;
  link.gone.addEventListener('abort', () => stop('gone'), { signal: over });
  closing.addEventListener('abort', () => stop('closing'), { signal: over });
  if (link.gone.aborted) return stop('gone');
  if (closing.aborted) return stop('closing');
  while (await clock.sleep(checkEveryMs, over)) {
    if (clock.monotonic() - presence.heardAtMs >= idleLimitMs) return stop('idle');
    if (!(await mayStill(db, visitor, goal.account_id, 'goal.write'))) return stop('not_allowed');
  }
}

function outcomeOf({ outcome }: Rehearsed, stopped: AbortSignal): TalkOutcome | 'gone' {
  if (outcome === 'stopped') return stopped.reason as Stop;
  // Nobody is connected with anybody here.
  if (outcome === 'transferred') return 'conversation';
  return outcome === 'carrier_error' ? 'media_failed' : outcome;
}

/** Null when neither side hung up. */
function endedBy({ outcome, endedBy: side }: Rehearsed): 'callee' | 'agent' | null {
  const byASide = outcome !== 'stopped' && outcome !== 'call_limit' && outcome !== 'media_failed';
  if (!byASide) return null;
  return side === 'callee' ? 'callee' : 'agent';
}
