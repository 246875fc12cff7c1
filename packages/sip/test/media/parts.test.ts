import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Inbound } from '../../src/media/inbound.ts';
import { startPace } from '../../src/media/pace.ts';
import { Playback } from '../../src/media/playback.ts';
import { type PortPair, Ports } from '../../src/media/ports.ts';
import { writeRtp } from '../../src/media/rtp.ts';
import { SourceLock } from '../../src/media/source-lock.ts';
import type { Clock } from '../../src/clock.ts';
import { SeededRandom } from '../kit/seeded-random.ts';
import { mediaTo } from './kit/lines.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';

describe('playback', () => {
  test('pieces of any length come out as one stream, and every sample is either played or dropped', () => {
    const random = new SeededRandom(4);
    const playback = new Playback();
    const pushed: number[] = [];
    const heard: number[] = [];
    const frame = new Uint8Array(160);
    for (let round = 0; round < 500; round += 1) {
      const piece = random.bytes(random.below(400));
      pushed.push(...piece);
      playback.push(piece);
      const filled = playback.take(frame);
      heard.push(...frame.subarray(0, filled));
    }
    expect(heard).toEqual(pushed.slice(0, heard.length));
    const dropped = playback.clear();
    expect(playback.take(frame)).toBe(0);
    expect(playback).toMatchObject({
      queued: 0,
      played: heard.length,
      dropped: pushed.length - heard.length,
    });
    expect(dropped).toBe(playback.dropped);
  });
});

describe('the source lock', () => {
  const peer = { address: '192.0.2.1', port: 4_000 };
  test('listens to the first source alone, whatever a stranger sends', () => {
    const lock = new SourceLock();
    expect(lock.admit(peer, 7, 1)).toBe('locked');
    expect(lock.admit({ ...peer, port: 4_002 }, 7, 2)).toBe('stranger');
    expect(lock.admit({ ...peer, address: '192.0.2.2' }, 7, 2)).toBe('stranger');
    expect(lock.admit(peer, 7, 2)).toBe('known');
    expect(lock.strangers).toBe(2);
  });

  test('follows the address to a new SSRC at its second packet in order, not for a stray one', () => {
    const lock = new SourceLock();
    lock.admit(peer, 7, 1);
    expect(lock.admit(peer, 8, 100)).toBe('stranger');
    expect(lock.admit(peer, 9, 101)).toBe('stranger');
    expect(lock.admit(peer, 8, 65_535)).toBe('stranger');
    expect(lock.admit(peer, 8, 0)).toBe('taken_over');
    expect(lock.admit(peer, 8, 1)).toBe('known');
    expect(lock.admit(peer, 7, 2)).toBe('stranger');
  });

  test('after its release the next source is the one', () => {
    const lock = new SourceLock();
    lock.admit(peer, 7, 1);
    lock.release();
    expect(lock.admit({ ...peer, port: 9 }, 7, 1)).toBe('locked');
  });
});

test('a packet from port 0, where nobody can be answered, makes nobody the peer', () => {
  const inbound = new Inbound();
  inbound.configure(mediaTo(4_000));
  const payload = new Uint8Array(160);
  const datagram = writeRtp({ payloadType: 0, marker: false, sequence: 1, timestamp: 1, ssrc: 1, payload });
  expect(inbound.receive(datagram, { address: '127.0.0.1', port: 0 }, 0)).toBe('ignored');
  expect(inbound.receive(datagram, { address: '127.0.0.1', port: 4_000 }, 0)).toBe('locked');
});

describe('ports', () => {
  /** Far from those of other tests that run at the same time. */
  const range = { first: 21_001, last: 21_042 };
  const close = (pair: PortPair | undefined): Promise<unknown> =>
    Promise.all(
      [pair?.rtp, pair?.rtcp].map((socket) => new Promise<void>((done) => void socket?.close(() => done()))),
    );

  test('all pairs of a range are handed out, then none, and a released one again', async () => {
    const ports = new Ports('127.0.0.1', range);
    const pairs: PortPair[] = [];
    for (let pair = await ports.take(); pair !== undefined; pair = await ports.take()) pairs.push(pair);
    expect(pairs.map(({ port }) => port).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => 21_002 + 2 * index),
    );
    expect(pairs.every(({ port, rtcp }) => rtcp.address().port === port + 1)).toBe(true);
    const [first] = pairs;
    await close(first);
    ports.release(first?.port ?? 0);
    const again = await ports.take();
    expect(again?.port).toBe(first?.port);
    await Promise.all([again, ...pairs.slice(1)].map(close));
  });

  test('a pair of which somebody else holds either port is passed over', async () => {
    const other = createSocket('udp4').bind(21_105, '127.0.0.1');
    await once(other, 'listening');
    const ports = new Ports('127.0.0.1', { first: 21_104, last: 21_107 });
    const pair = await ports.take();
    expect(pair?.port).toBe(21_106);
    expect(await ports.take()).toBeUndefined();
    expect(ports.inUse).toBe(1);
    other.close();
    await close(pair);
  });

  test.each([
    [5, 6],
    [6, 6],
    [0, 1],
    [10, 2],
    [65_534, 65_536],
    [Number.NaN, 9_000],
  ])('a range from %f to %f is refused', (first, last) => {
    expect(() => new Ports('127.0.0.1', { first, last })).toThrow('hold no pair');
  });
});

describe('the pace', () => {
  test('beats exactly 50 times a second for an hour, with timers that fire early and late', () => {
    const clock = new VirtualClock();
    const random = new SeededRandom(20);
    // Up to 0.9 ms too early, up to 12 ms too late.
    const shaky: Clock = {
      now: () => clock.now(),
      setTimer: (delayMs, fire) => clock.setTimer(Math.max(0, delayMs - 0.9 + random.next() * 12.9), fire),
    };
    const beats: number[] = [];
    let skips = 0;
    const pace = startPace(shaky, (skipped) => {
      beats.push(clock.now());
      skips += skipped;
    });
    clock.advance(600_000);
    expect(beats.length).toBeGreaterThanOrEqual(29_999);
    expect(skips).toBe(0);
    for (const [index, at] of beats.entries()) {
      expect(Math.abs(at - (index + 1) * 20 - 6)).toBeLessThanOrEqual(7);
    }
    pace.stop();
    expect(clock.pending).toBe(0);
  });

  test('after a stall it skips what it missed and stays on its grid', () => {
    const clock = new VirtualClock();
    let stallMs = 0;
    const stalling: Clock = {
      now: () => clock.now(),
      setTimer: (delayMs, fire) => clock.setTimer(delayMs + stallMs, fire),
    };
    const beats: [number, number][] = [];
    const pace = startPace(stalling, (skipped) => {
      beats.push([clock.now(), skipped]);
      stallMs = beats.length === 2 ? 90 : 0;
    });
    clock.advance(200);
    pace.stop();
    expect(beats).toEqual([
      [20, 0],
      [40, 0],
      [150, 4],
      [160, 0],
      [180, 0],
      [200, 0],
    ]);
  });

  test('can be stopped from within a beat', () => {
    const clock = new VirtualClock();
    const pace = startPace(clock, () => pace.stop());
    clock.advance(1_000);
    expect(clock.pending).toBe(0);
  });
});
