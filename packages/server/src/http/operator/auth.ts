import type { FastifyRequest } from 'fastify';
import { isOperatorToken } from '../../authoring/operator-tokens.ts';
import type { Clock } from '../../platform/clock.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Queryable } from '../../storage/database.ts';
import { networkOf } from '../auth.ts';
import { headerValues } from '../headers.ts';
import { TokenBuckets } from '../../platform/token-buckets.ts';

/** Wrong tokens that one address may send: 20 at once, then one in two seconds. */
const wrongTokenRate = { perSecond: 0.5, burst: 20 };

/** The check that stands before every operator route. Throws: Refusal `unauthorized`, `rate_limit_exceeded`. */
export function requireOperator(
  db: Queryable,
  configuredToken: string | null,
  clock: Clock,
): (request: FastifyRequest) => Promise<void> {
  const wrongTokens = new TokenBuckets(clock, wrongTokenRate);
  return async (request) => {
    const address = networkOf(request.ip);
    // Taken before the look-up and given back after it, so that a flood of guesses can not outrun the count.
    const waitSeconds = wrongTokens.take(address);
    if (waitSeconds > 0) {
      throw new Refusal('rate_limit_exceeded', 'too many wrong operator tokens from this address', {
        headers: { 'retry-after': String(waitSeconds) },
      });
    }
    const token = sentToken(request);
    if (!(await isOperatorToken(db, configuredToken, token))) {
      throw new Refusal('unauthorized', 'an operator token is needed: Authorization: Bearer tc_op_…', {
        headers: { 'www-authenticate': 'Bearer realm="trunkcall operator"' },
      });
    }
    wrongTokens.giveBack(address);
  };
}

/** The token in the header; of two, neither counts. Empty without one. */
export function sentToken({ raw }: FastifyRequest): string {
  const [sent = '', second] = headerValues(raw.rawHeaders, 'authorization');
  return second === undefined ? (/^Bearer +(\S+)$/i.exec(sent)?.[1] ?? '') : '';
}
