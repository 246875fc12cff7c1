import { expect, test } from 'vitest';
import { looksLikeRtcp, parseRtp, type RtpPacket, writeRtp } from '../../src/media/rtp.ts';
import { advanceTimestamp, nextSequence, sequenceDistance, timestampDistance } from '../../src/media/wrap.ts';
import { SeededRandom } from '../kit/seeded-random.ts';

const packet: RtpPacket = {
  payloadType: 101,
  marker: true,
  sequence: 0xffff,
  timestamp: 0xfffffff0,
  ssrc: 0xdeadbeef,
  payload: Buffer.from('some audio'),
};

test('a packet that was written is read back unchanged', () => {
  expect(parseRtp(writeRtp(packet))).toEqual(packet);
  const empty = { ...packet, payload: Buffer.alloc(0), marker: false };
  expect(parseRtp(writeRtp(empty))).toEqual(empty);
});

test('contributing sources, header extension and padding are left out of the payload', () => {
  const plain = writeRtp(packet);
  const header = Buffer.from(plain.subarray(0, 12));
  header[0] = 0x80 | 0x20 | 0x10 | 2;
  const sources = Buffer.alloc(8, 1);
  const extension = Buffer.from([0xbe, 0xde, 0, 1, 0x10, 0xff, 0, 0]);
  const datagram = Buffer.concat([header, sources, extension, plain.subarray(12), Buffer.from([0, 0, 3])]);
  expect(parseRtp(datagram)).toEqual(packet);
});

test.each([
  ['nothing', ''],
  ['a short header', '8000000000000000000000'],
  ['another version', '400000000000000000000000aa'],
  ['sources beyond the end', '8f0000000000000000000000aa'],
  ['an extension beyond the end', '900000000000000000000000bede00ff'],
  ['an extension header cut short', '900000000000000000000000bede'],
  ['padding beyond the payload', 'a0000000000000000000000009'],
  ['padding of no bytes', 'a0000000000000000000000000'],
])('%s is no packet', (_, hex) => {
  expect(parseRtp(Buffer.from(hex, 'hex'))).toBeUndefined();
});

test('100,000 random and mutated datagrams are parsed or refused, never thrown at', () => {
  const random = new SeededRandom(1);
  const genuine = writeRtp(packet);
  let longest = 0;
  for (let round = 0; round < 100_000; round += 1) {
    const datagram = round % 2 === 0 ? random.bytes(random.below(40)) : Buffer.from(genuine);
    if (round % 2 === 1) datagram[random.below(datagram.length)] = random.below(256);
    longest = Math.max(longest, parseRtp(datagram)?.payload.length ?? 0);
  }
  expect(longest).toBeLessThanOrEqual(28);
});

test('reports are told from audio on a shared port', () => {
  expect([200, 201, 202, 203].map((type) => looksLikeRtcp(Buffer.from([0x80, type])))).toEqual(
    Array.from({ length: 4 }, () => true),
  );
  expect([0, 8, 101, 0x80, 0x88, 0x80 | 101].map((type) => looksLikeRtcp(Buffer.from([0x80, type])))).toEqual(
    Array.from({ length: 6 }, () => false),
  );
  expect(looksLikeRtcp(Buffer.alloc(0))).toBe(false);
});

test('counters are compared and advanced across their wrap', () => {
  expect(sequenceDistance(2, 65_534)).toBe(4);
  expect(sequenceDistance(65_534, 2)).toBe(-4);
  expect(nextSequence(65_535)).toBe(0);
  expect(timestampDistance(100, 0xffff_ff00)).toBe(356);
  expect(timestampDistance(0xffff_ff00, 100)).toBe(-356);
  expect(advanceTimestamp(0xffff_ffff, 160)).toBe(159);
  expect(advanceTimestamp(100, -160)).toBe(0xffff_ffc4);
});
