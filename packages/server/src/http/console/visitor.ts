/**
 * Whose request it is, and that it came from our own pages.
 *
 * - The session's token stands in a cookie that scripts can not read, that other sites can not send, and that is sent
 *   below `/console` alone. Nothing else is taken: no Authorization header, no API key.
 * - What changes something needs a header that no foreign page can send without asking first, and an Origin that is
 *   ours.
 */
import type { IncomingMessage } from 'node:http';
import type { ConsoleAction } from '@trunkcall/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { longestSeconds, readSession, type Session } from '../../authoring/sessions.ts';
import { Refusal } from '../../platform/refusal.ts';
import { DatabaseUnavailable, type Queryable } from '../../storage/database.ts';
import { headerValues } from '../headers.ts';
import { hasRight } from './access.ts';

const cookieName = 'trunkcall_session';

export interface Visitor {
  readonly token: string;
  readonly session: Session;
}

const visitors = new WeakMap<FastifyRequest, Visitor>();

/** The check that stands before every route that needs a person. Throws: Refusal `unauthorized`. */
export function requireSession(db: Queryable): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const token = sentToken(request);
    const session = token === null ? null : await readSession(db, token);
    if (token === null || session === null) throw new Refusal('unauthorized', 'sign in first');
    visitors.set(request, { token, session });
  };
}

/** The visitor of a request that `requireSession` let through. */
export function visitorOf(request: FastifyRequest): Visitor {
  const visitor = visitors.get(request);
  if (visitor === undefined) throw new Error('this route does not ask for a session');
  return visitor;
}

/**
 * Whether somebody with a lasting connection still has a session, and may still do what it is for. While the database
 * is away nobody's rights have changed.
 */
export async function mayStill(
  db: Queryable,
  { token }: Visitor,
  accountId: string,
  action: ConsoleAction,
): Promise<boolean> {
  let session: Session | null;
  try {
    session = await readSession(db, token);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return true;
    throw error;
  }
  return session !== null && hasRight(session, accountId, action);
}

/** The token in the cookie; null without one. Of two, either could have been planted: none counts. */
export function sentToken(request: FastifyRequest): string | null {
  const values = headerValues(request.raw.rawHeaders, 'cookie')
    .flatMap((header) => header.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${cookieName}=`))
    .map((pair) => pair.slice(cookieName.length + 1));
  return values.length === 1 ? (values[0] ?? null) : null;
}

export function setCookie(reply: FastifyReply, token: string, secure: boolean): void {
  writeCookie(reply, token, longestSeconds, secure);
}

export function clearCookie(reply: FastifyReply, secure: boolean): void {
  writeCookie(reply, '', 0, secure);
}

function writeCookie(reply: FastifyReply, value: string, maxAgeSeconds: number, secure: boolean): void {
  const parts = [
    `${cookieName}=${value}`,
    'HttpOnly',
    'SameSite=Strict',
    'Path=/console',
    `Max-Age=${maxAgeSeconds}`,
  ];
  reply.header('set-cookie', [...parts, ...(secure ? ['Secure'] : [])].join('; '));
}

/** Whether the browser came by HTTPS: to us, to a trusted proxy, or to the public address. */
export function isSecure(request: FastifyRequest, publicUrl: string | null): boolean {
  return request.protocol === 'https' || (publicUrl?.startsWith('https:') ?? false);
}

const consoleHeader = 'x-trunkcall-console';

/** Refuses what a page of another site could have caused. Throws: Refusal `forbidden`. */
export function requireOwnPage(publicUrl: string | null): (request: FastifyRequest) => Promise<void> {
  const isOwn = ownOrigin(publicUrl);
  return async ({ method, raw }) => {
    if (method === 'GET' || method === 'HEAD') return;
    const [mark] = headerValues(raw.rawHeaders, consoleHeader);
    if (!isOwn(raw) || mark !== '1') throw foreign();
  };
}

/**
 * The same for WebSocket handshakes, which every page may send without asking first, and to which no page can add a
 * header. Throws: Refusal `forbidden`.
 */
export function requireOwnSocket(publicUrl: string | null): (request: FastifyRequest) => Promise<void> {
  const isOwn = ownOrigin(publicUrl);
  return async ({ raw }) => {
    if (!isOwn(raw)) throw foreign();
  };
}

const foreign = () => new Refusal('forbidden', 'the request did not come from the console');

/** Whether a request names our own origin: the public one, or that of the address that it asked. */
function ownOrigin(publicUrl: string | null): (request: IncomingMessage) => boolean {
  const publicOrigin = publicUrl === null ? null : new URL(publicUrl).origin;
  return ({ rawHeaders, headers }) => {
    const [origin, second] = headerValues(rawHeaders, 'origin');
    if (second !== undefined || origin === undefined) return false;
    return origin === publicOrigin || isHost(origin, headers.host);
  };
}

const isHost = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
