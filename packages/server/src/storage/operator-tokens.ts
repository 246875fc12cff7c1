import { statement } from './database.ts';

/** A token that is known already stays. Values: SHA-256 of the token. */
export const insertOperatorToken = statement<never>(
  'insert_operator_token',
  'insert into operator_tokens (token_hash) values ($1) on conflict do nothing',
);

/** Values: SHA-256 of the token. */
export const findOperatorToken = statement<{ readonly token_hash: Buffer }>(
  'find_operator_token',
  'select token_hash from operator_tokens where token_hash = $1',
);
