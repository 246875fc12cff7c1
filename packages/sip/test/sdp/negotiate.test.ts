import { describe, expect, test } from 'vitest';
import { parseCrypto, SRTP_KEY_BYTES, writeCrypto } from '../../src/sdp/crypto.ts';
import { parseDescription, writeDescription } from '../../src/sdp/description.ts';
import { offer, startNegotiation, takeAnswer, takeOffer, withdraw } from '../../src/session/negotiation.ts';
import type { Direction, LocalMedia } from '../../src/sdp/negotiate.ts';
import { UnsafeTextError } from '../../src/message/grammar.ts';
import { mediaAt } from '../kit/agents.ts';
import { SeededRandom } from '../kit/seeded-random.ts';

const random = new SeededRandom(11);

function sdp(...media: string[]): string {
  return ['v=0', 'o=- 1 1 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0', ...media, ''].join('\r\n');
}

function answerTo(text: string, local: LocalMedia = mediaAt(4_000)) {
  return takeOffer(startNegotiation(local, random), text);
}

/** An offer of `caller` answered by `callee`, seen from both. */
function agree(caller: LocalMedia, callee: LocalMedia) {
  const made = offer(startNegotiation(caller, random));
  const answered = takeOffer(startNegotiation(callee, random), made.sdp);
  if (answered.kind === 'refused') return answered;
  const read = takeAnswer(made.negotiation, answered.negotiation.text);
  if (read.kind === 'refused') return read;
  return {
    kind: 'agreed' as const,
    caller: read.media,
    callee: answered.media,
    text: answered.negotiation.text,
  };
}

describe('codecs', () => {
  test('the first codec of the offer that we have is taken, whatever our own order', () => {
    expect(answerTo(sdp('m=audio 10 RTP/AVP 18 8 0'))).toMatchObject({
      media: { codec: 'PCMA', payloadType: 8 },
    });
    expect(answerTo(sdp('m=audio 10 RTP/AVP 8 0'), mediaAt(4_000, { codecs: ['PCMU'] }))).toMatchObject({
      media: { codec: 'PCMU' },
    });
  });

  test('an offer without a common codec, a stream or an address is refused', () => {
    expect(answerTo(sdp('m=audio 10 RTP/AVP 18'))).toEqual({ kind: 'refused', flaw: 'no_common_codec' });
    expect(answerTo(sdp('m=video 10 RTP/AVP 31'))).toEqual({ kind: 'refused', flaw: 'no_common_codec' });
    expect(answerTo(sdp('m=audio 0 RTP/AVP 0'))).toEqual({ kind: 'refused', flaw: 'no_common_codec' });
    expect(answerTo('v=0\r\no=- 1 1 IN IP4 a\r\nm=audio 9 RTP/AVP 0')).toEqual({
      kind: 'refused',
      flaw: 'malformed',
    });
    expect(answerTo('garbage')).toEqual({ kind: 'refused', flaw: 'malformed' });
  });

  test('telephone events keep the number that each side chose for what it receives', () => {
    const taken = answerTo(sdp('m=audio 10 RTP/AVP 0 96', 'a=rtpmap:96 telephone-event/8000'));
    expect(taken).toMatchObject({
      media: { telephoneEvents: { sendPayloadType: 96, receivePayloadType: 96 } },
    });
    const made = offer(startNegotiation(mediaAt(4_000), random));
    expect(
      takeAnswer(made.negotiation, sdp('m=audio 10 RTP/AVP 0 96', 'a=rtpmap:96 telephone-event/8000')),
    ).toMatchObject({
      media: { telephoneEvents: { sendPayloadType: 96, receivePayloadType: 101 } },
    });
    expect(answerTo(sdp('m=audio 10 RTP/AVP 0'))).toMatchObject({ media: { telephoneEvents: undefined } });
  });

  test('an answer has as many streams as its offer, those that we do not take with port 0', () => {
    const taken = answerTo(sdp('m=video 20 RTP/AVP 31', 'm=audio 10 RTP/AVP 0', 'm=audio 12 RTP/AVP 0'));
    if (taken.kind === 'refused') throw new Error(taken.flaw);
    expect(
      parseDescription(taken.negotiation.text)?.media.map(({ kind, port }) => `${kind} ${port}`),
    ).toEqual(['video 0', 'audio 4000', 'audio 0']);
  });

  test('packet length, RTCP port and multiplexing follow the peer', () => {
    expect(answerTo(sdp('m=audio 10 RTP/AVP 0', 'a=ptime:30', 'a=rtcp:99 IN IP4 1.2.3.4'))).toMatchObject({
      media: { packetMs: 30, remoteRtcpPort: 99 },
    });
    expect(agree(mediaAt(4_000, { rtcpMux: true }), mediaAt(5_000, { rtcpMux: true }))).toMatchObject({
      caller: { rtcpMux: true, remoteRtcpPort: 5_000 },
    });
    expect(agree(mediaAt(4_000, { rtcpMux: true }), mediaAt(5_000))).toMatchObject({
      caller: { rtcpMux: false, remoteRtcpPort: 5_001 },
    });
  });
});

describe('direction', () => {
  const cases: Record<Direction, Direction> = {
    sendrecv: 'sendrecv',
    sendonly: 'recvonly',
    recvonly: 'sendonly',
    inactive: 'inactive',
  };

  test.each(Object.entries(cases))('what the peer calls %s is %s for us', (theirs, ours) => {
    expect(answerTo(sdp('m=audio 10 RTP/AVP 0', `a=${theirs}`))).toMatchObject({
      media: { direction: ours },
    });
  });

  test('the older form of hold, c=0.0.0.0, means that we must not send', () => {
    expect(answerTo(sdp('m=audio 10 RTP/AVP 0', 'c=IN IP4 0.0.0.0'))).toMatchObject({
      media: { direction: 'recvonly' },
    });
  });

  test('a direction of the session counts for its streams', () => {
    expect(answerTo(sdp('a=inactive', 'm=audio 10 RTP/AVP 0'))).toMatchObject({
      media: { direction: 'inactive' },
    });
  });
});

describe('SRTP', () => {
  const policies = ['never', 'optional', 'required'] as const;
  const expected: Record<string, string> = {
    'never never': 'clear',
    'never optional': 'clear',
    'never required': 'srtp_required',
    'optional never': 'clear',
    'optional optional': 'secure',
    'optional required': 'secure',
    'required never': 'srtp_refused',
    'required optional': 'secure',
    'required required': 'secure',
  };

  test.each(policies.flatMap((caller) => policies.map((callee) => [caller, callee] as const)))(
    'a caller that says %s and a callee that says %s',
    (caller, callee) => {
      const outcome = agree(mediaAt(4_000, { srtp: caller }), mediaAt(5_000, { srtp: callee }));
      const result =
        outcome.kind === 'refused' ? outcome.flaw : outcome.caller.srtp === undefined ? 'clear' : 'secure';
      expect(result).toBe(expected[`${caller} ${callee}`]);
    },
  );

  test('each side decrypts with the key that the other encrypts with', () => {
    const outcome = agree(mediaAt(4_000, { srtp: 'required' }), mediaAt(5_000, { srtp: 'required' }));
    if (outcome.kind === 'refused') throw new Error(outcome.flaw);
    expect(outcome.caller.srtp?.localKey).toEqual(outcome.callee.srtp?.remoteKey);
    expect(outcome.callee.srtp?.localKey).toEqual(outcome.caller.srtp?.remoteKey);
    expect(outcome.caller.srtp?.localKey).not.toEqual(outcome.caller.srtp?.remoteKey);
  });

  test('a required offer whose answer drops the keys, or takes a suite that was not offered, is refused', () => {
    const made = offer(startNegotiation(mediaAt(4_000, { srtp: 'required' }), random));
    const key = Buffer.alloc(SRTP_KEY_BYTES, 1).toString('base64');
    for (const media of [
      ['m=audio 10 RTP/AVP 0'],
      ['m=audio 10 RTP/SAVP 0'],
      ['m=audio 10 RTP/SAVP 0', `a=crypto:9 AES_CM_128_HMAC_SHA1_80 inline:${key}`],
      ['m=audio 10 RTP/SAVP 0', `a=crypto:1 AES_CM_128_HMAC_SHA1_32 inline:${key}`],
      ['m=audio 10 RTP/SAVP 0', `a=crypto:1 AES_256_CM_HMAC_SHA1_80 inline:${key}`],
    ]) {
      expect(takeAnswer(made.negotiation, sdp(...media))).toEqual({ kind: 'refused', flaw: 'srtp_required' });
    }
  });

  test('crypto lines with parameters that we do not speak are not used', () => {
    const key = Buffer.alloc(SRTP_KEY_BYTES, 7);
    const inline = `inline:${key.toString('base64')}`;
    expect(parseCrypto(`1 AES_CM_128_HMAC_SHA1_32 ${inline}|2^20`)).toEqual({
      tag: '1',
      suite: 'AES_CM_128_HMAC_SHA1_32',
      key,
    });
    expect(parseCrypto(writeCrypto({ tag: '2', suite: 'AES_CM_128_HMAC_SHA1_80', key }))).toMatchObject({
      tag: '2',
      key,
    });
    for (const text of [
      `1 AES_CM_128_HMAC_SHA1_80 ${inline}|2^20|1:4`,
      `1 AES_CM_128_HMAC_SHA1_80 ${inline} UNENCRYPTED_SRTP`,
      `1 F8_128_HMAC_SHA1_80 ${inline}`,
      '1 AES_CM_128_HMAC_SHA1_80 inline:short',
    ]) {
      expect(parseCrypto(text)).toBeUndefined();
    }
  });
});

function version(text: string): number | undefined {
  return parseDescription(text)?.origin.version;
}

describe('the state of an offer', () => {
  test('the version rises with each description that differs, and only then', () => {
    const first = offer(startNegotiation(mediaAt(4_000), random));
    const agreed = takeAnswer(first.negotiation, sdp('m=audio 10 RTP/AVP 0'));
    if (agreed.kind === 'refused') throw new Error(agreed.flaw);
    const same = offer(agreed.negotiation);
    expect(same.sdp).toBe(first.sdp);
    const held = offer(agreed.negotiation, { wanted: 'sendonly' });
    expect(version(held.sdp)).toBe((version(first.sdp) ?? 0) + 1);
  });

  test('a withdrawn offer leaves what was agreed, and its version is not used again', () => {
    const first = offer(startNegotiation(mediaAt(4_000), random));
    const agreed = takeAnswer(first.negotiation, sdp('m=audio 10 RTP/AVP 0'));
    if (agreed.kind === 'refused') throw new Error(agreed.flaw);
    const held = offer(agreed.negotiation, { wanted: 'sendonly' });
    const back = withdraw(held.negotiation);
    expect(back).toMatchObject({ wanted: 'sendrecv', media: agreed.media, pending: undefined });
    expect(parseDescription(offer(back).sdp)?.origin.version).toBeGreaterThan(
      parseDescription(held.sdp)?.origin.version ?? 0,
    );
  });
});

describe('the text', () => {
  test('a description is written as it was read', () => {
    const description = parseDescription(
      sdp(
        'a=tool:x',
        'm=audio 10 RTP/AVP 0 101',
        'c=IN IP6 2001:db8::1',
        'a=rtpmap:0 PCMU/8000',
        'a=sendonly',
      ),
    );
    if (description === undefined) throw new Error('not read');
    expect(parseDescription(writeDescription(description))).toEqual(description);
  });

  test('no line break enters through an attribute or an address', () => {
    const local = mediaAt(4_000, { address: '1.2.3.4\r\na=evil' });
    expect(() => offer(startNegotiation(local, random))).toThrow(UnsafeTextError);
  });

  test('more than 1,000 lines or 32 streams are refused', () => {
    expect(parseDescription(sdp(...Array.from({ length: 1_001 }, () => 'a=x')))).toBeUndefined();
    expect(parseDescription(sdp(...Array.from({ length: 33 }, () => 'm=audio 9 RTP/AVP 0')))).toBeUndefined();
  });
});
