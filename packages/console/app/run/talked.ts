import type { ConsoleRunDetail, OperatorAttempt } from '@trunkcall/contract';

/**
 * How long an attempt was on the phone, as usage counts it; null while it is, or when nobody answered. The time of a
 * simulated call runs faster than the clock, so its turns may reach further than its end.
 */
export function talkedMs(
  { number, answered_at: answered, ended_at: ended }: OperatorAttempt,
  transcript: ConsoleRunDetail['transcript'],
): number | null {
  if (answered === null || ended === null) return null;
  const last = transcript.findLast(({ attempt }) => attempt === number);
  return Math.max(Date.parse(ended) - Date.parse(answered), (last?.offset_seconds ?? 0) * 1_000);
}
