/**
 * How column types become JavaScript values; the same for both adapters.
 *
 * - `int8` (also `count(*)`): number. A value beyond ±(2^53 − 1) rejects the query rather than lose digits;
 *   a statement that may return one casts it to text.
 * - `timestamptz`: Date (milliseconds; microseconds are cut off).
 * - `date`: text `YYYY-MM-DD`, because a Date would move with the process's time zone.
 * - `json`, `jsonb`: parsed. `json` keeps the key order of its text, `jsonb` does not; JavaScript itself puts
 *   keys that look like array indexes first.
 * - `numeric`: text. Everything else as `pg` has it.
 */
import { TypeOverrides, types } from 'pg';

export const rowTypes = new TypeOverrides();

rowTypes.setTypeParser(types.builtins.INT8, (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError('An int8 column holds a value beyond 2^53: cast it to text.');
  return value;
});
rowTypes.setTypeParser(types.builtins.DATE, (text: string) => text);
