/** Lists page by page: each goes on behind the id with which the page before ended. */
import { isId, type IdPrefix, type OperatorList } from '@trunkcall/contract';
import { Refusal } from '../../platform/refusal.ts';

export interface Page {
  /** Null: from the beginning. */
  readonly after: string | null;
  readonly limit: number;
  /** How many rows to read: one more than shown tells whether there is another page. */
  readonly rows: number;
}

const defaultLimit = 20;
const highestLimit = 100;

/** Reads `after` and `limit` of a list whose cursor is an id. Throws: Refusal `invalid_request`. */
export function readPage(
  { after, limit = String(defaultLimit) }: { readonly after?: string; readonly limit?: string },
  prefix: IdPrefix,
): Page {
  if (after !== undefined && !isId(prefix, after)) {
    throw new Refusal('invalid_request', 'after must be the next_cursor of the page before');
  }
  const count = /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > highestLimit) {
    throw new Refusal('invalid_request', `limit must be an integer from 1 to ${highestLimit}`);
  }
  return { after: after ?? null, limit: count, rows: count + 1 };
}

/** The list envelope around the rows that were read for a page. */
export function pageOf<Item extends { readonly id: string }>(
  { limit }: Page,
  items: readonly Item[],
): OperatorList<Item> {
  const data = items.slice(0, limit);
  return { object: 'list', data, next_cursor: items.length > limit ? (data.at(-1)?.id ?? null) : null };
}
