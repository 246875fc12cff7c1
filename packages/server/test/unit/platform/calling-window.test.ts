import { describe, expect, it } from 'vitest';
import type { CallingWindow } from '@trunkcall/contract';
import { nextOpening } from '../../../src/platform/calling-window.ts';

const newYork = (over: Partial<CallingWindow> = {}): CallingWindow => ({
  timezone: 'America/New_York',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '09:00',
  to: '17:00',
  ...over,
});
const at = (iso: string) => Date.parse(iso);
const opening = (window: CallingWindow | undefined, iso: string) => {
  const ms = nextOpening(window, at(iso));
  return ms === null ? null : new Date(ms).toISOString();
};

describe('nextOpening', () => {
  it('is always open without a window', () => {
    expect(opening(undefined, '2026-11-21T03:00:00Z')).toBeNull();
  });

  it('is open from its first minute to just before its end', () => {
    expect(opening(newYork(), '2026-11-20T13:59:59.999Z')).toBe('2026-11-20T14:00:00.000Z');
    expect(opening(newYork(), '2026-11-20T14:00:00Z')).toBeNull();
    expect(opening(newYork(), '2026-11-20T21:59:59.999Z')).toBeNull();
  });

  it('opens on the next of its days, over a weekend and from the same weekday a week later', () => {
    expect(opening(newYork(), '2026-11-20T22:00:00Z')).toBe('2026-11-23T14:00:00.000Z');
    expect(opening(newYork({ days: ['fri'] }), '2026-11-20T22:00:00Z')).toBe('2026-11-27T14:00:00.000Z');
  });

  it('keeps the wall clock over daylight saving', () => {
    expect(opening(newYork({ days: ['sun'] }), '2026-10-31T12:00:00Z')).toBe('2026-11-01T14:00:00.000Z');
    expect(opening(newYork({ days: ['sun'] }), '2027-03-13T12:00:00Z')).toBe('2027-03-14T13:00:00.000Z');
  });

  it('moves an opening that daylight saving skips to behind the gap', () => {
    const night = newYork({ days: ['sun'], from: '02:30', to: '05:00' });
    expect(opening(night, '2027-03-14T06:59:00Z')).toBe('2027-03-14T07:30:00.000Z');
  });

  it('may last until midnight', () => {
    const late = newYork({ from: '18:00', to: '24:00' });
    expect(opening(late, '2026-11-21T04:59:00Z')).toBeNull();
    expect(opening(late, '2026-11-21T05:00:00Z')).toBe('2026-11-23T23:00:00.000Z');
  });
});
