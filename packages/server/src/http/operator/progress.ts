/**
 * Watching a run by long polling: each request waits until something happened behind the position that it
 * names, or its time is over. Nothing is kept between requests, so a watcher survives a restart of the service
 * and any process can answer.
 */
import type { RunProgress } from '@trunkcall/contract';
import type { Clock } from '../../platform/clock.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Queryable } from '../../storage/database.ts';
import { listEvents } from '../../storage/events.ts';
import { findRunDetail, listTurns } from '../../storage/run-views.ts';
import { isFinished } from '../../publication/goal-run-view.ts';
import { acceptedEvent, eventView, runView, turnView } from './views.ts';

export interface Watch {
  /**
   * Ends with what is new behind `after` (everything by default), at the latest when the wait is over or `signal`
   * aborts; then possibly with nothing new. Throws: Refusal `invalid_request`, `rate_limit_exceeded`.
   */
  next(
    runId: string,
    after: string | undefined,
    waitSeconds: string | undefined,
    signal: AbortSignal,
  ): Promise<RunProgress>;
  /** Lets all who wait end at once. */
  close(): void;
}

const pollEveryMs = 250;
const defaultWaitSeconds = 20;
const longestWaitSeconds = 30;
/** Each waiting request asks the database a few times a second. */
const maxWaiting = 64;

export function createWatch({ db, clock }: { readonly db: Queryable; readonly clock: Clock }): Watch {
  const closing = new AbortController();
  let waiting = 0;

  async function untilNews(
    runId: string,
    after: Position,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<RunProgress> {
    const deadline = clock.monotonic() + waitMs;
    for (;;) {
      const progress = await readProgress(db, runId, after);
      const isNews = progress.events.length > 0 || progress.turns.length > 0 || progress.final;
      const leftMs = deadline - clock.monotonic();
      if (isNews || leftMs <= 0 || !(await clock.sleep(Math.min(pollEveryMs, leftMs), signal)))
        return progress;
    }
  }

  return {
    async next(runId, after, waitSeconds, signal) {
      const position = after === undefined ? start : readPosition(after);
      const waitMs = readWait(waitSeconds) * 1_000;
      if (waiting >= maxWaiting) {
        throw new Refusal('rate_limit_exceeded', `${maxWaiting} requests are watching already`, {
          headers: { 'Retry-After': '1' },
        });
      }
      waiting += 1;
      try {
        return await untilNews(runId, position, waitMs, AbortSignal.any([signal, closing.signal]));
      } finally {
        waiting -= 1;
      }
    },
    close: () => closing.abort(),
  };
}

/** How far a watcher has seen: the last event's number and the last turn's place. */
interface Position {
  /** -1 before the acceptance, which is the run's own row and has no number. */
  readonly event: number;
  readonly attempt: number;
  readonly turn: number;
}

/** Of one answer; the next has the others. */
const maxEvents = 2_000;

const start: Position = { event: -1, attempt: 0, turn: -1 };

async function readProgress(db: Queryable, runId: string, after: Position): Promise<RunProgress> {
  // The run first: what ended it was committed with its last events, so these are in what is read next.
  const [run] = await db.query(findRunDetail, [runId]);
  if (run === undefined) throw new Refusal('not_found', 'there is no Run with this id');
  const turns = await db.query(listTurns, [runId, after.attempt, after.turn]);
  const events = await db.query(listEvents, [runId, Math.max(after.event, 0), maxEvents]);
  const lastTurn = turns.at(-1);
  const position: Position = {
    event: events.at(-1)?.seq ?? Math.max(after.event, 0),
    attempt: lastTurn?.attempt ?? after.attempt,
    turn: lastTurn?.index ?? after.turn,
  };
  return {
    run: runView(run),
    events: [...(after.event < 0 ? [acceptedEvent(run)] : []), ...events.map(eventView)],
    turns: turns.map(turnView),
    position: `${position.event}.${position.attempt}.${position.turn}`,
    final: isFinished(run),
  };
}

function readPosition(text: string): Position {
  const match = /^(\d{1,9})\.(\d{1,9})\.(-1|\d{1,9})$/.exec(text);
  if (match === null) throw new Refusal('invalid_request', 'after must be the position of an earlier answer');
  return { event: Number(match[1]), attempt: Number(match[2]), turn: Number(match[3]) };
}

function readWait(text: string | undefined): number {
  if (text === undefined) return defaultWaitSeconds;
  const seconds = Number(text);
  if (!/^\d{1,2}$/.test(text) || seconds > longestWaitSeconds) {
    throw new Refusal(
      'invalid_request',
      `wait_seconds must be a whole number from 0 to ${longestWaitSeconds}`,
    );
  }
  return seconds;
}
