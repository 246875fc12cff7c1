/**
 * Calls with a real peer: SIPp (Debian package `sip-tester`). Skipped, and said so, where it is not installed.
 * SIPp ends with 0 when every call went as its scenario says; that is half of what these tests check.
 */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { CallOptions, CallOutcome, TransportName } from '../../src/index.ts';
import { mediaAt, openAgent, type TestAgent, until } from '../kit/agents.ts';

const MISSING = spawnSync('sipp', ['-v']).error !== undefined;
if (MISSING)
  process.stderr.write('SKIPPED: the tests against SIPp. To run them: apt-get install -y sip-tester\n');

interface Sipp {
  readonly port: number;
  readonly uri: string;
  /** Resolves to the exit code: 0 when the scenario was followed. */
  readonly done: Promise<number | null>;
}

function startSipp(port: number, args: readonly string[]): Promise<number | null> {
  const common = [
    '-i',
    '127.0.0.1',
    '-p',
    String(port),
    '-nostdin',
    '-timeout',
    '25s',
    '-timeout_error',
    '-nd',
  ];
  const child = spawn('sipp', [...args, ...common], {
    stdio: 'ignore',
    env: { ...process.env, TERM: 'dumb' },
  });
  return once(child, 'exit').then(([code]) => code as number | null);
}

/**
 * A port that was free a moment ago, below those that the kernel hands out by itself: other tests that run beside
 * these must not get it before SIPp has started.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const free = new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (await free) return port;
  }
}

async function callee(
  scenario: string,
  transport: TransportName = 'udp',
  more: readonly string[] = [],
): Promise<Sipp> {
  const port = await freePort();
  const file = fileURLToPath(new URL(`./scenarios/${scenario}.xml`, import.meta.url));
  const done = startSipp(port, ['-sf', file, '-m', '1', '-t', transport === 'tcp' ? 't1' : 'u1', ...more]);
  return { port, uri: `sip:bob@127.0.0.1:${port};transport=${transport}`, done };
}

/** Calls, again and again while nobody listens: over UDP retransmission waits for SIPp to start, TCP refuses. */
async function call(caller: TestAgent, peer: Sipp, options: Partial<CallOptions> = {}): Promise<CallOutcome> {
  const end = performance.now() + 15_000;
  for (;;) {
    const made = { to: peer.uri, from: caller.uri('alice'), media: mediaAt(40_000), ...options };
    const outcome = await caller.agent.call(made).outcome;
    const refused = outcome.kind === 'ended' && outcome.reason === 'unreachable';
    if (!refused || performance.now() > end) return outcome;
    await wait(50);
  }
}

function answered(outcome: CallOutcome) {
  if (outcome.kind !== 'answered') throw new Error(`not answered: ${JSON.stringify(outcome)}`);
  return outcome;
}

/** SIPp takes its time to start on a busy machine. */
const PATIENT = { t1Ms: 100, t2Ms: 400, t4Ms: 500, timerDMs: 1_000 };

describe.skipIf(MISSING)('SIPp as callee', () => {
  test.each<[TransportName, readonly string[]]>([
    ['udp', []],
    ['tcp', []],
    ['udp', ['-lost', '20']],
  ])('is called over %s %j, answers, and takes our BYE', async (transport, more) => {
    const peer = await callee('answer', transport, more);
    await using caller = await openAgent({ transport, timers: PATIENT });
    const { call: up, media } = answered(await call(caller, peer));
    expect(media).toMatchObject({ remotePort: 6_000, codec: 'PCMU' });
    await up.hangup();
    expect(await peer.done).toBe(0);
  });

  test('sees ACK and BYE follow its recorded route', async () => {
    const peer = await callee('routed');
    await using caller = await openAgent({ timers: PATIENT });
    await answered(await call(caller, peer)).call.hangup();
    expect(await peer.done).toBe(0);
  });

  test('is busy, and says so in both codes', async () => {
    const peer = await callee('busy');
    await using caller = await openAgent({ timers: PATIENT });
    expect(await call(caller, peer)).toMatchObject({ by: 'remote', sipStatus: 486, q850: 17 });
    expect(await peer.done).toBe(0);
  });

  test('is cancelled at the ring limit', async () => {
    const peer = await callee('cancel');
    await using caller = await openAgent({ timers: PATIENT });
    expect(await call(caller, peer, { ringLimitMs: 3_000 })).toMatchObject({
      by: 'local',
      reason: 'ring_limit',
      sipStatus: 487,
    });
    expect(await peer.done).toBe(0);
  });

  test('is put on hold by a re-INVITE', async () => {
    const peer = await callee('hold');
    await using caller = await openAgent({ timers: PATIENT });
    const { call: up } = answered(await call(caller, peer));
    expect(await up.hold()).toMatchObject({ kind: 'agreed', media: { direction: 'sendonly' } });
    await up.hangup();
    expect(await peer.done).toBe(0);
  });

  test('hangs up, with a cause', async () => {
    const peer = await callee('hangup');
    await using caller = await openAgent({ timers: PATIENT });
    const { call: up } = answered(await call(caller, peer));
    expect(await up.ended).toMatchObject({ by: 'remote', reason: 'hangup', q850: 31 });
    expect(await peer.done).toBe(0);
  });

  test('verifies our MD5 digest', async () => {
    const peer = await callee('challenge');
    await using caller = await openAgent({ timers: PATIENT });
    const outcome = await call(caller, peer, { credentials: { username: 'alice', password: 'secret' } });
    await answered(outcome).call.hangup();
    expect(await peer.done).toBe(0);
  });
});

describe.skipIf(MISSING)('SIPp as caller', () => {
  test('makes 200 calls at 20 a second, and nothing of them is left', async () => {
    let taken = 0;
    await using agent = await openAgent({
      onInvite: (incoming) => {
        taken += 1;
        incoming.ring();
        void incoming.accept({ media: mediaAt(50_000) });
      },
    });
    const code = await startSipp(await freePort(), [
      '-sn',
      'uac',
      '-r',
      '20',
      '-m',
      '200',
      '-d',
      '100',
      `127.0.0.1:${agent.port}`,
    ]);
    expect([code, taken]).toEqual([0, 200]);
    await until(
      () => agent.agent.stats().transactions === 0 && agent.clock.pending === 0,
      'the last transactions',
    );
    expect(agent.agent.stats()).toMatchObject({ dialogs: 0, connections: 0 });
  });
});
