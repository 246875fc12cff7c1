/** Registration and trunk monitoring against scripted peers. */

import { describe, expect, test } from 'vitest';
import type { RegistrationState } from '../../src/index.ts';
import type { SipRequest } from '../../src/message/message.ts';
import { openAgent, until } from '../kit/agents.ts';
import { RawPeer } from '../kit/raw-peer.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';

function registers(peer: RawPeer): SipRequest[] {
  const all = peer.received.filter(
    (message): message is SipRequest => message.kind === 'request' && message.method === 'REGISTER',
  );
  return [...new Map(all.map((request) => [request.cseq.number, request])).values()];
}

describe('a registration', () => {
  test('is authorized, refreshed before it runs out, and removed at the end', async () => {
    const clock = new VirtualClock();
    await using peer = await RawPeer.open();
    const client = await openAgent({ clock });
    peer.onMessage = (message) => {
      if (message.kind !== 'request') return;
      if (message.headers.has('Authorization')) peer.answer(message, 200, { lines: [['Expires', '100']] });
      else
        peer.answer(message, 401, {
          lines: [['WWW-Authenticate', 'Digest realm="r", nonce="n", qop="auth"']],
        });
    };
    const states: RegistrationState[] = [];
    const registration = client.agent.register({
      registrar: `sip:127.0.0.1:${peer.port}`,
      address: `sip:trunk@127.0.0.1:${peer.port}`,
      credentials: { username: 'trunk', password: 'x' },
      expiresSeconds: 600,
      onChange: (state) => states.push(state),
    });
    await until(() => registration.state.kind === 'registered', 'the registration');
    expect(registration.state).toEqual({ kind: 'registered', grantedSeconds: 100 });
    const [first] = registers(peer);
    expect(first?.headers.get('Contact')).toBe(`<sip:trunk@127.0.0.1:${client.port}>`);
    expect(first?.headers.get('Expires')).toBe('600');

    clock.advance(79_000);
    expect(registers(peer)).toHaveLength(2);
    clock.advance(11_000);
    await until(() => registers(peer).length === 3, 'the refresh');
    expect(registers(peer).at(-1)?.headers.get('Authorization'), 'the nonce is used again').toContain(
      'nc=00000002',
    );
    expect(new Set(registers(peer).map(({ callId }) => callId)).size).toBe(1);

    await until(() => states.length === 2, 'its answer');
    await registration.stop();
    expect(registers(peer).at(-1)?.headers.get('Expires')).toBe('0');
    expect(states.map(({ kind }) => kind)).toEqual(['registered', 'registered', 'stopped']);
    await client.agent.close();
  });

  test('that fails is tried again later, and stops when its signal says so', async () => {
    const clock = new VirtualClock();
    await using peer = await RawPeer.open();
    const client = await openAgent({ clock });
    let refuse = true;
    peer.onMessage = (message) => message.kind === 'request' && peer.answer(message, refuse ? 403 : 200);
    const stop = new AbortController();
    const registration = client.agent.register({
      registrar: `sip:127.0.0.1:${peer.port}`,
      address: `sip:t@127.0.0.1:${peer.port}`,
      signal: stop.signal,
    });
    await until(() => registration.state.kind === 'failed', 'the refusal');
    expect(registration.state).toMatchObject({ status: 403, failures: 1 });
    refuse = false;
    clock.advance(30_000);
    await until(() => registration.state.kind === 'registered', 'the second try');
    stop.abort();
    expect(registration.state).toEqual({ kind: 'stopped' });
    await until(() => registers(peer).at(-1)?.headers.get('Expires') === '0', 'the removal');
    await client.agent.close();
  });
});

describe('a monitored trunk', () => {
  test('goes down after two silent or failing answers, and up with the first good one', async () => {
    const clock = new VirtualClock();
    await using peer = await RawPeer.open();
    const client = await openAgent({ clock });
    let status: number | undefined = 404;
    peer.onMessage = (message) => {
      if (message.kind === 'request' && status !== undefined) peer.answer(message, status);
    };
    const states: string[] = [];
    const monitor = client.agent.monitor({
      uri: `sip:127.0.0.1:${peer.port}`,
      from: client.uri('us'),
      intervalMs: 10_000,
      timeoutMs: 5_000,
      onChange: (state) => states.push(state),
    });
    await until(() => monitor.health.state === 'up', 'a refusal shows life');
    status = 503;
    clock.advance(11_000);
    await until(() => monitor.health.failures === 1, 'the first failure');
    status = undefined;
    clock.advance(11_000);
    await until(() => peer.received.length >= 3, 'the third question');
    clock.advance(5_000);
    await until(() => monitor.health.state === 'down', 'silence counts too');
    status = 200;
    clock.advance(11_000);
    await until(() => monitor.health.state === 'up', 'the trunk is back');
    expect(states).toEqual(['up', 'down', 'up']);
    monitor.stop();
    const asked = peer.received.length;
    clock.advance(60_000);
    expect(peer.received.length).toBe(asked);
    await client.agent.close();
    expect(clock.pending).toBe(0);
  });
});
