import { describe, expect, test } from 'vitest';
import { writeRtp } from '../../src/media/rtp.ts';
import { deriveKeys, SrtpReceiver, SrtpSender } from '../../src/media/srtp.ts';
import { SRTP_SUITES } from '../../src/sdp/crypto.ts';
import { SeededRandom } from '../kit/seeded-random.ts';

/** RFC 3711 B.3. */
const MASTER_KEY = Buffer.from('E1F97A0D3E018BE0D64FA32C06DE4139', 'hex');
const MASTER_SALT = Buffer.from('0EC675AD498AFEEBB6960B3AABE6', 'hex');
const MASTER = Buffer.concat([MASTER_KEY, MASTER_SALT]);

const hex = (bytes: Buffer | undefined): string | undefined => bytes?.toString('hex').toUpperCase();

test('the session keys are those of RFC 3711 B.3', () => {
  const keys = deriveKeys(MASTER_KEY, MASTER_SALT, 'rtp');
  expect(hex(keys.cipher)).toBe('C61E7A93744F39EE10734AFE3FF7A087');
  expect(hex(keys.salt)).toBe('30CBBC08863D8C85D49DB34A9AE1');
  expect(hex(keys.authentication)).toBe('CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4');
});

/** The reference packets of libsrtp, protected with the keys above. */
const PLAIN_RTP = Buffer.from('800f1234decafbadcafebabeabababababababababababababababab', 'hex');
const SECURE_RTP = '800F1234DECAFBADCAFEBABE4E55DC4CE79978D88CA4D215949D2402B78D6ACC99EA179B8DBB';
const PLAIN_RTCP = Buffer.from('81c8000bcafebabeabababababababababababababababab', 'hex');
const SECURE_RTCP = '81C8000BCAFEBABE7128035BE487B9BDBEF89041F977A5A880000001993E08CD54D6C1230798';

test('a packet and a report are protected to the bytes of the reference, and opened again', () => {
  const sender = new SrtpSender('AES_CM_128_HMAC_SHA1_80', MASTER);
  const receiver = new SrtpReceiver('AES_CM_128_HMAC_SHA1_80', MASTER);
  expect(hex(sender.protectRtp(PLAIN_RTP))).toBe(SECURE_RTP);
  expect(receiver.unprotectRtp(Buffer.from(SECURE_RTP, 'hex'))).toEqual(PLAIN_RTP);
  // The reference begins to count its reports at 1.
  sender.protectRtcp(PLAIN_RTCP);
  expect(hex(sender.protectRtcp(PLAIN_RTCP))).toBe(SECURE_RTCP);
  expect(receiver.unprotectRtcp(Buffer.from(SECURE_RTCP, 'hex'))).toEqual(PLAIN_RTCP);
});

function packet(index: number, ssrc = 5): Buffer {
  return writeRtp({
    payloadType: 0,
    marker: false,
    sequence: index & 0xffff,
    timestamp: (index * 160) >>> 0,
    ssrc,
    payload: new Uint8Array(160).fill(index),
  });
}

describe.each(SRTP_SUITES)('%s', (suite) => {
  test('audio is hidden, whole and genuine, across two rollovers of the numbers', () => {
    const sender = new SrtpSender(suite, MASTER);
    const receiver = new SrtpReceiver(suite, MASTER);
    for (let index = 65_000; index < 2 * 65_536 + 500; index += 1) {
      const secured = sender.protectRtp(packet(index));
      // Every 50th is enough to follow the count of rollovers, and keeps the test short.
      if (index % 50 !== 0) continue;
      expect(secured.length).toBe(172 + (suite.endsWith('80') ? 10 : 4));
      expect(secured.subarray(12, 28)).not.toEqual(packet(index).subarray(12, 28));
      expect(receiver.unprotectRtp(secured)).toEqual(packet(index));
    }
  });

  test('a packet counts once, in any order, and not after 128 newer ones', () => {
    const sender = new SrtpSender(suite, MASTER);
    const receiver = new SrtpReceiver(suite, MASTER);
    const secured = Array.from({ length: 300 }, (_, index) => sender.protectRtp(packet(65_400 + index)));
    const opened = (index: number): boolean =>
      receiver.unprotectRtp(secured[index] ?? Buffer.alloc(0)) !== undefined;
    expect([0, 2, 1, 2, 0].map(opened)).toEqual([true, true, true, false, false]);
    expect([200, 73, 72, 73, 201].map(opened)).toEqual([true, true, false, false, true]);
  });

  test('whatever bit is changed, it is no packet, and the genuine one is taken afterwards', () => {
    const secured = new SrtpSender(suite, MASTER).protectRtp(packet(7));
    const receiver = new SrtpReceiver(suite, MASTER);
    const random = new SeededRandom(3);
    for (let round = 0; round < 2_000; round += 1) {
      const forged = Buffer.from(secured);
      const at = random.below(forged.length);
      forged[at] = (forged[at] ?? 0) ^ (1 << random.below(8));
      expect(receiver.unprotectRtp(forged)).toBeUndefined();
      expect(receiver.unprotectRtp(random.bytes(random.below(60)))).toBeUndefined();
    }
    expect(receiver.unprotectRtp(secured)).toEqual(packet(7));
  });

  test('reports are genuine and counted once, too', () => {
    const sender = new SrtpSender(suite, MASTER);
    const receiver = new SrtpReceiver(suite, MASTER);
    const secured = sender.protectRtcp(PLAIN_RTCP);
    expect(secured.length).toBe(PLAIN_RTCP.length + 14);
    const forged = Buffer.from(secured);
    forged[PLAIN_RTCP.length] = 0;
    expect(receiver.unprotectRtcp(forged)).toBeUndefined();
    expect(receiver.unprotectRtcp(secured)).toEqual(PLAIN_RTCP);
    expect(receiver.unprotectRtcp(secured)).toBeUndefined();
    expect(receiver.unprotectRtcp(Buffer.alloc(21))).toBeUndefined();
  });

  test('sources count apart, and other keys open nothing', () => {
    const [first, second] = [new SrtpSender(suite, MASTER), new SrtpSender(suite, MASTER)];
    const receiver = new SrtpReceiver(suite, MASTER);
    expect(receiver.unprotectRtp(first.protectRtp(packet(60_000, 1)))).toBeDefined();
    expect(receiver.unprotectRtp(second.protectRtp(packet(3, 2)))).toBeDefined();
    expect(receiver.unprotectRtp(first.protectRtp(packet(60_001, 1)))).toBeDefined();
    const stranger = new SrtpReceiver(suite, Buffer.alloc(30, 1));
    expect(stranger.unprotectRtp(first.protectRtp(packet(60_002, 1)))).toBeUndefined();
  });
});
