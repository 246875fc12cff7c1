/**
 * Tells open pages which runs, calls and deliveries have moved, by server-sent events (one stream per tab).
 *
 *   one poll per process ──▶ what differs from the poll before ──▶ each stream: what its person may see
 *
 * - L1  However many pages are open, the database is asked for each kind once per `pollEveryMs`; without any, not
 *       at all.
 * - L2  A message only says what has moved. The page asks for what it shows, with its rights at that time.
 * - L3  A stream ends when its session does, and in any case after `longestMs`; the page comes back by itself.
 * - L4  A slow reader loses messages, never the others' memory: it is ended, and reads everything anew.
 * - L5  A tab that is gone counts no more, so reloading one never uses up what a person may have open.
 */
import type { ServerResponse } from 'node:http';
import type { LiveNews } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { readSession, type Session } from '../../authoring/sessions.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { Refusal } from '../../platform/refusal.ts';
import {
  listMovingCalls,
  listMovingDeliveries,
  listMovingRuns,
  type MovingRow,
} from '../../storage/console-views.ts';
import { listMovingSystem } from '../../storage/system-views.ts';
import { DatabaseUnavailable, type Database, type Statement } from '../../storage/database.ts';
import { commonHeaders } from '../exchange.ts';
import { roleIn } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf, type Visitor } from './visitor.ts';

const pollEveryMs = 700;
const heartbeatMs = 15_000;
const longestMs = 30 * 60_000;
const maxStreams = 200;
const maxStreamsOfPerson = 20;
const maxMoving = 500;

/** What moves, by the name of its event. */
const kinds = {
  runs: listMovingRuns,
  calls: listMovingCalls,
  deliveries: listMovingDeliveries,
  // Of no account: only who runs the deployment is told.
  system: listMovingSystem,
} as const satisfies Record<string, Statement<MovingRow>>;
type Kind = keyof typeof kinds;

/** Of each kind, by id. */
type Moving = ReadonlyMap<Kind, ReadonlyMap<string, MovingRow>>;

interface Stream {
  readonly response: ServerResponse;
  session: Session;
}

export function liveRoutes(app: FastifyInstance, { db, clock, ids, log }: ConsoleDeps): void {
  const live = createLive(db, clock, log);
  app.addHook('preClose', async () => live.close());
  app.get('/live', (request, reply) => {
    const visitor = visitorOf(request);
    live.refuseTooMany(visitor);
    reply.hijack();
    reply.raw.writeHead(200, {
      ...commonHeaders,
      'content-type': 'text/event-stream; charset=utf-8',
      'request-id': request.id || ids.next('req'),
      // Some proxies would hold events back to compress or buffer them.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    void live.serve(visitor, reply.raw);
  });
}

function createLive(db: Database, clock: Clock, log: Logger) {
  const streams = new Set<Stream>();
  const closing = new AbortController();
  let polling = false;

  /** Polls as long as there are streams (L1). */
  async function poll(): Promise<void> {
    if (polling) return;
    polling = true;
    let before: Moving | null = null;
    try {
      while (streams.size > 0 && !closing.signal.aborted) {
        const now = await readMoving(db);
        for (const [kind, rows] of now ?? []) {
          const known = before?.get(kind);
          if (known !== undefined) tell(kind, moved(known, rows));
        }
        before = now ?? before;
        await clock.sleep(pollEveryMs, closing.signal);
      }
    } catch (error) {
      // The pages come back by themselves, and with them the polling.
      log.error({ err: error }, 'live pages can not be told what moves');
      for (const { response } of streams) response.end();
    } finally {
      polling = false;
    }
  }

  function tell(kind: Kind, rows: readonly MovingRow[]): void {
    for (const { response, session } of streams) {
      const seen = rows.filter(({ account_id }) => roleIn(session, account_id) !== null);
      if (seen.length === 0) continue;
      if (response.writableNeedDrain) response.end();
      else response.write(`event: ${kind}\ndata: ${JSON.stringify(messageOf(seen))}\n\n`);
    }
  }

  function refuseTooMany({ session }: Visitor): void {
    const own = [...streams].filter((stream) => stream.session.person_id === session.person_id).length;
    if (streams.size < maxStreams && own < maxStreamsOfPerson) return;
    throw new Refusal('rate_limit_exceeded', 'too many pages are open', { headers: { 'retry-after': '30' } });
  }

  async function serve({ token, session }: Visitor, response: ServerResponse): Promise<void> {
    const left = new AbortController();
    const stream: Stream = { response, session };
    const leave = () => left.abort();
    response.once('close', leave);
    // Our server answers clients that have said all they will say; of a stream, that end is the reader's (L5).
    const { socket } = response;
    socket?.once('end', leave);
    response.write('retry: 3000\n\n');
    streams.add(stream);
    void poll();
    const gone = AbortSignal.any([left.signal, closing.signal]);
    const endAt = clock.monotonic() + longestMs;
    try {
      while (clock.monotonic() < endAt && (await clock.sleep(heartbeatMs, gone))) {
        const current = await readSession(db, token);
        if (current === null) break;
        stream.session = current;
        response.write(': still here\n\n');
      }
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) log.error({ err: error }, 'a live page was ended');
    } finally {
      streams.delete(stream);
      socket?.off('end', leave);
      response.end();
    }
  }

  return { refuseTooMany, serve, close: () => closing.abort() };
}

/** Null while the database is away. */
async function readMoving(db: Database): Promise<Moving | null> {
  try {
    const now = new Map<Kind, ReadonlyMap<string, MovingRow>>();
    for (const kind of Object.keys(kinds) as Kind[]) {
      const rows = await db.query(kinds[kind], [maxMoving]);
      now.set(kind, new Map(rows.map((row) => [row.id, row])));
    }
    return now;
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return null;
    throw error;
  }
}

/** What differs between two polls: new ones, changed ones, and those that nobody works on any more. */
function moved(before: ReadonlyMap<string, MovingRow>, now: ReadonlyMap<string, MovingRow>): MovingRow[] {
  const changed = [...now.values()].filter((row) => before.get(row.id)?.state !== row.state);
  const left = [...before.values()].filter((row) => !now.has(row.id));
  return [...changed, ...left];
}

const messageOf = (rows: readonly MovingRow[]): LiveNews => ({
  moved: rows.map(({ id, account_id }) => ({ id, account_id })),
});
