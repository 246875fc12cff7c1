import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepLive } from '../app/live-stream.ts';

/** As a browser has it: `CLOSED` after an answer that is no stream, `CONNECTING` when the connection broke. */
class FakeEventSource extends EventTarget {
  static readonly CLOSED = 2;
  static readonly all: FakeEventSource[] = [];
  readyState = 0;
  constructor() {
    super();
    FakeEventSource.all.push(this);
  }
  opens() {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }
  breaks(readyState: 0 | 2) {
    this.readyState = readyState;
    this.dispatchEvent(new Event('error'));
  }
  close() {
    this.readyState = 2;
  }
}

const newest = () => {
  const source = FakeEventSource.all.at(-1);
  if (source === undefined) throw new Error('no stream was opened');
  return source;
};

function watch() {
  const told: unknown[] = [];
  const close = keepLive('/live', {
    on: { runs: (data) => told.push(data) },
    onOpen: () => told.push('open'),
    onRefused: () => told.push('refused'),
    onLive: (live) => told.push(live),
  });
  return { told, close };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(1);
  vi.stubGlobal('EventSource', FakeEventSource);
  FakeEventSource.all.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test('a stream that was refused is opened anew, later each time, and says that the page is not live', () => {
  const { told, close } = watch();
  newest().opens();
  newest().dispatchEvent(new MessageEvent('runs', { data: 'moved' }));
  expect(told).toEqual([true, 'open', 'moved']);
  told.length = 0;
  for (const delayMs of [1_000, 2_000, 4_000]) {
    const opened = FakeEventSource.all.length;
    newest().breaks(2);
    vi.advanceTimersByTime(delayMs - 1);
    expect(FakeEventSource.all).toHaveLength(opened);
    vi.advanceTimersByTime(1);
    expect(FakeEventSource.all).toHaveLength(opened + 1);
  }
  expect(told).toEqual(['refused', 'refused', 'refused', false]);
  newest().opens();
  expect(told.slice(4)).toEqual([true, 'open']);
  newest().breaks(2);
  vi.advanceTimersByTime(1_000);
  expect(FakeEventSource.all).toHaveLength(5);
  for (let tries = 0; tries < 20; tries += 1) {
    newest().breaks(2);
    vi.advanceTimersByTime(60_000);
  }
  expect(FakeEventSource.all).toHaveLength(25);
  newest().breaks(2);
  close();
  vi.advanceTimersByTime(120_000);
  expect(FakeEventSource.all).toHaveLength(25);
});

test('a short break, from which the browser comes back by itself, is not worth a word', () => {
  const { told, close } = watch();
  newest().opens();
  newest().breaks(0);
  vi.advanceTimersByTime(5_000);
  newest().opens();
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual([true, 'open', true, 'open']);
  newest().breaks(0);
  vi.advanceTimersByTime(6_000);
  expect(told.at(-1)).toBe(false);
  expect(FakeEventSource.all).toHaveLength(1);
  close();
});
