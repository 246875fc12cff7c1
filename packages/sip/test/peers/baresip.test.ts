/**
 * Calls with a phone: baresip (Debian packages `baresip-core`, and `espeak-ng` for what is said). Skipped, and said
 * so, where they are not installed.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Call,
  encodeG711,
  FRAME_MS,
  type LocalMedia,
  type MediaCall,
  type MediaEngine,
  type MediaEvent,
  type NegotiatedMedia,
} from '../../src/index.ts';
import { mediaAt, openAgent, type TestAgent, until } from '../kit/agents.ts';
import { openEngine } from '../media/kit/lines.ts';
import { readWav } from '../media/kit/wav.ts';
import { type Baresip, startBaresip } from './kit/baresip.ts';
import { isMissing, openFolder } from './kit/programs.ts';
import { likeness, speak } from './kit/speech.ts';

const MISSING = isMissing({ baresip: 'baresip-core', 'espeak-ng': 'espeak-ng' });
const TIMERS = { t1Ms: 200, t2Ms: 800, t4Ms: 1_000, timerDMs: 2_000 };
const TEXTS = {
  ours: 'Good morning, I am calling about Thursday.',
  theirs: 'Hello? Yes, five o clock would suit us.',
};

let engine: MediaEngine;
let ours: Int16Array;
let theirs: Int16Array;
beforeAll(() => {
  if (MISSING) return;
  engine = openEngine();
  ours = speak(TEXTS.ours);
  theirs = speak(TEXTS.theirs);
});
afterAll(() => engine?.close());

/** Media whose events and agreements are kept. */
interface Voice {
  readonly media: MediaCall;
  readonly events: MediaEvent[];
  readonly agreed: NegotiatedMedia[];
  /** How much was heard, milliseconds. */
  heardMs(): number;
  readonly local: LocalMedia;
  readonly onMedia: (media: NegotiatedMedia) => void;
}

async function openVoice(more: Partial<LocalMedia> = {}): Promise<Voice> {
  const events: MediaEvent[] = [];
  const agreed: NegotiatedMedia[] = [];
  let heardMs = 0;
  const opened = await engine.open({
    idle: 'silence',
    onEvent: (event) => events.push(event),
    onFrame: (_, kind) => (heardMs += kind === 'voice' ? FRAME_MS : 0),
  });
  if (opened.kind !== 'opened') throw new Error(opened.reason);
  const { call: media } = opened;
  return {
    media,
    events,
    agreed,
    heardMs: () => heardMs,
    local: mediaAt(media.port, { codecs: ['PCMU'], ...more }),
    onMedia(negotiated) {
      agreed.push(negotiated);
      media.connect(negotiated);
    },
  };
}

function place(caller: TestAgent, phone: Baresip, { local, onMedia }: Voice) {
  return caller.agent.call({ to: phone.uri, from: caller.uri('alice'), media: local, onMedia }).outcome;
}

async function answeredCall(caller: TestAgent, phone: Baresip, voice: Voice): Promise<Call> {
  const outcome = await place(caller, phone, voice);
  if (outcome.kind !== 'answered') throw new Error(`not answered: ${JSON.stringify(outcome)}`);
  return outcome.call;
}

const keysOf = ({ events }: Voice): string =>
  events.flatMap((event) => (event.kind === 'key' ? [event.key] : [])).join('');

/** Both sides say their piece, and then both recordings must have the other's: and nothing of the own. */
async function proveSpeech(call: Call, phone: Baresip, voice: Voice): Promise<void> {
  await using folder = await openFolder();
  const path = join(folder.path, 'call.wav');
  voice.media.record({ path, maxDurationMs: 20_000 });
  voice.media.play(encodeG711('PCMU', ours));
  expect(await voice.media.mark()).toBe('played');
  const saidMs = (theirs.length / 8_000) * 1_000;
  await until(() => voice.heardMs() > saidMs + 300, 'all that the phone says');
  voice.media.stopRecording();
  await until(() => voice.events.some(({ kind }) => kind === 'recording_ended'), 'the recording');
  await call.hangup();
  await until(() => phone.events.some((event) => event.startsWith('CALL_CLOSED')), 'the phone hangs up');
  const { left } = readWav(await readFile(path));
  const [atOurs, atTheirs] = [Int16Array.from(left), await phone.heard()];
  expect(likeness(theirs, atOurs)).toBeGreaterThan(0.9);
  expect(likeness(ours, atTheirs)).toBeGreaterThan(0.9);
  expect(Math.max(likeness(ours, atOurs), likeness(theirs, atTheirs))).toBeLessThan(0.6);
}

describe.skipIf(MISSING)('baresip as callee', () => {
  test('hears what we say, to the end, and we hear it', async () => {
    await using phone = await startBaresip({ speech: theirs });
    await using caller = await openAgent({ timers: TIMERS });
    const voice = await openVoice();
    const call = await answeredCall(caller, phone, voice);
    expect(voice.agreed.at(-1)).toMatchObject({ codec: 'PCMU', direction: 'sendrecv', srtp: undefined });
    await proveSpeech(call, phone, voice);
  });

  test('talks with us over TLS and SRTP, both of which it demands', async () => {
    await using phone = await startBaresip({ speech: theirs, transport: 'tls', srtp: true });
    await using caller = await openAgent({ transport: 'tls', timers: TIMERS });
    const voice = await openVoice({ srtp: 'required' });
    const call = await answeredCall(caller, phone, voice);
    expect(caller.network.sent[0]?.via[0]?.transport).toBe('TLS');
    expect(voice.agreed.at(-1)?.srtp).toBeDefined();
    await proveSpeech(call, phone, voice);
  });

  test('gets no clear media when we demand SRTP and it has none', async () => {
    await using phone = await startBaresip({ speech: theirs });
    await using caller = await openAgent({ timers: TIMERS });
    const voice = await openVoice({ srtp: 'required' });
    expect(await place(caller, phone, voice)).toMatchObject({ kind: 'ended' });
    await until(() => caller.agent.stats().dialogs === 0, 'the call is over');
    expect(voice.agreed).toEqual([]);
    expect((await voice.media.close()).stats?.outbound.packets).toBe(0);
  });

  test('refuses our clear media when it demands SRTP', async () => {
    await using phone = await startBaresip({ speech: theirs, srtp: true });
    await using caller = await openAgent({ timers: TIMERS });
    const voice = await openVoice();
    expect(await place(caller, phone, voice)).toMatchObject({ kind: 'ended' });
    expect(voice.agreed).toEqual([]);
  });

  test('is put on hold and taken back, and does the same to us', async () => {
    await using phone = await startBaresip({ speech: theirs });
    await using caller = await openAgent({ timers: TIMERS });
    const voice = await openVoice();
    const call = await answeredCall(caller, phone, voice);
    const latest = (): string | undefined => voice.agreed.at(-1)?.direction;
    expect(await call.hold()).toMatchObject({ kind: 'agreed', media: { direction: 'sendonly' } });
    expect(await call.resume()).toMatchObject({ kind: 'agreed', media: { direction: 'sendrecv' } });
    phone.command('hold');
    await until(() => latest() === 'recvonly' || latest() === 'inactive', 'we are on hold');
    phone.command('resume');
    await until(() => latest() === 'sendrecv', 'we are taken back');
    await call.hangup();
    expect((await voice.media.close()).reason).toBe('closed');
  });

  test('hears the keys that we press, and we hear its own', async () => {
    await using phone = await startBaresip({ speech: theirs });
    await using caller = await openAgent({ timers: TIMERS });
    const voice = await openVoice();
    const call = await answeredCall(caller, phone, voice);
    await until(() => voice.heardMs() > 0, 'its voice');
    expect(voice.media.dial('159*0#')).toBe(true);
    const pressed = (): string =>
      phone.events.map((event) => /^CALL_DTMF_START (.)$/.exec(event)?.[1] ?? '').join('');
    await until(() => pressed() === '159*0#', `our keys; it has ${pressed()}`);
    for (const key of '27#') phone.command('sndcode', key);
    await until(() => keysOf(voice) === '27#', 'its keys');
    await call.hangup();
  });
});

describe.skipIf(MISSING)('baresip as caller', () => {
  test('is heard by us, and hangs up', async () => {
    const voice = await openVoice();
    let call: Call | undefined;
    await using callee = await openAgent({
      timers: TIMERS,
      onInvite: (incoming) => {
        const accepted = incoming.accept({ media: voice.local, onMedia: voice.onMedia });
        void accepted.then((outcome) => (call = outcome.kind === 'answered' ? outcome.call : undefined));
      },
    });
    await using phone = await startBaresip({ speech: theirs });
    phone.command('dial', callee.uri('agent'));
    await until(() => voice.heardMs() > 500, 'its voice');
    phone.command('hangup');
    expect(await call?.ended).toMatchObject({ by: 'remote', reason: 'hangup' });
    await until(() => callee.agent.stats().dialogs === 0, 'nothing is left');
  });

  test('is refused with 488 when it calls in the clear and we demand SRTP', async () => {
    const voice = await openVoice({ srtp: 'required' });
    await using callee = await openAgent({
      timers: TIMERS,
      onInvite: (incoming) => void incoming.accept({ media: voice.local, onMedia: voice.onMedia }),
    });
    await using phone = await startBaresip({ speech: theirs });
    phone.command('dial', callee.uri('agent'));
    await until(() => phone.events.some((event) => /^CALL_CLOSED .*488/.test(event)), 'the refusal');
    expect(voice.agreed).toEqual([]);
    expect((await voice.media.close()).stats?.outbound.packets).toBe(0);
  });
});
