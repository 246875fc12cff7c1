import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  comingDayOfMonth,
  comingDayOfYear,
  comingWeekday,
  dayAt,
  dayOf,
  isoDay,
  nextWeeksWeekday,
  parseIsoDay,
  weekdayOf,
} from '../../../src/agents/scripted/understanding/dates.ts';

const iso = (day: number | null) => (day === null ? null : isoDay(day));
const anyDay = fc.integer({ min: -10_000, max: 60_000 });
const anyWeekday = fc.integer({ min: 0, max: 6 });

it('which day it is depends on the zone', () => {
  const lateEvening = Date.parse('2026-11-22T03:00:00Z');
  expect(isoDay(dayAt(lateEvening, 'UTC'))).toBe('2026-11-22');
  expect(isoDay(dayAt(lateEvening, 'America/New_York'))).toBe('2026-11-21');
  expect(isoDay(dayAt(lateEvening, 'Asia/Tokyo'))).toBe('2026-11-22');
});

it('days that do not exist are none', () => {
  expect(dayOf(2027, 2, 29)).toBeNull();
  expect(dayOf(2028, 2, 29)).not.toBeNull();
  expect(dayOf(2027, 13, 1)).toBeNull();
  expect(parseIsoDay('2027-02-30')).toBeNull();
  expect(parseIsoDay('2027-2-3')).toBeNull();
});

it('a day and its ISO form are the same', () => {
  fc.assert(
    fc.property(anyDay, (day) => {
      expect(parseIsoDay(isoDay(day))).toBe(day);
    }),
  );
});

it('a coming weekday is that weekday, one to seven days away', () => {
  fc.assert(
    fc.property(anyDay, anyWeekday, (today, weekday) => {
      const day = comingWeekday(today, weekday);
      expect(weekdayOf(day)).toBe(weekday);
      expect(day).toBeGreaterThan(today);
      expect(day).toBeLessThanOrEqual(today + 7);
    }),
  );
});

it('a weekday of next week lies behind the next Sunday', () => {
  fc.assert(
    fc.property(anyDay, anyWeekday, (today, weekday) => {
      const day = nextWeeksWeekday(today, weekday);
      const sunday = today + ((7 - weekdayOf(today)) % 7);
      expect(weekdayOf(day)).toBe(weekday);
      expect(day).toBeGreaterThan(sunday);
      expect(day).toBeLessThanOrEqual(sunday + 7);
    }),
  );
});

it('a day of the year or of the month is the next one from today on', () => {
  const today = parseIsoDay('2026-11-21') ?? 0;
  expect(iso(comingDayOfYear(today, 11, 21))).toBe('2026-11-21');
  expect(iso(comingDayOfYear(today, 11, 20))).toBe('2027-11-20');
  expect(iso(comingDayOfYear(today, 2, 30))).toBeNull();
  expect(iso(comingDayOfMonth(today, 21))).toBe('2026-11-21');
  expect(iso(comingDayOfMonth(today, 20))).toBe('2026-12-20');
  expect(iso(comingDayOfMonth(today, 32))).toBeNull();
});
