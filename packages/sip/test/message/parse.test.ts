import { describe, expect, test } from 'vitest';
import { parseAddress, parseAddressList, writeAddress } from '../../src/message/address.ts';
import {
  deltaSeconds,
  parseRAck,
  parseSessionExpires,
  q850Cause,
  sdpOf,
  writeReason,
} from '../../src/message/fields.ts';
import { paramText, quote, unquote, UnsafeTextError } from '../../src/message/grammar.ts';
import { Headers } from '../../src/message/headers.ts';
import { parseMessage } from '../../src/message/parse.ts';
import { escapeUser, parseUri, writeUri } from '../../src/message/uri.ts';
import { writeMessage } from '../../src/message/write.ts';

const REQUEST = [
  'OPTIONS sip:bob@127.0.0.1 SIP/2.0',
  'Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK1',
  'From: <sip:alice@127.0.0.1>;tag=1',
  'To: <sip:bob@127.0.0.1>',
  'Call-ID: 1',
  'CSeq: 1 OPTIONS',
];

function parse(...lines: string[]) {
  return parseMessage(Buffer.from(`${[...REQUEST, ...lines].join('\r\n')}\r\n\r\n`));
}

function parsed(...lines: string[]) {
  const outcome = parse(...lines);
  if (outcome.kind !== 'parsed') throw new Error(outcome.why);
  return outcome.message;
}

describe('bounds', () => {
  test('a message larger than the limit is dropped', () => {
    const outcome = parseMessage(Buffer.alloc(65_536, 'a'));
    expect(outcome).toMatchObject({ kind: 'malformed', why: 'message too large' });
  });

  test('a message with more headers than the limit is dropped', () => {
    const lines = Array.from({ length: 300 }, (_, n) => `X-${n}: 1`);
    expect(parse(...lines)).toMatchObject({ kind: 'malformed', why: 'too many headers' });
  });

  test('a bare line feed or carriage return inside the head is refused', () => {
    expect(parse('X: a\nEvil: b')).toMatchObject({ kind: 'malformed', why: 'line break inside a header' });
    expect(parse('X: a\rEvil: b')).toMatchObject({ kind: 'malformed' });
  });
});

describe('header injection', () => {
  const breaks = ['\r\nEvil: 1', '\nEvil: 1', '\rEvil: 1'];

  test.each(breaks)('no line break enters a header value, a name or a quoted string (%j)', (text) => {
    expect(() => Headers.from([['X', `a${text}`]])).toThrow(UnsafeTextError);
    expect(() => Headers.from([[`X${text}`, 'a']])).toThrow(UnsafeTextError);
    expect(() => quote(`a${text}`)).toThrow(UnsafeTextError);
    expect(() => writeReason({ protocol: 'SIP', cause: 487, text: `a${text}` })).toThrow(UnsafeTextError);
  });

  test.each(breaks)('no line break enters through a URI, an address or a Via (%j)', (text) => {
    expect(parseUri(`sip:bob${text}@host`)).toBeUndefined();
    expect(parseUri(`sip:bob@host;a=b${text}`)).toBeUndefined();
    expect(parseUri(`tel:123${text}`)).toBeUndefined();
    expect(parseAddress(`"Bob${text}" <sip:bob@host>`)).toBeUndefined();
    expect(parseAddress(`<sip:bob@host>;tag="a${text}"`)).toBeUndefined();
  });

  test.each(breaks)('the writer refuses a message that carries one all the same (%j)', (text) => {
    const message = parsed();
    expect(() => writeMessage({ ...message, callId: `1${text}` })).toThrow(UnsafeTextError);
    expect(() => writeMessage({ ...message, from: { ...message.from, display: text } })).toThrow(
      UnsafeTextError,
    );
  });

  test('what a person typed becomes a safe user part', () => {
    expect(escapeUser('+1 555@evil>\r\n')).toBe('+1%20555%40evil%3E%0D%0A');
    expect(parseUri(`sip:${escapeUser('a b@c\r\n>;x')}@host`)).toMatchObject({ host: 'host' });
  });
});

describe('URIs', () => {
  test.each([
    'sip:alice@example.com',
    'sips:alice:secret@example.com:5061;transport=tcp?subject=hi',
    'sip:[2001:db8::1]:5060',
    'sip:+15551234567@host;user=phone',
    'tel:+15551234567',
  ])('%s is read and written the same', (text) => {
    const uri = parseUri(text);
    expect(uri && writeUri(uri)).toBe(text);
  });

  test.each([
    'sip:',
    'sip:@host',
    'sip:a@',
    'sip:a@host:99999',
    'sip:a b@host',
    'sip:a@[::zz]',
    'sip:a@ho_st',
    'sip:a@host;',
    'alice',
    '',
  ])('%j is refused', (text) => expect(parseUri(text)).toBeUndefined());
});

describe('fields', () => {
  test('addresses keep their display name, URI parameters and header parameters apart', () => {
    const address = parseAddress('"A, \\"B\\"" <sip:a@h;lr>;tag=x;q=0.5');
    expect(address).toMatchObject({ uri: { user: 'a' } });
    expect(address && writeAddress(address)).toBe('"A, \\"B\\"" <sip:a@h;lr>;tag=x;q=0.5');
    expect(unquote(address?.display ?? '')).toBe('A, "B"');
    expect(paramText(address?.params ?? new Map(), 'tag')).toBe('x');
  });

  test('a list of addresses is refused as a whole when one is malformed', () => {
    expect(parseAddressList(['<sip:a@h>, <sip:b@h>', '<sip:c@h>'])).toHaveLength(3);
    expect(parseAddressList(['<sip:a@h>, <sip:b@>'])).toBeUndefined();
  });

  test('the Q.850 cause is found among several reasons', () => {
    const headers = Headers.from([['Reason', 'SIP;cause=480;text="a, b", Q.850;cause=19;text="No answer"']]);
    expect(q850Cause(headers)).toBe(19);
    expect(q850Cause(Headers.from([['Reason', 'Q.850;cause=999']]))).toBeUndefined();
  });

  test('session intervals, RAck and seconds are read, nonsense is not', () => {
    expect(
      parseSessionExpires(
        Headers.from([
          ['x', 'y'],
          ['Session-Expires', '1800 ; refresher=uas'],
        ]),
      ),
    ).toEqual({ seconds: 1_800, refresher: 'uas' });
    expect(parseSessionExpires(parsed('x: 90').headers), 'compact form').toEqual({
      seconds: 90,
      refresher: undefined,
    });
    expect(parseRAck(Headers.from([['RAck', '776656 1 INVITE']]))).toEqual({
      rseq: 776_656,
      cseq: 1,
      method: 'INVITE',
    });
    expect(parseRAck(Headers.from([['RAck', '1 INVITE']]))).toBeUndefined();
    expect(deltaSeconds('120 (busy);duration=3')).toBe(120);
    expect(deltaSeconds('-1')).toBeUndefined();
  });

  test('the session description inside a multipart body is found', () => {
    const body =
      '--b\r\nContent-Type: application/isup\r\n\r\nx\r\n--b\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n--b--';
    const message = { ...parsed('Content-Type: multipart/mixed; boundary=b'), body: Buffer.from(body) };
    expect(sdpOf(message)).toBe('v=0\r\n');
  });
});
