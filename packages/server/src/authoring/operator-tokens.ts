/**
 * Operator tokens: `tc_op_` and 43 characters for 256 random bits, or what the operator's settings name (at least
 * 32 characters). Only their SHA-256 is stored; with that many random bits a slow hash would protect nothing more.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '../storage/database.ts';
import { findOperatorToken } from '../storage/operator-tokens.ts';

/** What a token may look like; longer texts are not worth hashing. */
export const operatorTokenForm = /^[\x21-\x7e]{32,200}$/;

export const newOperatorToken = (): string => `tc_op_${randomBytes(32).toString('base64url')}`;

export const hashOperatorToken = (token: string): Buffer => hash('sha256', token, 'buffer');

/**
 * Tells whether the text is a token of this deployment, or the one of this process's settings. Asks the database
 * every time: operators are few, and a deleted token must end at once.
 */
export async function isOperatorToken(
  db: Queryable,
  configured: string | null,
  token: string,
): Promise<boolean> {
  if (!operatorTokenForm.test(token)) return false;
  const sent = hashOperatorToken(token);
  if (configured !== null && timingSafeEqual(hashOperatorToken(configured), sent)) return true;
  const [found] = await db.query(findOperatorToken, [sent]);
  // The look-up compares hashes, which tell nothing about a token; the final comparison takes constant time.
  return found !== undefined && timingSafeEqual(found.token_hash, sent);
}
