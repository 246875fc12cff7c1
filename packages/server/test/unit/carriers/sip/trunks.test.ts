import { describe, expect, it } from 'vitest';
import { readTrunks, TrunkProblem } from '../../../../src/carriers/sip/trunks.ts';

const good = {
  name: 'north',
  proxy: { host: 'sip.example.com', port: 5061, transport: 'tls' },
  credentials: { username: 'acme', password: 'hush-hush' },
  caller_numbers: ['+12025550142'],
  countries: ['US'],
  calls_per_second: 1,
  max_calls: 10,
};
const sip = { bind: '192.0.2.10' };

function problemOf(trunks: unknown, more: unknown = sip): string {
  try {
    readTrunks({ trunks, sip: more });
  } catch (error) {
    if (error instanceof TrunkProblem) return error.message;
    throw error;
  }
  return 'none';
}

it('reads a trunk as it is written, and nothing when nothing is written', () => {
  expect(readTrunks({ trunks: [good], sip })).toEqual({ trunks: [good], sip });
  expect(readTrunks({})).toEqual({ trunks: [], sip: {} });
});

it('reads a trunk with all that it can have', () => {
  const full = {
    ...good,
    registrar: { host: '[2001:db8::1]' },
    domain: 'example.com',
    caller_id: 'p_asserted_identity',
    codecs: ['PCMA', 'PCMU'],
    srtp: 'required',
    allow_prefixes: ['+8816'],
    inbound: ['198.51.100.0/24', '2001:db8::/32', '203.0.113.9'],
    profile: { status_486: 'declined', status_603: 'busy', status_403: 'declined' },
    rates: [{ prefix: '+1', per_minute: 0.01 }],
    send_attempt_id: true,
    first_response_seconds: 4,
    keepalive_seconds: 15,
    tls: { ca_file: '/ca.pem', certificate_file: '/cert.pem', key_file: '/key.pem' },
  };
  expect(problemOf([full])).toBe('none');
});

describe('a trunk that can not be used is named with its field', () => {
  const without = (field: string) =>
    Object.fromEntries(Object.entries(good).filter(([name]) => name !== field));
  it.each<[unknown, string]>([
    [{}, 'trunks must be a list'],
    [['north'], 'trunk 1: it must be object'],
    [[without('name')], 'trunk 1: name is missing'],
    [[{ ...good, name: 'North Trunk' }], 'trunk 1: name has not the right form (Lower-case letters'],
    [[without('proxy')], 'trunk north: proxy is missing'],
    [[{ ...good, proxy: { host: 'a b' } }], 'trunk north: proxy.host has not the right form'],
    [[{ ...good, proxy: { host: 'a', port: 70_000 } }], 'trunk north: proxy.port must be <= 65535'],
    [
      [{ ...good, proxy: { host: 'a', transport: 'ws' } }],
      'trunk north: proxy.transport must be one of udp,tcp,tls',
    ],
    [[{ ...good, proxi: {} }], 'trunk north: proxi is not a field that is known here'],
    [[{ ...good, credentials: { username: 'x' } }], 'trunk north: credentials.password is missing'],
    [
      [{ ...good, credentials: { username: 'x', password: 'a\r\nb' } }],
      'trunk north: credentials.password has not',
    ],
    [[{ ...good, caller_numbers: [] }], 'trunk north: caller_numbers must NOT have fewer than 1 items'],
    [[{ ...good, caller_numbers: ['2025550142'] }], 'trunk north: caller_numbers.0 has not the right form'],
    [
      [{ ...good, caller_numbers: ['+12025550142', '+19995550142'] }],
      'trunk north: caller_numbers.1 is a number of no known numbering plan',
    ],
    [[{ ...good, countries: ['US', 'XX'] }], 'trunk north: countries has XX, which is no known country'],
    [[without('countries')], 'trunk north: countries must name a country'],
    [[{ ...good, allow_prefixes: ['8816'] }], 'trunk north: allow_prefixes.0 has not the right form'],
    [[{ ...good, calls_per_second: 0 }], 'trunk north: calls_per_second must be >= 0.1'],
    [[{ ...good, max_calls: 1.5 }], 'trunk north: max_calls must be integer'],
    [[{ ...good, codecs: ['PCMU', 'G729'] }], 'trunk north: codecs.1 must be one of PCMU,PCMA'],
    [[{ ...good, srtp: 'yes' }], 'trunk north: srtp must be one of never,optional,required'],
    [
      [{ ...good, inbound: ['198.51.100.0/33'] }],
      'trunk north: inbound.0 is neither an IP address nor a CIDR block',
    ],
    [[{ ...good, inbound: ['sip.example.com'] }], 'trunk north: inbound.0 is neither'],
    [[{ ...without('credentials'), registrar: { host: 'a' } }], 'trunk north: credentials are missing'],
    [[{ ...good, tls: { key_file: '/k' } }], 'trunk north: tls must have certificate_file and key_file'],
    [[{ ...good, proxy: { host: 'a' }, tls: {} }], 'trunk north: tls is given, but the transport is not tls'],
    [[good, { ...good }], 'trunk north: name is used by another trunk, too'],
    [[good, { ...good, name: 'south', max_calls: 0 }], 'trunk south: max_calls must be >= 1'],
  ])('%#: %j', (trunks, message) => {
    expect(problemOf(trunks)).toContain(message);
    // Neither secrets nor numbers are repeated.
    expect(problemOf(trunks)).not.toMatch(/hush|5550142/);
  });

  it.each<[unknown, string]>([
    [{}, 'sip: bind is missing'],
    [{ bind: 'localhost' }, 'sip: bind must be an IP address'],
    [{ bind: '0.0.0.0' }, 'sip: public_address is needed'],
    [{ bind: '192.0.2.1', public_address: 'me' }, 'sip: public_address must be an IP address'],
    [
      { bind: '192.0.2.1', media_ports: { first: 2_000, last: 2_000 } },
      'sip: media_ports must hold two ports',
    ],
    [{ bind: '192.0.2.1', udp_port: -1 }, 'sip: udp_port must be >= 0'],
    [{ bind: '192.0.2.1', tls: { key_file: '/k' } }, 'sip: tls.certificate_file is missing'],
    ['udp', 'sip: it must be object'],
  ])('our own end: %j', (settings, message) => {
    expect(problemOf([good], settings)).toContain(message);
  });
});
