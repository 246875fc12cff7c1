/** Calendar days as whole days since 1970-01-01: no time of day, no zone. */
import type { Mention } from './text.ts';

export type Day = number;

const dayMs = 86_400_000;

/** One way in which a language writes or says a day; tried in order, each on what the earlier ones left. */
export interface DatePattern {
  /** Global, on folded text. */
  readonly pattern: RegExp;
  /** Null when the words name no day that exists. */
  readonly day: (groups: Readonly<Record<string, string | undefined>>, context: DateContext) => Day | null;
}

export interface DateContext {
  readonly today: Day;
  /** ISO 3166-1 region of the locale, if it has one: decides what 5/3 means. */
  readonly region: string | null;
}

/** Finds all days that are named in a folded text. */
export function findDates(
  text: string,
  patterns: readonly DatePattern[],
  context: DateContext,
): Mention<Day>[] {
  const mentions: Mention<Day>[] = [];
  let left = text;
  for (const { pattern, day } of patterns) {
    left = left.replace(pattern, (...found: unknown[]) => {
      const [match] = found as [string];
      const groups = found.at(-1) as Record<string, string | undefined>;
      const start = found.at(-3) as number;
      const value = day(groups, context);
      if (value !== null) mentions.push({ value, start, end: start + match.length });
      return '_'.repeat(match.length);
    });
  }
  return mentions.sort((a, b) => a.start - b.start);
}

/** The calendar day at an instant in an IANA zone. */
export function dayAt(unixMs: number, timeZone: string): Day {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  const [month = '', day = '', year = ''] = format.format(unixMs).split('/');
  return Date.UTC(Number(year), Number(month) - 1, Number(day)) / dayMs;
}

/** `YYYY-MM-DD`. */
export function isoDay(day: Day): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** The day that `YYYY-MM-DD` names; null for anything else. */
export function parseIsoDay(text: string): Day | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  return year === undefined ? null : dayOf(Number(year), Number(month), Number(day));
}

/** Null when there is no such day. Months count from 1. */
export function dayOf(year: number, month: number, day: number): Day | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() / dayMs : null;
}

/** 0 is Sunday. */
export function weekdayOf(day: Day): number {
  return (((day + 4) % 7) + 7) % 7;
}

/** The month (from 1) and day of month. */
export function monthAndDay(day: Day): { readonly month: number; readonly dayOfMonth: number } {
  const date = new Date(day * dayMs);
  return { month: date.getUTCMonth() + 1, dayOfMonth: date.getUTCDate() };
}

/** The nearest such weekday after today. */
export function comingWeekday(today: Day, weekday: number): Day {
  return today + (((weekday - weekdayOf(today) + 6) % 7) + 1);
}

/** That weekday of the next week, weeks beginning on Monday: what "next Tuesday" is taken for. */
export function nextWeeksWeekday(today: Day, weekday: number): Day {
  const monday = today - ((weekdayOf(today) + 6) % 7);
  return monday + 7 + ((weekday + 6) % 7);
}

/** The next time that this day of the year comes, today included. The 29th of February may be years away. */
export function comingDayOfYear(today: Day, month: number, dayOfMonth: number): Day | null {
  const year = new Date(today * dayMs).getUTCFullYear();
  for (let later = 0; later <= 8; later += 1) {
    const day = dayOf(year + later, month, dayOfMonth);
    if (day !== null && day >= today) return day;
  }
  return null;
}

/** The next time that this day of the month comes, today included. */
export function comingDayOfMonth(today: Day, dayOfMonth: number): Day | null {
  for (let day = today; day < today + 62; day += 1) {
    if (monthAndDay(day).dayOfMonth === dayOfMonth) return day;
  }
  return null;
}
