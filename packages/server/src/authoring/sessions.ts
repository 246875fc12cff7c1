/**
 * Sessions of people in the console. The token is 256 random bits; stored is its SHA-256. A session ends after
 * `idleSeconds` without use, and after `longestSeconds` in any case; what its person may do is read with every use, so
 * a role that was taken away is gone at once.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Queryable } from '../storage/database.ts';
import {
  deleteExpiredSessions,
  deleteSession,
  deleteSessions,
  findSession,
  insertSession,
  renewSession,
  type SessionRow,
} from '../storage/people.ts';

export type Session = SessionRow;

const idleSeconds = 12 * 3_600;
export const longestSeconds = 14 * 24 * 3_600;
const tokenForm = /^[\w-]{43}$/;

/** A new secret of 256 bits, as text that an URL and a cookie take as it is. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** Begins a session; always with a new token, so none that was planted before a sign-in is worth anything after. */
export async function openSession(tx: Queryable, personId: string): Promise<string> {
  const token = newSecret();
  await tx.query(deleteExpiredSessions, [personId]);
  await tx.query(insertSession, [hashSecret(token), personId, idleSeconds, longestSeconds]);
  return token;
}

/** The session of a token; null when it is malformed, unknown or over. A pure read. */
export async function readSession(db: Queryable, token: string): Promise<Session | null> {
  if (!tokenForm.test(token)) return null;
  const [session] = await db.query(findSession, [hashSecret(token)]);
  return session ?? null;
}

/** Moves the end of a session on. Safe to repeat: yes. */
export async function prolongSession(db: Queryable, token: string): Promise<void> {
  await db.query(renewSession, [hashSecret(token), idleSeconds]);
}

/** Ends a session. Safe to repeat: yes. */
export async function endSession(db: Queryable, token: string): Promise<void> {
  await db.query(deleteSession, [hashSecret(token)]);
}

/** Ends all sessions of a person. */
export async function endSessions(db: Queryable, personId: string): Promise<void> {
  await db.query(deleteSessions, [personId]);
}
