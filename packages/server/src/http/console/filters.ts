/** What lists are filtered by. */
import { Refusal } from '../../platform/refusal.ts';

/** Throws: Refusal `invalid_request`. */
export function refuseUnknown(name: string, sent: string | null, known: readonly string[]): void {
  if (sent === null || known.includes(sent)) return;
  throw new Refusal('invalid_request', `${name} must be one of: ${known.join(', ')}`);
}

/** A time in milliseconds; null without one. Throws: Refusal `invalid_request`. */
export function readTime(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const time = /^\d{4}-\d{2}-\d{2}T[\d:.]{8,18}Z$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!(time >= 0))
    throw new Refusal('invalid_request', `${name} must be a UTC time such as 2030-01-31T00:00:00Z`);
  return time;
}
