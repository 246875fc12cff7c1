/**
 * Calls over a proxy that is strict about Via, routes and digests: Kamailio (Debian package `kamailio`). Skipped,
 * and said so, where it is not installed.
 */

import { describe, expect, test } from 'vitest';
import type { CallOptions, CallOutcome, IncomingCall, TransportName } from '../../src/index.ts';
import { mediaAt, openAgent, type TestAgent, until } from '../kit/agents.ts';
import { label } from '../kit/tapped-network.ts';
import { type Kamailio, PASSWORD, startKamailio } from './kit/kamailio.ts';
import { isMissing } from './kit/programs.ts';

const MISSING = isMissing({ kamailio: 'kamailio' });
const TIMERS = { t1Ms: 200, t2Ms: 800, t4Ms: 1_000, timerDMs: 2_000 };

function proxyOf(kamailio: Kamailio, transport: TransportName): string {
  return `sip:127.0.0.1:${kamailio.port};transport=${transport}`;
}

async function register(agent: TestAgent, kamailio: Kamailio, user: string, password = PASSWORD) {
  const registration = agent.agent.register({
    registrar: proxyOf(kamailio, agent.transport),
    address: `sip:${user}@trunk.test`,
    credentials: { username: user, password },
  });
  await until(() => registration.state.kind !== 'registering', 'the registrar answers');
  return registration;
}

/** An agent that takes every call and is registered as `bob`. */
async function openCallee(kamailio: Kamailio, transport: TransportName) {
  const calls: IncomingCall[] = [];
  const callee = await openAgent({
    transport,
    timers: TIMERS,
    onInvite: (incoming) => {
      calls.push(incoming);
      incoming.ring();
      void incoming.accept({ media: mediaAt(50_000) });
    },
  });
  expect((await register(callee, kamailio, 'bob')).state.kind).toBe('registered');
  return { callee, calls };
}

function call(caller: TestAgent, kamailio: Kamailio, more: Partial<CallOptions> = {}): Promise<CallOutcome> {
  return caller.agent.call({
    to: 'sip:bob@trunk.test',
    from: 'sip:alice@trunk.test',
    proxy: proxyOf(kamailio, caller.transport),
    credentials: { username: 'alice', password: PASSWORD },
    media: mediaAt(40_000),
    ...more,
  }).outcome;
}

function answered(outcome: CallOutcome | undefined) {
  if (outcome?.kind !== 'answered') throw new Error(`not answered: ${JSON.stringify(outcome)}`);
  return outcome.call;
}

const challenges = (kamailio: Kamailio, method: string): number =>
  kamailio.output().split(`challenged ${method}`).length - 1;

/** Every request inside the call that came, with the number of proxies it has passed. */
const hopsOf = (agent: TestAgent): string[] =>
  agent.network.received.flatMap((message) =>
    message.kind === 'request' && message.to.params.has('tag')
      ? [`${label(message)} over ${message.via.length - 1}`]
      : [],
  );

describe.skipIf(MISSING)('over Kamailio', () => {
  test.each([
    { algorithm: 'MD5', transport: 'udp', far: 'udp' },
    { algorithm: 'SHA-256', transport: 'udp', far: 'tcp' },
    { algorithm: 'MD5', transport: 'tcp', far: 'udp' },
    { algorithm: 'SHA-256', transport: 'tcp', far: 'tcp' },
  ] as const)(
    'a call with a $algorithm digest over $transport to a callee on $far keeps to the route in both directions',
    async ({ algorithm, transport, far }) => {
      await using kamailio = await startKamailio({ algorithm });
      const { callee, calls } = await openCallee(kamailio, far);
      await using _ = callee;
      await using caller = await openAgent({ transport, timers: TIMERS });

      const ours = answered(await call(caller, kamailio));
      const theirs = answered(await calls[0]?.outcome);
      expect(await ours.hold()).toMatchObject({ kind: 'agreed', media: { direction: 'sendonly' } });
      await until(() => hopsOf(callee).at(-1) === 'ACK over 1', 'the ACK of the re-INVITE');
      expect(await theirs.renegotiate({}, 'UPDATE')).toMatchObject({ kind: 'agreed' });
      await ours.hangup();
      expect(await theirs.ended).toMatchObject({ by: 'remote', reason: 'hangup' });
      expect(hopsOf(callee)).toEqual(['ACK over 1', 'INVITE over 1', 'ACK over 1', 'BYE over 1']);

      const again = answered(await call(caller, kamailio));
      await answered(await calls[1]?.outcome).hangup();
      expect(await again.ended).toMatchObject({ by: 'remote', reason: 'hangup' });
      expect(hopsOf(caller)).toEqual(['UPDATE over 1', 'BYE over 1']);
      expect([challenges(kamailio, 'REGISTER'), challenges(kamailio, 'INVITE')]).toEqual([1, 2]);
      await until(() => callee.agent.stats().dialogs + caller.agent.stats().dialogs === 0, 'the last BYE');
    },
  );

  test('a wrong password is refused, for a call and for a registration', async () => {
    await using kamailio = await startKamailio({ algorithm: 'SHA-256' });
    await using caller = await openAgent({ timers: TIMERS });
    const credentials = { username: 'alice', password: 'wrong' };
    expect(await call(caller, kamailio, { credentials })).toMatchObject({
      reason: 'unauthorized',
      sipStatus: 407,
    });
    expect((await register(caller, kamailio, 'bob', 'wrong')).state).toMatchObject({
      kind: 'failed',
      status: 401,
    });
  });

  test('a callee that nobody registered is not found, and 404 is the end', async () => {
    await using kamailio = await startKamailio({ algorithm: 'MD5' });
    await using caller = await openAgent({ timers: TIMERS });
    expect(await call(caller, kamailio)).toMatchObject({ by: 'remote', reason: 'rejected', sipStatus: 404 });
  });

  test('a ringing call is cancelled through the proxy', async () => {
    await using kamailio = await startKamailio({ algorithm: 'MD5' });
    await using callee = await openAgent({ timers: TIMERS, onInvite: (incoming) => incoming.ring() });
    await register(callee, kamailio, 'bob');
    await using caller = await openAgent({ timers: TIMERS });
    const cancelling = new AbortController();
    const outcome = call(caller, kamailio, {
      signal: cancelling.signal,
      onProgress: () => cancelling.abort(),
    });
    expect(await outcome).toMatchObject({ by: 'local', reason: 'aborted', sipStatus: 487, provisional: 180 });
    await until(() => callee.agent.stats().dialogs === 0, 'the callee hears of it');
  });

  test.each<TransportName>(['udp', 'tcp'])(
    'its keep-alive over %s shows the trunk up, and down when it is gone',
    async (transport) => {
      await using agent = await openAgent({ transport, timers: TIMERS });
      const states: string[] = [];
      {
        await using kamailio = await startKamailio({ algorithm: 'MD5' });
        agent.agent.monitor({
          uri: proxyOf(kamailio, transport),
          from: 'sip:alice@trunk.test',
          intervalMs: 100,
          timeoutMs: 1_000,
          onChange: (state) => states.push(state),
        });
        await until(() => states.length > 0, 'an answer');
      }
      await until(() => states.length > 1, 'silence');
      expect(states).toEqual(['up', 'down']);
    },
  );

  test.each<TransportName>(['udp', 'tcp'])(
    'a registration over %s is refreshed in time, with a new nonce when the old one is stale, and removed',
    async (transport) => {
      await using kamailio = await startKamailio({
        algorithm: 'SHA-256',
        nonceSeconds: 1,
        bindingSeconds: 3,
      });
      await using agent = await openAgent({ transport, timers: TIMERS });
      const registration = await register(agent, kamailio, 'bob');
      expect(registration.state).toEqual({ kind: 'registered', grantedSeconds: 3 });
      const granted = (): number =>
        agent.network.received.filter((message) => label(message) === '200 REGISTER').length;
      await until(() => granted() >= 2, 'the refresh');
      const stale = agent.network.received.filter((message) =>
        /stale=true/.test(message.headers.get('WWW-Authenticate') ?? ''),
      );
      expect(stale.length).toBeGreaterThan(0);
      await registration.stop();
      expect(agent.network.sent.at(-1)?.headers.get('Expires')).toBe('0');
      await using caller = await openAgent({ transport, timers: TIMERS });
      expect(await call(caller, kamailio)).toMatchObject({ sipStatus: 404 });
    },
  );
});
