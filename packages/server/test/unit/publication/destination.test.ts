import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import {
  allowedReceivers,
  createDestinations,
  createResolve,
  isPublicAddress,
} from '../../../src/publication/destination.ts';
import { silence, startNameServer } from '../../kit/name-server.ts';

const publicAddress = '8.8.8.8';

function destinations(
  names: Readonly<Record<string, readonly string[]>> = {},
  allow: readonly string[] = [],
  ownAddresses: readonly string[] = [],
) {
  return createDestinations({
    allow: new Set(allow),
    clock: systemClock,
    ownAddresses: () => ownAddresses,
    resolve: async (name) => names[name] ?? [publicAddress],
  });
}

describe('a URL that webhooks may be sent to', () => {
  it.each([
    'https://example.com',
    'https://example.com/hook?token=1&x=%20',
    'https://example.com:443/',
    'https://example.com:8443/hook',
    'HTTPS://EXAMPLE.COM/hook',
    'https://bücher.example/hook',
    'https://8.8.8.8/hook',
    'https://[2001:4860:4860::8888]:1024/',
    'https://[64:ff9b::808:808]/',
  ])('%s', async (url) => {
    expect(await destinations().checkDestination(url)).toBeNull();
  });
});

describe('a URL that is refused at its creation', () => {
  it.each([
    // Schemes and forms.
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https:example.com',
    'https:///example.com',
    'https:/example.com/',
    'https:\\\\example.com',
    'https://example.com\\@127.0.0.1/',
    '//example.com/',
    'example.com',
    '',
    ' https://example.com/',
    'https://exam\tple.com/',
    'https://example.com/\r\nHost: x',
    'https://example.com/\0',
    'https://example.com/#fragment',
    'https://example.com#@127.0.0.1/',
    'https://user:secret@example.com/',
    'https://user@example.com/',
    'https://@example.com/',
    'https://:@example.com/',
    `https://example.com/${'x'.repeat(2_048)}`,
    // Ports of other protocols.
    'https://example.com:25/',
    'https://example.com:22/',
    'https://example.com:80/',
    'https://example.com:0/',
    'https://example.com:65536/',
    // Names that are not public.
    'https://localhost/',
    'https://localhost./',
    'https://a.localhost/',
    'https://printer/',
    'https://printer./',
    'https://db.internal/',
    'https://nas.local/',
    'https://router.home.arpa/',
    // IPv4 in all its notations.
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://017700000001/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.01/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://0/',
    'https://0.0.0.0/',
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://100.64.0.1/',
    'https://168.63.129.16/',
    'https://192.0.2.1/',
    'https://198.18.0.1/',
    'https://203.0.113.1/',
    'https://224.0.0.1/',
    'https://240.0.0.1/',
    'https://255.255.255.255/',
    // IPv6, and IPv4 inside of it.
    'https://[::]/',
    'https://[::1]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::ffff:0:127.0.0.1]/',
    'https://[64:ff9b::127.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://[64:ff9b:1::1]/',
    'https://[2002:7f00:1::]/',
    'https://[2002:808:808::]/',
    'https://[2001::1]/',
    'https://[2001:db8::1]/',
    'https://[3fff::1]/',
    'https://[5f00::1]/',
    'https://[100::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[fe80::1]/',
    'https://[fec0::1]/',
    'https://[ff02::1]/',
    'https://[4000::1]/',
    'https://[fe80::1%25eth0]/',
  ])('%j', async (url) => {
    const problem = await destinations().checkDestination(url);
    expect(problem).toMatch(/^must /);
    expect(problem).not.toContain('secret');
  });

  it('is one whose name has a single private address among public ones', async () => {
    const names = { 'mixed.example': [publicAddress, '10.0.0.1'], 'six.example': [publicAddress, '::1'] };
    for (const name of Object.keys(names)) {
      expect(await destinations(names).checkDestination(`https://${name}/`)).toMatch(/public addresses/);
    }
  });

  it('is one that leads to this machine by a public address', async () => {
    const own = destinations(
      { 'me.example': ['9.9.9.9'], 'me6.example': ['2620:fe::fe'] },
      [],
      ['9.9.9.9', '2620:fe:0::fe'],
    );
    expect(await own.checkDestination('https://me.example/')).toMatch(/public addresses/);
    expect(await own.checkDestination('https://[::ffff:9.9.9.9]/')).toMatch(/public addresses/);
    expect(await own.checkDestination('https://me6.example/')).toMatch(/public addresses/);
  });
});

describe('a name that can not be resolved', () => {
  it('passes at creation within 2 s, and is not connected to', { timeout: 15_000 }, async () => {
    const server = await startNameServer({ 'slow.example': [silence] });
    const { checkDestination, vet } = createDestinations({
      allow: new Set(),
      clock: systemClock,
      resolve: createResolve([server.address]),
    });
    const startedAt = performance.now();
    expect(await checkDestination('https://slow.example/')).toBeNull();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(await vet(new URL('https://nowhere.example/'))).toEqual({ kind: 'unresolved' });
    await server.close();
  });
});

describe('the receivers that the operator allows', () => {
  const allow = ['127.0.0.1:9443', 'localhost:9080', 'hooks.lan:8443', '10.0.0.7:9080'];
  it('may be private, exactly as named', async () => {
    const { checkDestination } = destinations({ 'hooks.lan': ['10.0.0.9'] }, allow);
    expect(await checkDestination('https://127.0.0.1:9443/hook')).toBeNull();
    expect(await checkDestination('https://hooks.lan:8443/')).toBeNull();
    expect(await checkDestination('https://127.0.0.1:9444/')).toMatch(/^must/);
    expect(await checkDestination('https://127.0.0.2:9443/')).toMatch(/^must/);
    expect(await checkDestination('https://hooks.lan/')).toMatch(/^must/);
  });

  it('may speak plain HTTP on loopback alone', async () => {
    const { checkDestination, vet } = destinations({}, allow);
    expect(await checkDestination('http://localhost:9080/')).toBeNull();
    expect(await checkDestination('http://127.0.0.1:9443/')).toBeNull();
    expect(await checkDestination('http://10.0.0.7:9080/')).toBe('must be an https URL');
    expect(await checkDestination('http://hooks.lan:8443/')).toBe('must be an https URL');
    expect(await vet(new URL('http://10.0.0.7:9080/'))).toMatchObject({ kind: 'refused' });
  });

  it('are named by host and port', () => {
    expect(allowedReceivers('')).toEqual([]);
    expect(allowedReceivers('LOCALHOST:8080, 127.0.0.1:443,[::1]:9000')).toEqual([
      'localhost:8080',
      '127.0.0.1:443',
      '::1:9000',
    ]);
    for (const wrong of [
      'localhost',
      'https://localhost:1',
      'localhost:x',
      'a/b:1',
      'u@h:1',
      'localhost:99999',
    ])
      expect(allowedReceivers(wrong)).toBeUndefined();
  });
});

it('what is no address is not public', () => {
  for (const text of ['', 'example.com', '1.2.3', '::1%lo', '256.1.1.1'])
    expect(isPublicAddress(text)).toBe(false);
});
