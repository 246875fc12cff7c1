import type { FastifyRequest } from 'fastify';
import { Refusal } from '../platform/refusal.ts';

/**
 * Reads the query parameters that an operation knows, each at most once. Others are refused rather than ignored: a
 * misspelt one would silently do something else than was meant.
 *
 * Throws: Refusal `invalid_request`.
 */
export function queryParameters<Name extends string>(
  request: FastifyRequest,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const known: Partial<Record<Name, string>> = {};
  for (const [sent, value] of Object.entries(request.query ?? {})) {
    const name = names.find((candidate) => candidate === sent);
    if (name === undefined) throw new Refusal('invalid_request', 'there is an unknown query parameter');
    if (typeof value !== 'string') throw new Refusal('invalid_request', `${name} is there more than once`);
    known[name] = value;
  }
  return known;
}

const limitForm = /^[1-9]\d{0,2}$/;
const maxLimit = 100;

/** Reads how many items a page is to have, 1 to 100. Throws: Refusal `invalid_request`. */
export function readLimit(sent: string | undefined, defaultLimit: number): number {
  if (sent === undefined) return defaultLimit;
  if (!limitForm.test(sent) || Number(sent) > maxLimit) {
    throw new Refusal('invalid_request', `limit must be a whole number from 1 to ${maxLimit}`);
  }
  return Number(sent);
}
