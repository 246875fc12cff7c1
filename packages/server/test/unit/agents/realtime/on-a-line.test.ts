/** The realtime agent on legs that carry sound, against a strict provider on a real socket. */
import { afterEach, describe, expect, it } from 'vitest';
import { hasOptedOut } from '../../../../src/agents/notes.ts';
import type { Turn } from '../../../../src/agents/agent.ts';
import { createRealtimeAgent } from '../../../../src/agents/realtime/realtime-agent.ts';
import { createKeyWatch, type KeyWatch } from '../../../../src/platform/key-watch.ts';
import { talk, testClock, type CallOptions } from '../../../conformance/hold-call.ts';
import type { Law } from '../../../fakes/fixture-speech.ts';
import type { Model } from '../../../fakes/realtime-session.ts';
import { startRealtimeServer, type Fault, type RealtimeFake } from '../../../fakes/realtime-server.ts';
import { scriptedModel } from '../../../fakes/scripted-model.ts';
import { steppedCarrier, type Callee } from '../../../fakes/stepped-line.ts';

const servers: RealtimeFake[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    await server.close();
    if (server.violations.length > 0) throw new Error(server.violations.join('\n'));
  }
});

/** Answers of somebody who cooperates with the scripted model, by a word of the question. */
const answers: readonly (readonly [RegExp, string])[] = [
  [/at home/, 'Yes, somebody will be here.'],
  [/part of the day/, 'In the evening, please.'],
  [/which day/, 'Tomorrow would be good.'],
  [/driver/, 'Please ring the bell twice.'],
  [/right\?|correct\?/, 'Yes, that is right.'],
];
const vocabulary = [
  'Hello?',
  'Wait, what?',
  'Hi, you have reached the voicemail of Ada. Please leave a message after the tone.',
  "Please don't call me again.",
  ...answers.map(([, answer]) => answer),
];

/** Greets, and answers each question when it was asked; the questions are what the model last said. */
const cooperative =
  (server: () => RealtimeFake): Callee =>
  async (line) => {
    await line.sleep(300);
    await line.speak('Hello?');
    while (await line.untilWeStop()) {
      const question = lastWords(server());
      const answer = answers.findLast(([pattern]) => pattern.test(question))?.[1];
      if (answer !== undefined) await line.speak(answer);
    }
  };

function lastWords(server: RealtimeFake): string {
  return server.sessions.at(-1)?.items.findLast(({ role }) => role === 'assistant')?.text ?? '';
}

interface CallOnLine extends Omit<CallOptions, 'agent' | 'carrier'> {
  readonly callee?: Callee;
  readonly faults?: readonly Fault[];
  readonly law?: Law;
  readonly newModel?: () => Model;
  readonly dialect?: 'openai' | 'generic';
  /** Lets the leg's time go on while there is no session. */
  readonly impatient?: boolean;
  readonly key?: KeyWatch;
  /** Upgrades are answered at this leg time. */
  readonly answeredAtMs?: number;
}

async function call(options: CallOnLine = {}) {
  const newModel = options.newModel ?? (() => scriptedModel(testClock.now()));
  const { dialect = 'openai', answeredAtMs = 0 } = options;
  const ready = Promise.withResolvers<void>();
  const server = await startRealtimeServer({
    newModel,
    ready: ready.promise,
    manner: dialect === 'openai' ? 'strict' : 'lenient',
    vocabulary,
    ...(options.faults === undefined ? {} : { faults: options.faults }),
  });
  servers.push(server);
  const { url, key: apiKey } = server;
  const agent = createRealtimeAgent({
    clock: testClock,
    provider: { dialect, url, apiKey: dialect === 'openai' ? apiKey : null, model: 'm' },
    ...(options.key === undefined ? {} : { key: options.key }),
  });
  const settled = async () => {
    if ((carrier.lines[0]?.now ?? 0) < answeredAtMs)
      return new Promise<void>((resolve) => setImmediate(resolve));
    ready.resolve();
    if (options.impatient === true) await new Promise((resolve) => setImmediate(resolve));
    else await server.connected();
    await server.settled();
  };
  const carrier = steppedCarrier(options.callee ?? cooperative(() => server), settled, options.law);
  const held = await talk({ ...options, agent, carrier });
  const [line] = carrier.lines;
  if (line === undefined) throw new Error('nobody was called');
  return { ...held, server, agent, line };
}

const spoken = (turns: readonly Turn[], who: Turn['speaker']) =>
  turns.filter(({ speaker }) => speaker === who).map(({ text }) => text);

const byTime = (turns: readonly Turn[]) =>
  turns.every(({ offsetMs }, at) => offsetMs >= (turns[at - 1]?.offsetMs ?? 0));

describe('a conversation', () => {
  it('goes through all questions in either law of G.711, and its notes give the result', async () => {
    for (const law of ['mu', 'a'] as const) {
      const { turns, end, drawn, server, line } = await call({ law });
      expect(end).toEqual({ kind: 'finished' });
      expect(spoken(turns, 'user')).toEqual(['Hello?', ...answers.map(([, answer]) => answer)]);
      expect(drawn).toMatchObject({
        kind: 'result',
        result: { somebody_home: true, part_of_day: 'evening', delivery_day: '2026-11-22' },
      });
      expect(byTime(turns)).toBe(true);
      expect(server.sessions[0]?.settings?.audio?.input.format).toEqual({
        type: law === 'mu' ? 'audio/pcmu' : 'audio/pcma',
      });
      // What the line played is what the model said, bit for bit.
      const [first = ''] = spoken(turns, 'bot');
      expect(line.heard([first, 'Something else that nobody said.'])).toBe(first);
    }
  });

  it('is the same with a server that answers by itself, takes linear samples and names no turns', async () => {
    const { turns, end, drawn, server } = await call({ dialect: 'generic' });
    expect(end).toEqual({ kind: 'finished' });
    expect(spoken(turns, 'user')).toEqual(['Hello?', ...answers.map(([, answer]) => answer)]);
    expect(turns[1]?.text).toContain('automated assistant');
    expect(drawn.kind).toBe('result');
    expect(server.sessions[0]?.settings?.audio?.input.format).toEqual({ type: 'audio/pcm', rate: 8_000 });
  });

  it('tells when the callee spoke by the sound that the provider heard', async () => {
    const { turns } = await call();
    const hello = turns.find(({ speaker }) => speaker === 'user');
    // 300 ms of padding before what began at 300 ms.
    expect(hello?.offsetMs).toBeLessThanOrEqual(320);
  });

  it('has heard what was said while the provider was being connected', async () => {
    const { turns, end } = await call({ answeredAtMs: 1_500 });
    expect(turns[0]).toMatchObject({ speaker: 'user', text: 'Hello?' });
    expect(turns[0]?.offsetMs).toBeLessThanOrEqual(320);
    expect(end).toEqual({ kind: 'finished' });
  });

  it('speaks first when nobody says anything for 2 s', async () => {
    const { turns, end } = await call({ callee: async () => undefined });
    expect(turns[0]).toMatchObject({ speaker: 'bot', text: expect.stringContaining('automated assistant') });
    expect(turns[0]?.offsetMs).toBeGreaterThanOrEqual(2_000);
    expect(turns[0]?.offsetMs).toBeLessThan(2_300);
    expect(end).toEqual({ kind: 'finished' });
    expect(turns.length).toBe(3);
  });

  it('puts what is written down late at its right place', async () => {
    const { turns, drawn } = await call({ faults: [{ transcriptsAfterMs: 1_600 }] });
    expect(byTime(turns)).toBe(true);
    expect(turns.slice(0, 3).map(({ speaker }) => speaker)).toEqual(['user', 'bot', 'user']);
    expect(spoken(turns, 'user').slice(0, 2)).toEqual(['Hello?', answers[0]?.[1]]);
    expect(drawn.kind).toBe('result');
  });

  it('goes on when nothing can be written down', async () => {
    const { turns, end } = await call({ faults: [{ noTranscripts: true }] });
    expect(end).toEqual({ kind: 'finished' });
    expect(spoken(turns, 'user')).toEqual([]);
    expect(spoken(turns, 'bot').length).toBeGreaterThan(4);
  });

  it('ends when the callee leaves, and still keeps the words that came last', async () => {
    const callee: Callee = async (line) => {
      await line.untilWeStop();
      await line.speak('Yes, somebody will be here.');
      await line.end('callee');
    };
    const { turns, end } = await call({ callee });
    expect(end).toEqual({ kind: 'callee_left' });
    expect(turns.at(-1)).toMatchObject({ speaker: 'user', text: 'Yes, somebody will be here.' });
  });

  it('wraps up when the session of the provider is about to expire', async () => {
    const endless = (): Model => {
      return ({ instructions }) =>
        instructions.includes('time of this call is up') ? { text: 'Goodbye.' } : { text: 'And what else?' };
    };
    const { turns, end, lengthMs } = await call({
      newModel: endless,
      callee: async (line) => {
        while (await line.untilWeStop()) await line.speak('Wait, what?');
      },
      faults: [{ expiresAtMs: testClock.now() + 50_000 }],
      callLimitMs: 600_000,
    });
    expect(end).toEqual({ kind: 'finished' });
    expect(lengthMs).toBeGreaterThan(20_000);
    expect(lengthMs).toBeLessThan(50_000);
    expect(spoken(turns, 'bot').at(-1)).toBe('Goodbye.');
  });

  it('tells the model which keys were pressed', async () => {
    const { turns, server } = await call({
      callee: async (line) => {
        await line.untilWeStop();
        line.press('4');
        line.press('2');
        await line.sleep(3_000);
        await line.end('callee');
      },
    });
    expect(turns.find(({ speaker }) => speaker === 'user')?.text).toBe('42');
    expect(server.sessions[0]?.items.some(({ role, text }) => role === 'user' && text.includes('42'))).toBe(
      true,
    );
  });
});

describe('an interruption', () => {
  /** Cuts our first sentence short after a while, and then cooperates. */
  const interrupting =
    (afterMs: number): Callee =>
    async (line) => {
      await line.until(() => line.hearsUs);
      await line.sleep(afterMs);
      await line.speak('Wait, what?');
      await line.untilWeStop();
      await line.end('callee');
    };

  for (const [when, fault] of [
    ['although the response is done', {}],
    ['while the response is coming', { drip: true }],
  ] as const) {
    it(`stops our voice at once, ${when}, and tells the provider what was heard`, async () => {
      const { turns, server, line } = await call({ callee: interrupting(1_500), faults: [fault] });
      const cut = turns.find(({ speaker }) => speaker === 'bot');
      expect(cut?.interrupted).toBe(true);
      const [truncate] = server.sessions[0]?.received.filter(({ type }) => type.endsWith('truncate')) ?? [];
      const began = line.played[0]?.atMs ?? 0;
      const callee = began + 1_500;
      const stopped = line.played.find(
        ({ atMs }, at) => (line.played[at + 1]?.atMs ?? Infinity) - atMs > 100,
      );
      // The fake hears speech after 60 ms.
      expect((stopped?.atMs ?? Infinity) - callee).toBeLessThanOrEqual(120);
      const playedMs = line.played.filter(({ atMs }) => atMs <= (stopped?.atMs ?? 0)).length * 20;
      expect(truncate?.['audio_end_ms']).toBe(playedMs);
      // 60 ms a character: the words that were played, and no more.
      const whole = 'Hello, this is an automated assistant';
      expect(Math.abs((cut?.text.length ?? 0) - playedMs / 60)).toBeLessThan(12);
      expect(cut?.text.startsWith(whole.slice(0, 12))).toBe(true);
    });
  }

  it('of the first sentence has it said again (A1)', async () => {
    const { turns } = await call({ callee: interrupting(700) });
    const [first, second] = spoken(turns, 'bot');
    expect(first).not.toContain('Parcel Post');
    expect(second).toContain('Parcel Post');
  });

  it('by a key and then by voice cuts each of our messages once', async () => {
    let responses = 0;
    const newModel = (): Model => () => {
      responses += 1;
      return { text: `This is response number ${responses}, and it takes some time to say all of it.` };
    };
    const { server, turns } = await call({
      newModel,
      callee: async (line) => {
        await line.until(() => line.hearsUs);
        await line.sleep(400);
        line.press('1');
        await line.until(() => responses > 1 && line.hearsUs);
        await line.sleep(600);
        await line.speak('Wait, what?');
        await line.end('callee');
      },
    });
    const cuts = server.sessions[0]?.received.filter(({ type }) => type.endsWith('truncate')) ?? [];
    expect(new Set(cuts.map((cut) => cut['item_id'])).size).toBe(cuts.length);
    expect(turns.filter(({ interrupted }) => interrupted).length).toBeGreaterThan(1);
  });
});

describe('a machine', () => {
  const machine =
    (beeps: boolean): Callee =>
    async (line) => {
      await line.sleep(400);
      await line.speak('Hi, you have reached the voicemail of Ada. Please leave a message after the tone.');
      await line.sleep(900);
      if (beeps) line.beep();
      // What a machine clicks and hums into the message is nobody who interrupts it.
      if (beeps && (await line.until(() => line.hearsUs))) await line.speak('Wait, what?');
    };

  it('is left when the Goal says so', async () => {
    for (const beeps of [true, false]) {
      const { end, turns } = await call({ callee: machine(beeps) });
      expect(end).toEqual({ kind: 'machine', did: 'hang_up' });
      expect(spoken(turns, 'bot')).toEqual([]);
    }
  });

  it('is left a message behind the beep, or when none is heard', async () => {
    for (const beeps of [true, false]) {
      const { end, turns } = await call({
        callee: machine(beeps),
        machine: 'leave_message',
        faults: [{ drip: true }],
      });
      expect(end).toEqual({ kind: 'machine', did: 'leave_message' });
      const said = spoken(turns, 'bot');
      expect(said.length).toBe(1);
      expect(said[0]).toContain('Parcel Post');
      expect(turns.every(({ interrupted }) => !interrupted)).toBe(true);
    }
  });
});

describe('the wish not to be called again', () => {
  it('is noted of what was said, confirmed, and ends the call', async () => {
    const callee: Callee = async (line) => {
      await line.untilWeStop();
      await line.speak("Please don't call me again.");
    };
    const { end, turns } = await call({ callee });
    expect(end).toEqual({ kind: 'opted_out' });
    expect(turns.find(hasOptedOut)).toMatchObject({
      speaker: 'user',
      text: "Please don't call me again.",
    });
    expect(turns.at(-1)?.speaker).toBe('bot');
  });
});

describe('a provider that fails', () => {
  it('with a drop in the middle of a sentence is connected once more, and the talk goes on', async () => {
    const { end, turns, server } = await call({ faults: [{ dropAfterVoiceMs: 14_000 }, {}] });
    expect(server.upgrades).toBe(2);
    expect(end).toEqual({ kind: 'finished' });
    const [first] = server.sessions[1]?.received.filter(({ type }) => type === 'response.create') ?? [];
    expect(JSON.stringify(first)).toContain('Apologise for the pause');
    expect(server.sessions[1]?.items[0]).toMatchObject({ role: 'user', text: 'Hello?' });
    expect(byTime(turns)).toBe(true);
  });

  it('with two drops ends the call as failed', async () => {
    const { end, server } = await call({ faults: [{ dropAfterVoiceMs: 9_000 }, { dropAfterVoiceMs: 200 }] });
    expect(server.upgrades).toBe(2);
    expect(end).toEqual({ kind: 'failed', note: 'the connection to the realtime provider broke' });
  });

  it('at the upgrade or behind it: a rejected key is told as that until it is taken, also by the readiness', async () => {
    const key = createKeyWatch(testClock, 'TRUNKCALL_REALTIME_API_KEY');
    for (const fault of [{ upgrade: 401 }, { rejectKey: 'error' }, { rejectKey: 'close' }] as const) {
      const { end, agent, server } = await call({ faults: [fault], impatient: true, key });
      expect(end).toEqual({ kind: 'failed', note: 'the realtime provider rejected the key (401)' });
      expect(agent.problems('en-US', 'audio').join()).toContain('TRUNKCALL_REALTIME_API_KEY');
      expect(server.upgrades).toBe(1);
    }
    expect((await call({ key })).agent.problems('en-US', 'audio')).toEqual([]);
  });

  it('at the upgrade: a limit or a fault is tried once more', async () => {
    for (const upgrade of [429, 500]) {
      const { end, server } = await call({ faults: [{ upgrade }, {}] });
      expect(server.upgrades).toBe(2);
      expect(end).toEqual({ kind: 'finished' });
    }
    const { end } = await call({ faults: [{ upgrade: 500 }], impatient: true });
    expect(end.kind).toBe('failed');
  });

  it('that never answers the upgrade, never begins a session, or never speaks, is given up in time', async () => {
    for (const fault of [{ upgrade: 'hang' as const }, { mute: true }]) {
      const { end, lengthMs } = await call({ faults: [fault], impatient: true });
      expect(end).toEqual({ kind: 'failed', note: 'the realtime provider did not begin a session in time' });
      expect(lengthMs).toBeLessThanOrEqual(10_100);
    }
    const stalled = await call({ faults: [{ stall: true }] });
    expect(stalled.end).toEqual({ kind: 'failed', note: 'the realtime provider did not answer in time' });
    expect(stalled.lengthMs).toBeLessThan(13_000);
  });

  it('that refuses the settings is named by its code alone', async () => {
    const { end } = await call({ faults: [{ refuseSession: 'invalid_voice' }], impatient: true });
    expect(end).toEqual({ kind: 'failed', note: 'the realtime provider refused the session: invalid_voice' });
  });

  it('for one response is asked again; for three in a row the call fails', async () => {
    expect(
      (await call({ faults: [{ failResponses: ['server_error', 'rate_limit_exceeded'] }] })).end,
    ).toEqual({
      kind: 'finished',
    });
    const codes = ['server_error', 'server_error', 'rate_limit_exceeded'];
    expect((await call({ faults: [{ failResponses: codes }] })).end).toEqual({
      kind: 'failed',
      note: 'the realtime provider failed: rate_limit_exceeded',
    });
  });

  it('and sends what is no event is not minded, within bounds', async () => {
    expect((await call({ faults: [{ malformed: true }] })).end).toEqual({ kind: 'finished' });
  });

  it('and drips is heard as well as one that hurries', async () => {
    expect((await call({ faults: [{ drip: true }] })).drawn.kind).toBe('result');
  });
});
