import type { CallingWindow } from '@trunkcall/contract';
import { DateTime } from 'luxon';

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/**
 * Tells when the window is next open: `null` when it is open now (or there is none), else the Unix
 * milliseconds of the next opening.
 *
 * Hours are the wall clock's in the window's zone. An opening that daylight saving skips moves to the first
 * minute after the gap.
 */
export function nextOpening(window: CallingWindow | undefined, nowMs: number): number | null {
  if (window === undefined) return null;
  const now = DateTime.fromMillis(nowMs, { zone: window.timezone });
  // Eight days reach the same weekday again when today's hours are already over.
  for (let ahead = 0; ahead <= 7; ahead += 1) {
    const day = now.startOf('day').plus({ days: ahead });
    const name = weekdays[day.weekday - 1];
    if (name === undefined || !window.days.includes(name)) continue;
    const opens = atTime(day, window.from).toMillis();
    const closes = atTime(day, window.to).toMillis();
    if (nowMs < opens) return opens;
    if (nowMs < closes) return null;
  }
  throw new Error('a calling window names at least one day');
}

function atTime(day: DateTime, time: string): DateTime {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour === 24 ? day.plus({ days: 1 }) : day.set({ hour, minute });
}
