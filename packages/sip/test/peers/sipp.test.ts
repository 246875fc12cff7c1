/**
 * Calls with a real peer: SIPp (Debian package `sip-tester`). Skipped, and said so, where it is not installed.
 * SIPp ends with 0 when every call went as its scenario says; that is half of what these tests check.
 */

import { readdir } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallOptions, CallOutcome, IncomingCall, MediaEngine, TransportName } from '../../src/index.ts';
import { mediaAt, openAgent, type TestAgent, until } from '../kit/agents.ts';
import { noise, openEngine, openLine, passes } from '../media/kit/lines.ts';
import { isMissing } from './kit/programs.ts';
import { runCaller, type Sipp, startCallee } from './kit/sipp.ts';

const MISSING = isMissing({ sipp: 'sip-tester' });

let engine: MediaEngine;
beforeAll(() => void (engine = openEngine()));
afterAll(() => engine.close());

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
    ['udp', ['-lost', '30', '-max_retrans', '30', '-max_invite_retrans', '30']],
  ])('is called over %s %j, answers, and takes our BYE', async (transport, args) => {
    const peer = await startCallee('answer', { transport, args });
    await using caller = await openAgent({ transport, timers: PATIENT });
    const { call: up, media } = answered(await call(caller, peer));
    expect(media).toMatchObject({ remotePort: peer.mediaPort, codec: 'PCMU' });
    await up.hangup();
    expect(await peer.done).toBe(0);
  });

  test('sees ACK and BYE follow its recorded route', async () => {
    const peer = await startCallee('routed');
    await using caller = await openAgent({ timers: PATIENT });
    await answered(await call(caller, peer)).call.hangup();
    expect(await peer.done).toBe(0);
  });

  test('is busy, and says so in both codes', async () => {
    const peer = await startCallee('busy');
    await using caller = await openAgent({ timers: PATIENT });
    expect(await call(caller, peer)).toMatchObject({ by: 'remote', sipStatus: 486, q850: 17 });
    expect(await peer.done).toBe(0);
  });

  test('sends our audio back, to the bit', async () => {
    const peer = await startCallee('answer', { args: ['-rtp_echo'] });
    await using caller = await openAgent({ timers: PATIENT });
    const line = await openLine(engine);
    const outcome = await call(caller, peer, {
      media: mediaAt(line.call.port),
      onMedia: (media) => line.call.connect(media),
    });
    const { call: up } = answered(outcome);
    expect(await passes(line, line, noise(1_000))).toBe(true);
    expect((await line.call.close()).stats?.inbound).toMatchObject({ strangers: 0, invalid: 0 });
    await up.hangup();
    expect(await peer.done).toBe(0);
  });

  test.each(
    '302 400 403 404 408 410 480 484 486 487 488 500 502 503 504 580 600 603 604 606'.split(' ').map(Number),
  )('refuses with %i, and that is told as it was', async (sipStatus) => {
    const peer = await startCallee('refuse', { status: `${sipStatus} As Said` });
    await using caller = await openAgent({ timers: PATIENT });
    expect(await call(caller, peer)).toMatchObject({
      by: 'remote',
      reason: sipStatus === 302 ? 'redirected' : 'rejected',
      sipStatus,
      sipReason: 'As Said',
      provisional: 100,
    });
    expect(await peer.done).toBe(0);
  });

  test('answers just when we cancel: it gets its ACK and a BYE', async () => {
    const peer = await startCallee('crossing');
    await using caller = await openAgent({ timers: PATIENT });
    const media: unknown[] = [];
    const cancelling = new AbortController();
    expect(
      await call(caller, peer, {
        signal: cancelling.signal,
        onProgress: () => cancelling.abort(),
        onMedia: (negotiated) => media.push(negotiated),
      }),
    ).toMatchObject({ by: 'local', reason: 'aborted', provisional: 180 });
    expect(await peer.done).toBe(0);
    await until(() => caller.agent.stats().dialogs === 0, 'the answer to BYE');
    expect(media).toEqual([]);
  });

  test('is cancelled at the ring limit', async () => {
    const peer = await startCallee('cancel');
    await using caller = await openAgent({ timers: PATIENT });
    expect(await call(caller, peer, { ringLimitMs: 3_000 })).toMatchObject({
      by: 'local',
      reason: 'ring_limit',
      sipStatus: 487,
    });
    expect(await peer.done).toBe(0);
  });

  test('is put on hold by a re-INVITE', async () => {
    const peer = await startCallee('hold');
    await using caller = await openAgent({ timers: PATIENT });
    const { call: up } = answered(await call(caller, peer));
    expect(await up.hold()).toMatchObject({ kind: 'agreed', media: { direction: 'sendonly' } });
    await up.hangup();
    expect(await peer.done).toBe(0);
  });

  test('hangs up, with a cause', async () => {
    const peer = await startCallee('hangup');
    await using caller = await openAgent({ timers: PATIENT });
    const { call: up } = answered(await call(caller, peer));
    expect(await up.ended).toMatchObject({ by: 'remote', reason: 'hangup', q850: 31 });
    expect(await peer.done).toBe(0);
  });

  test('verifies our MD5 digest', async () => {
    const peer = await startCallee('challenge');
    await using caller = await openAgent({ timers: PATIENT });
    const outcome = await call(caller, peer, { credentials: { username: 'alice', password: 'secret' } });
    await answered(outcome).call.hangup();
    expect(await peer.done).toBe(0);
  });
});

/** Open files and sockets of this process, its threads' too. */
const descriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length;

describe.skipIf(MISSING)('SIPp as caller', () => {
  test('makes 200 calls at 20 a second, and no dialog, timer, socket or port of them is left', async () => {
    let taken = 0;
    const serve = async (incoming: IncomingCall): Promise<void> => {
      const line = await openLine(engine);
      const media = mediaAt(line.call.port);
      const outcome = await incoming.accept({ media, onMedia: (agreed) => line.call.connect(agreed) });
      if (outcome.kind === 'answered') await outcome.call.ended;
      await line.call.close();
    };
    await using agent = await openAgent({
      onInvite: (incoming) => {
        taken += 1;
        incoming.ring();
        void serve(incoming);
      },
    });
    const before = await descriptors();
    const code = await runCaller(agent.port, ['-r', '20', '-m', '200', '-d', '100']);
    expect([code, taken]).toEqual([0, 200]);
    await until(
      () => agent.agent.stats().transactions === 0 && agent.clock.pending === 0 && engine.size === 0,
      'the last transactions',
    );
    expect(agent.agent.stats()).toMatchObject({ dialogs: 0, connections: 0 });
    await expect.poll(descriptors).toBeLessThanOrEqual(before);
  });
});
