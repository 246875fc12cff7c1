import { describe, expect, test } from 'vitest';
import { Authenticator, digestParams, digestResponse } from '../../src/auth/digest.ts';
import { paramText, UnsafeTextError } from '../../src/message/grammar.ts';
import type { SipResponse } from '../../src/message/message.ts';
import { parseMessage } from '../../src/message/parse.ts';
import { SeededRandom } from '../kit/seeded-random.ts';

const CREDENTIALS = { username: 'Mufasa', password: 'Circle of Life' };

function challenge(status: 401 | 407, ...values: string[]): SipResponse {
  const name = status === 407 ? 'Proxy-Authenticate' : 'WWW-Authenticate';
  const lines = [
    `SIP/2.0 ${status} No`,
    'Via: SIP/2.0/UDP h;branch=z9hG4bK1',
    'From: <sip:a@a>;tag=1',
    'To: <sip:b@b>',
    'Call-ID: c',
    'CSeq: 1 INVITE',
    ...values.map((value) => `${name}: ${value}`),
  ];
  const outcome = parseMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  if (outcome.kind !== 'parsed' || outcome.message.kind !== 'response') throw new Error('no response');
  return outcome.message;
}

function authenticator(): Authenticator {
  return new Authenticator(CREDENTIALS, new SeededRandom(1));
}

describe('the digest', () => {
  const common = { ...CREDENTIALS, realm: 'http-auth@example.org', method: 'GET', uri: '/dir/index.html' };
  const nonce = '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v';
  const qop = { cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ', count: '00000001' };

  test('equals the examples of RFC 7616 §3.9.1', () => {
    expect(digestResponse({ ...common, algorithm: 'MD5', nonce, qop })).toBe(
      '8ca523f5e9506fed4657c9700eebdbec',
    );
    expect(digestResponse({ ...common, algorithm: 'SHA-256', nonce, qop })).toBe(
      '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
    );
  });

  test('equals the example of RFC 2617’s older form without qop when it is left out', () => {
    const old = {
      username: 'Mufasa',
      password: 'CircleOfLife',
      realm: 'testrealm@host.com',
      method: 'GET',
      uri: '/dir/index.html',
    };
    expect(digestResponse({ ...old, algorithm: 'MD5', nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093' })).toBe(
      '1949323746fe6a43ef61f9606e7febea',
    );
  });
});

describe('an authenticator', () => {
  test('answers a proxy in its own header, with SHA-256 when there is a choice', () => {
    const subject = authenticator();
    const response = challenge(
      407,
      'Digest realm="r", nonce="n", algorithm=MD5, qop="auth"',
      'Digest realm="r", nonce="n2", algorithm=SHA-256, qop="auth,auth-int", opaque="o"',
    );
    expect(subject.challenged(response, 0)).toBe(true);
    const [header] = subject.headersFor('INVITE', 'sip:b@b');
    const params = digestParams(header?.[1] ?? '') ?? new Map<string, string>();
    expect(header?.[0]).toBe('Proxy-Authorization');
    expect(paramText(params, 'algorithm')).toBe('SHA-256');
    expect(paramText(params, 'opaque')).toBe('o');
    const cnonce = paramText(params, 'cnonce') ?? '';
    expect(paramText(params, 'response')).toBe(
      digestResponse({
        ...CREDENTIALS,
        algorithm: 'SHA-256',
        realm: 'r',
        nonce: 'n2',
        method: 'INVITE',
        uri: 'sip:b@b',
        qop: { cnonce, count: '00000001' },
      }),
    );
  });

  test('counts the uses of a nonce, and begins again with a new one', () => {
    const subject = authenticator();
    const count = (): string | undefined =>
      /nc=(\d+)/.exec(subject.headersFor('BYE', 'sip:b@b')[0]?.[1] ?? '')?.[1];
    subject.challenged(challenge(401, 'Digest realm="r", nonce="n", qop="auth"'), 0);
    expect([count(), count()]).toEqual(['00000001', '00000002']);
    subject.challenged(challenge(401, 'Digest realm="r", nonce="m", qop="auth", stale=true'), 0);
    expect(count()).toBe('00000001');
  });

  test('tries once more for a stale nonce, and gives up when the credentials are refused', () => {
    const fresh = challenge(401, 'Digest realm="r", nonce="n"');
    const stale = challenge(401, 'Digest realm="r", nonce="n2", stale=TRUE');
    const subject = authenticator();
    expect(subject.challenged(fresh, 0)).toBe(true);
    expect(subject.challenged(fresh, 1), 'refused').toBe(false);
    expect(subject.challenged(stale, 1), 'stale').toBe(true);
    expect(subject.challenged(stale, 2), 'a third try').toBe(false);
  });

  test('answers a proxy and the server behind it', () => {
    const subject = authenticator();
    expect(subject.challenged(challenge(407, 'Digest realm="p", nonce="n"'), 0)).toBe(true);
    expect(subject.challenged(challenge(401, 'Digest realm="s", nonce="n"'), 1)).toBe(true);
    expect(subject.headersFor('INVITE', 'sip:b@b').map(([name]) => name)).toEqual([
      'Proxy-Authorization',
      'Authorization',
    ]);
  });

  test.each([
    'Basic realm="r"',
    'Digest realm="r"',
    'Digest realm="r", nonce="n", algorithm=SHA-512',
    'Digest realm="r", nonce="n", qop="auth-int"',
    'Digest realm="r", nonce="n',
  ])('leaves alone what it can not answer: %s', (value) => {
    const subject = authenticator();
    expect(subject.challenged(challenge(401, value), 0)).toBe(false);
    expect(subject.headersFor('INVITE', 'sip:b@b')).toEqual([]);
  });

  test('refuses a user name with a line break', () => {
    expect(() => new Authenticator({ username: 'a\r\nX: y', password: '' }, new SeededRandom(1))).toThrow(
      UnsafeTextError,
    );
  });
});
