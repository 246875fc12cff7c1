import { expect, test } from 'vitest';
import { meanOpinionScore } from '../../src/media/quality.ts';
import { Reception } from '../../src/media/reception.ts';
import { Reports } from '../../src/media/reports.ts';
import { parseRtcp, type RtcpPacket, writeRtcp } from '../../src/media/rtcp.ts';
import { SeededRandom } from '../kit/seeded-random.ts';

const block = {
  ssrc: 0xfeedface,
  fractionLost: 255,
  packetsLost: -5,
  highestSequence: 0xffff_ffff,
  jitter: 77,
  lastSenderReport: 0x8000_0001,
  delaySinceLastSenderReport: 65_536,
};
const compound: RtcpPacket[] = [
  {
    kind: 'sender_report',
    ssrc: 0xdeadbeef,
    ntpSeconds: 0xee00_0000,
    ntpFraction: 0x8000_0000,
    rtpTimestamp: 0xffff_fff0,
    packetCount: 10,
    octetCount: 1_600,
    reports: [block, { ...block, packetsLost: 0x7f_ffff }],
  },
  { kind: 'receiver_report', ssrc: 1, reports: [] },
  { kind: 'source_description', chunks: [1, 2].map((ssrc) => ({ ssrc, cname: 'x'.repeat(ssrc + 1) })) },
  { kind: 'goodbye', sources: [0xdeadbeef, 2] },
];

test('a compound packet that was written is read back unchanged', () => {
  expect(parseRtcp(writeRtcp(compound))).toEqual(compound);
});

test('names of every length keep the word boundary', () => {
  for (let length = 0; length < 9; length += 1) {
    const description: RtcpPacket = {
      kind: 'source_description',
      chunks: [{ ssrc: 7, cname: 'n'.repeat(length) }],
    };
    const written = writeRtcp([description, { kind: 'goodbye', sources: [7] }]);
    expect(written.length % 4).toBe(0);
    expect(parseRtcp(written)?.[0]).toEqual(description);
  }
});

test('packet types of others are skipped; one malformed part spoils the whole', () => {
  const foreign = Buffer.from([0x81, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]);
  const good = writeRtcp(compound);
  expect(parseRtcp(Buffer.concat([good, foreign]))).toEqual(compound);
  expect(parseRtcp(good.subarray(0, good.length - 1))).toBeUndefined();
  expect(parseRtcp(Buffer.concat([good, Buffer.from([0x9f, 200, 0, 0])]))).toBeUndefined();
  expect(parseRtcp(Buffer.alloc(0))).toBeUndefined();
});

test('100,000 random and mutated datagrams are parsed or refused, never thrown at', () => {
  const random = new SeededRandom(2);
  const genuine = writeRtcp(compound);
  let refused = 0;
  for (let round = 0; round < 100_000; round += 1) {
    const datagram = round % 2 === 0 ? random.bytes(random.below(60)) : Buffer.from(genuine);
    if (round % 2 === 1) datagram[random.below(datagram.length)] = random.below(256);
    if (parseRtcp(datagram) === undefined) refused += 1;
  }
  expect(refused).toBeGreaterThan(10_000);
});

/** Feeds packets at 20 ms: `arrives` says which, the numbers begin just below the wrap. */
function listen(arrives: readonly number[], delayMs: (index: number) => number = () => 0): Reception {
  const reception = new Reception();
  for (const index of arrives) {
    const sequence = (65_530 + index) & 0xffff;
    const timestamp = (0xffff_fe00 + index * 160) >>> 0;
    reception.receive(sequence, timestamp, index * 20 + delayMs(index));
  }
  return reception;
}

test('loss is counted across the wrap of the numbers, in all and since the last report', () => {
  const arrives = Array.from({ length: 100 }, (_, index) => index).filter((index) => index % 4 !== 1);
  const reception = listen(arrives);
  expect(reception.expected).toBe(100);
  expect(reception.lost).toBe(25);
  expect(reception.highestSequence).toBe(65_530 + 99);
  expect(reception.takeFractionLost()).toBe(64);
  expect(reception.takeFractionLost()).toBe(0);
});

test('packets in the wrong order are no loss and do not turn the highest number back', () => {
  const reception = listen([0, 2, 1, 3, 9, 8, 7, 6, 5, 4]);
  expect(reception.highestSequence).toBe(65_530 + 9);
  expect([reception.expected, reception.lost]).toEqual([10, 0]);
});

test('duplicates make the loss negative and the fraction zero', () => {
  const reception = listen([0, 1, 1, 1, 2]);
  expect(reception.lost).toBe(-2);
  expect(reception.takeFractionLost()).toBe(0);
});

test('an even stream has no jitter, and alternating delays of 10 ms tend to 10 ms', () => {
  const order = Array.from({ length: 400 }, (_, index) => index);
  expect(listen(order).jitter).toBe(0);
  expect(listen(order, (index) => (index % 2) * 10).jitter / 8).toBeCloseTo(10, 0);
});

test('a stray number is refused; a source that restarts its numbers is believed at the second packet', () => {
  const reception = new Reception();
  expect(reception.receive(1_000, 0, 0)).toBe(1_000);
  expect(reception.receive(40_000, 160, 20)).toBeUndefined();
  expect(reception.receive(1_001, 160, 20)).toBe(1_001);
  expect(reception.receive(40_000, 320, 40)).toBeUndefined();
  const restarted = reception.receive(40_001, 480, 60);
  expect(restarted).toBeGreaterThan(1_001);
  expect(reception.receive(40_002, 640, 80)).toBe((restarted ?? 0) + 1);
  expect(reception.expected).toBe(4);
});

const NOW = 1_800_000_000_000;
const counts = { ssrc: 1, timestamp: 0, packets: 3, octets: 480 };

/** A and B report in turn: A's report takes `there` ms, B waits `held` ms, its report takes `back` ms. */
function exchange(there: number, held: number, back: number): Reports {
  const [a, b] = [1, 2].map((name) => new Reports(String(name), NOW, () => 0.5)) as [Reports, Reports];
  const heard = new Reception();
  heard.receive(1, 0, 0);
  b.receive(a.write(NOW, counts, undefined), NOW + there, 2);
  const answer = b.write(NOW + there + held, { ...counts, ssrc: 2 }, { ssrc: 1, reception: heard });
  a.receive(parseRtcp(writeRtcp(answer)) ?? [], NOW + there + held + back, 1);
  return a;
}

test('the round trip is the time of both ways without the time that the peer held the report', () => {
  expect(exchange(30, 500, 50).peerView?.roundTripMs).toBeCloseTo(80, 0);
  expect(exchange(0, 5_000, 0).peerView?.roundTripMs).toBeCloseTo(0, 0);
});

test('a peer that never saw a report of ours gives no round trip, and reports on others are not ours', () => {
  const reports = new Reports('a', NOW, () => 0);
  reports.receive([{ kind: 'receiver_report', ssrc: 9, reports: [block] }], NOW, 1);
  expect(reports.peerView).toBeUndefined();
  reports.receive(
    [{ kind: 'receiver_report', ssrc: 9, reports: [{ ...block, lastSenderReport: 0 }] }],
    NOW,
    block.ssrc,
  );
  expect(reports.peerView).toMatchObject({ roundTripMs: undefined, lossRatio: 255 / 256 });
});

test('reports are due every 2.5 to 7.5 seconds, once each', () => {
  const reports = new Reports('a', NOW, () => 0);
  expect(reports.isDue(NOW + 2_499)).toBe(false);
  expect(reports.isDue(NOW + 2_500)).toBe(true);
  expect(reports.isDue(NOW + 2_501)).toBe(false);
});

test('who has not sent gives a receiver report, and the last one says goodbye', () => {
  const reports = new Reports('name', NOW, () => 0);
  const kinds = reports.write(NOW, { ...counts, packets: 0 }, undefined, true).map(({ kind }) => kind);
  expect(kinds).toEqual(['receiver_report', 'source_description', 'goodbye']);
});

test('the score is that of the E-model: best without impairment, lower with loss, lower with delay', () => {
  expect(meanOpinionScore({ oneWayDelayMs: 0, lossRatio: 0 })).toBeCloseTo(4.41, 2);
  expect(meanOpinionScore({ oneWayDelayMs: 150, lossRatio: 0 })).toBeCloseTo(4.34, 1);
  expect(meanOpinionScore({ oneWayDelayMs: 50, lossRatio: 0.01 })).toBeCloseTo(3.83, 1);
  expect(meanOpinionScore({ oneWayDelayMs: 400, lossRatio: 0 })).toBeLessThan(3.3);
  expect(meanOpinionScore({ oneWayDelayMs: 9_999, lossRatio: 1 })).toBe(1);
});
