import { expect, test } from 'vitest';
import {
  areKeys,
  Dialer,
  GAP_MS,
  KeyReceiver,
  KEYS,
  parseTelephoneEvent,
  PRESS_MS,
  writeTelephoneEvent,
} from '../../src/media/telephone-events.ts';
import { SeededRandom } from '../kit/seeded-random.ts';

interface EventPacket {
  readonly timestamp: number;
  readonly payload: Buffer;
}

/** What a dialler sends, as the packets of a stream whose timestamps are close to the wrap. */
function packetsOf(keys: string): EventPacket[] {
  const dialer = new Dialer();
  expect(dialer.dial(keys)).toBe(true);
  const packets: EventPacket[] = [];
  for (let tick = 0, begin = 0; dialer.busy; tick += 1) {
    const step = dialer.next();
    if (step?.kind !== 'event') continue;
    if (step.framesSinceBegin === 0) begin = (0xffff_ff00 + tick * 160) >>> 0;
    packets.push({ timestamp: begin, payload: writeTelephoneEvent(step.event) });
  }
  return packets;
}

test('a press grows by 20 ms a packet and ends with three packets that say the same', () => {
  const events = packetsOf('5').map(({ payload }) => parseTelephoneEvent(payload));
  expect(events.map((event) => event?.duration)).toEqual([160, 320, 480, 640, 800, 800, 800]);
  expect(events.map((event) => event?.end)).toEqual([false, false, false, false, true, true, true]);
  expect(events.every((event) => event?.code === 5)).toBe(true);
});

test('a press and its pause take their time', () => {
  const dialer = new Dialer();
  dialer.dial('12');
  let ticks = 0;
  while (dialer.next() !== undefined) ticks += 1;
  expect(ticks * 20).toBe(2 * (PRESS_MS + GAP_MS));
});

test('at most 64 keys wait', () => {
  const dialer = new Dialer();
  expect(dialer.dial('1'.repeat(60))).toBe(true);
  expect(dialer.dial('12345')).toBe(false);
  expect(dialer.dial('1234')).toBe(true);
  expect(['1'.repeat(65), '', 'E', '1\n', 'a'].map(areKeys)).toEqual([false, false, false, false, false]);
  expect(areKeys(KEYS)).toBe(true);
});

test('every key is heard once with its duration, the same key twice as two presses', () => {
  const receiver = new KeyReceiver();
  const heard = packetsOf('11*#AD').flatMap(({ timestamp, payload }) => {
    receiver.receive(timestamp, payload);
    receiver.receive(timestamp, payload);
    return receiver.tick();
  });
  expect(heard).toEqual(Array.from('11*#AD').map((key) => ({ key, durationMs: PRESS_MS })));
});

test('with half of all packets lost each press is still heard once', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const random = new SeededRandom(seed);
    const receiver = new KeyReceiver();
    const packets = packetsOf('0123456789');
    const kept = packets.filter((_, index) => index % 7 === 0 || random.next() < 0.5);
    const heard = kept.flatMap(({ timestamp, payload }) => {
      receiver.receive(timestamp, payload);
      return receiver.tick();
    });
    for (let tick = 0; tick < 10; tick += 1) heard.push(...receiver.tick());
    expect(heard.map(({ key }) => key).join('')).toBe('0123456789');
  }
});

test('a press whose end never comes is over after a pause', () => {
  const receiver = new KeyReceiver();
  const [first] = packetsOf('9');
  receiver.receive(first?.timestamp ?? 0, first?.payload ?? Buffer.alloc(0));
  const heard = Array.from({ length: 8 }, () => receiver.tick());
  expect(heard.flat()).toEqual([{ key: '9', durationMs: 20 }]);
});

test('a press of ten seconds in two segments is one press', () => {
  const receiver = new KeyReceiver();
  const long = { code: 3, end: true, volume: 10, duration: 0xffff };
  receiver.receive(1_000, writeTelephoneEvent(long));
  receiver.receive(1_000 + 0xffff, writeTelephoneEvent({ ...long, duration: 14_465 }));
  expect(receiver.tick().map(({ key }) => key)).toEqual(['3']);
});

test('events that are no keys, broken payloads and floods make no more than four presses in a tick', () => {
  const receiver = new KeyReceiver();
  receiver.receive(1, writeTelephoneEvent({ code: 70, end: true, volume: 0, duration: 1 }));
  receiver.receive(2, Buffer.from([1, 2, 3]));
  expect(receiver.tick()).toEqual([]);
  for (let index = 0; index < 1_000; index += 1) {
    receiver.receive(index * 1_000, writeTelephoneEvent({ code: 1, end: true, volume: 0, duration: 800 }));
  }
  expect(receiver.tick()).toHaveLength(4);
});
