/**
 * Somebody on a call is connected with somebody else: two phones (baresip) over a bridge of ours, and a phone that calls
 * the other one itself when we REFER it there. SIPp shows how trunks tell of their progress.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Call, MediaCall, MediaEngine } from '../../src/index.ts';
import { mediaAt, openAgent, type TestAgent, until } from '../kit/agents.ts';
import { openEngine } from '../media/kit/lines.ts';
import { type Baresip, startBaresip } from './kit/baresip.ts';
import { isMissing } from './kit/programs.ts';
import { startCallee } from './kit/sipp.ts';
import { likeness, speak } from './kit/speech.ts';

const TIMERS = { t1Ms: 200, t2Ms: 800, t4Ms: 1_000, timerDMs: 2_000 };

interface Leg {
  readonly call: Call;
  readonly media: MediaCall;
}

describe.skipIf(isMissing({ baresip: 'baresip-core', 'espeak-ng': 'espeak-ng' }))('two phones', () => {
  let engine: MediaEngine;
  beforeAll(() => void (engine = openEngine()));
  afterAll(() => engine.close());

  async function callTo(caller: TestAgent, phone: Baresip): Promise<Leg> {
    const opened = await engine.open({ idle: 'silence' });
    if (opened.kind !== 'opened') throw new Error(opened.reason);
    const { call: media } = opened;
    const outcome = await caller.agent.call({
      to: phone.uri,
      from: caller.uri('alice'),
      media: mediaAt(media.port),
      onMedia: (agreed) => media.connect(agreed),
    }).outcome;
    if (outcome.kind !== 'answered') throw new Error(JSON.stringify(outcome));
    return { call: outcome.call, media };
  }

  /** They begin to speak when they are answered: a second of silence lets us bridge first. */
  const later = (speech: Int16Array): Int16Array => {
    const samples = new Int16Array(speech.length + 2 * 8_000);
    samples.set(speech, 8_000 * 2);
    return samples;
  };

  test('hear each other over the bridge, and nothing of themselves', { timeout: 60_000 }, async () => {
    const said = [
      speak('Hello, is this the front desk?'),
      speak('Good morning, what can I do for you?'),
    ] as const;
    await using callee = await startBaresip({ speech: later(said[0]) });
    await using human = await startBaresip({ speech: later(said[1]) });
    await using caller = await openAgent({ timers: TIMERS });
    const [first, second] = await Promise.all([callTo(caller, callee), callTo(caller, human)]);
    first.media.bridge(second.media);
    const longestMs = Math.max(said[0].length, said[1].length) / 8 + 2_500;
    await new Promise((resolve) => setTimeout(resolve, longestMs));
    await Promise.all([first.call.hangup(), second.call.hangup()]);
    for (const phone of [callee, human])
      await until(() => phone.events.some((event) => event.startsWith('CALL_CLOSED')), 'both hang up');
    const [atCallee, atHuman] = [await callee.heard(), await human.heard()];
    expect(likeness(said[1], atCallee)).toBeGreaterThan(0.9);
    expect(likeness(said[0], atHuman)).toBeGreaterThan(0.9);
    expect(Math.max(likeness(said[0], atCallee), likeness(said[1], atHuman))).toBeLessThan(0.6);
    await Promise.all([first.media.close(), second.media.close()]);
  });

  test('one calls the other when we refer it there', { timeout: 60_000 }, async () => {
    const speech = speak('Hello?');
    await using callee = await startBaresip({ speech });
    await using human = await startBaresip({ speech });
    await using caller = await openAgent({ timers: TIMERS });
    const { call, media } = await callTo(caller, callee);
    const outcome = await call.refer(human.uri, 20_000);
    expect(outcome).toEqual({ kind: 'connected' });
    await call.hangup();
    await until(() => human.events.some((event) => event.startsWith('CALL_ESTABLISHED')), 'the other phone');
    await media.close();
  });
});

describe.skipIf(isMissing({ sipp: 'sip-tester' }))('a trunk', () => {
  test.each([
    ['200 OK', { kind: 'connected' }],
    ['486 Busy Here', { kind: 'failed', reason: 'not_connected', sipStatus: 486 }],
    ['503 Service Unavailable', { kind: 'failed', reason: 'not_connected', sipStatus: 503 }],
  ])('that was referred tells of 100, 180 and %s', async (status, told) => {
    const peer = await startCallee('referred', { status });
    await using caller = await openAgent({ timers: { t1Ms: 100, t2Ms: 400, t4Ms: 500, timerDMs: 1_000 } });
    const made = caller.agent.call({ to: peer.uri, from: caller.uri('alice'), media: mediaAt(40_000) });
    const outcome = await made.outcome;
    if (outcome.kind !== 'answered') throw new Error(JSON.stringify(outcome));
    expect(await outcome.call.refer('sip:+12125550123@example.test', 10_000)).toEqual(told);
    await outcome.call.hangup();
    expect(await peer.done).toBe(0);
  });
});
