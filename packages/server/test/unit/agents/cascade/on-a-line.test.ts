/** The cascade agent on a line that carries sound, with people who really speak and providers on real sockets. */
import type { AnsweredBy } from '@trunkcall/contract';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Brief, ConversationEnd, Turn } from '../../../../src/agents/agent.ts';
import { createCascadeAgent } from '../../../../src/agents/cascade/cascade-agent.ts';
import type { Transcriber } from '../../../../src/agents/cascade/ports.ts';
import {
  createOpenAiChat,
  createOpenAiTranscriber,
  createOpenAiVoice,
} from '../../../../src/agents/cascade/providers/openai.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { briefFor, deliverySchema } from '../../../conformance/hold-call.ts';
import { answerFrom } from '../../../fakes/chat-brain.ts';
import { startOpenAiServer, type Answer, type OpenAiServer } from '../../../fakes/openai-server.ts';
import { SoundLine, type Person } from '../../../fakes/sound-line.ts';
import {
  espeakMissing,
  recognise,
  speakFixtures,
  type SpokenFixtures,
} from '../../../fakes/spoken-fixtures.ts';
import { drawResult } from '../../../../src/result/draw-result.ts';
import { createScriptedExtractor } from '../../../../src/result/scripted-extractor.ts';

const hello = 'Hello?';
const yes = 'Yes, of course.';
const evening = 'The evening is best.';
const day = 'Next Tuesday would be good.';
const nothing = 'No, that is all.';
const wait = 'But wait a minute please.';
const unfinished = 'I am at home in the morning and';
const rest = 'sometimes in the evening.';
const mailbox = 'Please leave a message after the tone.';
const enough = 'Please stop calling me.';
const said = [hello, yes, evening, day, nothing, wait, unfinished, rest, mailbox, enough];

let fixtures: SpokenFixtures;
let server: OpenAiServer;
let script: ((heard: string) => Answer) | null;
/** What is heard, segment by segment, in place of what the provider makes of the sound. */
let ears: string[] | null;
/** Hangs up and stops the agent, as at the call limit; tells what was reported by then. */
let cutOff: () => readonly Turn[];

beforeAll(async () => {
  if (!espeakMissing) fixtures = await speakFixtures(said, 'en-US');
});
beforeEach(async () => {
  script = null;
  ears = null;
  server = await startOpenAiServer({
    apiKey: 'sk-test',
    chat: (messages) => script?.(messages.at(-1)?.content ?? '') ?? answerFrom(messages),
    recognise: (sound) => recognise(sound, fixtures),
  });
});
afterEach(async () => {
  await server.close();
  if (server.complaints.length > 0) throw new Error(server.complaints.join(', '));
});

function spoken(text: string): Int16Array {
  const pcm = fixtures.get(text);
  if (pcm === undefined) throw new Error('no such fixture');
  return pcm;
}

/** Hears these words at once, one after the other. */
const hearing = (segments: string[]): Transcriber => ({
  open: () => ({
    frame: () => undefined,
    begin: () => undefined,
    end: async () => ({ kind: 'words', text: segments.shift() ?? '' }),
    close: () => undefined,
  }),
});

/** A short loud sound without words. */
const cough = Int16Array.from({ length: 2_000 }, (_, at) => 9_000 * Math.sin(at / 6) * Math.sin(at / 31));

/** 50 s of a hum that never pauses, which the detector takes for a voice. */
const music = Int16Array.from({ length: 400_000 }, (_, at) => {
  const seconds = at / 8_000;
  const beat = 0.6 + 0.4 * Math.abs(Math.sin(Math.PI * 3 * seconds));
  const phase = 2 * Math.PI * (130 * seconds - 4.5 * Math.cos(4.4 * seconds));
  const overtones = Array.from({ length: 19 }, (_, k) => Math.sin((k + 1) * phase) / (k + 1));
  return 2_100 * beat * overtones.reduce((sum, overtone) => sum + overtone, 0);
});

interface HeldTalk {
  readonly end: ConversationEnd;
  readonly turns: readonly Turn[];
  readonly line: SoundLine;
  /** How many turns were reported when the wish not to be called again was told. */
  readonly optOutAfter: number | null;
  readonly answers: readonly AnsweredBy[];
}

async function hold(person: Person, over: Partial<Brief> = {}, law: 'mu' | 'a' = 'mu'): Promise<HeldTalk> {
  const endpoint = { clock: systemClock, url: server.url, apiKey: 'sk-test', model: 'm' };
  const agent = createCascadeAgent({
    chat: { kind: 'ready', provider: createOpenAiChat(endpoint) },
    transcriber: {
      kind: 'ready',
      provider: ears === null ? createOpenAiTranscriber(endpoint) : hearing(ears),
    },
    voice: { kind: 'ready', provider: createOpenAiVoice({ ...endpoint, voice: 'alloy' }) },
  });
  const line = new SoundLine(law);
  const turns: Turn[] = [];
  const answers: AnsweredBy[] = [];
  let optOutAfter: number | null = null;
  const brief = {
    ...briefFor({ resultSchema: deliverySchema }),
    settings: { kind: 'cascade' } as const,
    ...over,
  };
  const stop = new AbortController();
  cutOff = () => {
    void line.leg.hangUp();
    stop.abort();
    return [...turns];
  };
  const played = person(line);
  const end = await agent.converse(
    brief,
    line.leg,
    {
      turn: (turn) => turns.push(turn),
      optedOut: () => (optOutAfter ??= turns.length),
      answeredBy: (who) => answers.push(who),
    },
    stop.signal,
  );
  await line.leg.hangUp();
  await played;
  return { end, turns, answers, line, optOutAfter };
}

const written = (turns: readonly Turn[]) =>
  turns.map(({ speaker, text, interrupted }) => `${speaker}${interrupted ? '!' : ''}: ${text}`);

/** Says hello, and these things one after the other, each when our side has finished. */
const answering =
  (...answers: readonly string[]): Person =>
  async (line) => {
    await line.time.sleep(400);
    await line.say(spoken(hello));
    for (const answer of answers) {
      if (!(await line.listen())) return;
      await line.say(spoken(answer));
    }
  };

describe.skipIf(espeakMissing)('the cascade agent on a line that carries sound', () => {
  it.each(['mu', 'a'] as const)('holds a conversation of several turns, in %s-law', async (law) => {
    const { end, turns } = await hold(answering(yes, evening, day, nothing), {}, law);
    expect(end).toEqual({ kind: 'finished' });
    expect(written(turns)).toEqual([
      `user: ${hello}`,
      'bot: Hello, this is an automated assistant calling for Parcel Post. Will somebody be at home to accept the delivery?',
      `user: ${yes}`,
      'bot: Very well, Which part of the day suits you best?',
      `user: ${evening}`,
      'bot: Very well, On which day should we deliver?',
      `user: ${day}`,
      'bot: Very well, Is there anything that the driver should know?',
      `user: ${nothing}`,
      'bot: Thank you very much. Goodbye.',
    ]);
    const drawn = await drawResult(
      { resultSchema: deliverySchema, turns },
      createScriptedExtractor(),
      new AbortController().signal,
    );
    expect(drawn).toMatchObject({
      kind: 'result',
      result: { somebody_home: true, part_of_day: 'evening', delivery_day: '2026-11-24' },
    });
    const offsets = turns.map(({ offsetMs }) => offsetMs);
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
  });

  it('never makes much more sound than is played', async () => {
    script = () => ({ text: Array.from({ length: 12 }, (_, at) => `${longStory} Part ${at}.`).join(' ') });
    const { line } = await hold(async (line) => {
      await line.say(spoken(hello));
      await line.until(() => line.playedMs > 6_000);
      line.hangUp();
    });
    // 3 s, and the piece that went beyond it: half a sentence here.
    expect(line.mostQueuedMs).toBeLessThan(6_500);
    expect(server.spoken.length).toBeLessThan(8);
  });

  it('A4: asks nothing when time is up, whatever the model wants', async () => {
    script = (heard) => ({ text: heard === yes ? 'Thank you. Anything else? Goodbye.' : 'Are you at home?' });
    const { turns, end } = await hold(answering(yes), { wrapUpAtMs: 3_000 });
    expect(turns.at(-1)?.text).toBe('Thank you. Goodbye.');
    expect(end).toEqual({ kind: 'finished' });
  });

  it('stops at once when the callee speaks, and its turn ends where it was heard', async () => {
    script = (heard) => (heard === wait ? { text: 'Of course.', tools: [endCall] } : { text: longStory });
    let startedAtMs = 0;
    const { turns, line, end } = await hold(async (line) => {
      await line.say(spoken(hello));
      await line.until(() => line.playedMs > 7_000);
      startedAtMs = line.time.now;
      await line.say(spoken(wait));
    });
    expect(end).toEqual({ kind: 'finished' });
    expect((line.clearedAtMs[0] ?? 0) - startedAtMs).toBeLessThanOrEqual(400);
    const [, cut, interruption, answer] = turns;
    expect(cut).toMatchObject({ speaker: 'bot', interrupted: true });
    // 60 ms a character: about 7.3 s were played.
    expect(cut?.text.length).toBeGreaterThan(100);
    expect(cut?.text.length).toBeLessThan(135);
    expect(`${disclosure} ${longStory}`).toContain(cut?.text);
    expect(interruption).toMatchObject({ speaker: 'user', text: wait });
    expect(answer).toMatchObject({ speaker: 'bot', text: 'Of course.', interrupted: false });
  });

  it('goes on from the sentence that a cough cut', async () => {
    script = () => ({ text: longStory, tools: [endCall] });
    const { turns, line, end } = await hold(async (line) => {
      await line.say(spoken(hello));
      await line.until(() => line.playedMs > 7_000);
      await line.say(cough);
    });
    expect(end).toEqual({ kind: 'finished' });
    expect(line.clearedAtMs.length).toBe(1);
    expect(written(turns)).toEqual([`user: ${hello}`, `bot: ${disclosure} ${longStory}`]);
    // The sentence that was cut was played again from its beginning.
    const onceMs = 60 * `${disclosure}${longStory}`.length;
    expect(line.playedMs).toBeGreaterThan(onceMs + 200);
    expect(server.requests.chat).toBe(1);
  });

  it('waits for who pauses in the middle of a sentence', async () => {
    script = (heard) =>
      heard === hello ? { text: 'When are you at home?' } : { text: 'Goodbye.', tools: [endCall] };
    const { turns } = await hold(async (line) => {
      await line.say(spoken(hello));
      await line.listen();
      await line.say(spoken(unfinished));
      await line.time.sleep(1_000);
      await line.say(spoken(rest));
    });
    expect(turns[2]).toMatchObject({ speaker: 'user', text: `${unfinished} ${rest}` });
  });

  it('takes keys as an answer', async () => {
    script = (heard) =>
      heard === '[42#]' ? { text: 'Goodbye.', tools: [endCall] } : { text: 'Which number?' };
    const { turns } = await hold(async (line) => {
      await line.say(spoken(hello));
      await line.listen();
      await line.press('42#');
    });
    expect(turns.at(-2)).toMatchObject({ speaker: 'user', text: '[42#]' });
  });

  it('keeps a wish not to be called on record, whatever the model does', async () => {
    const { end, turns, optOutAfter } = await hold(answering(enough));
    expect(end).toEqual({ kind: 'opted_out' });
    expect(turns[2]).toMatchObject({ speaker: 'user', notes: [{ kind: 'opted_out' }] });
    expect(optOutAfter).toBe(2);
    expect(turns[3]?.text).toContain('We will not call you again.');
    const asked = await hold(async (line) => {
      script = (heard) =>
        heard === hello
          ? { text: 'How are you?' }
          : { text: 'I see.', tools: [{ name: 'opt_out', arguments: {} }] };
      await answering(nothing)(line);
    });
    expect(asked.end).toEqual({ kind: 'opted_out' });
    expect(asked.turns[2]).toMatchObject({ text: nothing, notes: [{ kind: 'opted_out' }] });
  });

  it('keeps a wish not to be called that the model understood before it broke off', async () => {
    const { end, turns, optOutAfter } = await hold(async (line) => {
      script = (heard) =>
        heard === hello
          ? { text: 'How are you?' }
          : { text: 'I see.', tools: [{ name: 'opt_out', arguments: {} }, endCall] };
      await line.say(spoken(hello));
      await line.listen();
      server.faults.chat.push('drop_tools');
      await line.say(spoken(nothing));
    });
    expect(end).toEqual({ kind: 'opted_out' });
    expect(optOutAfter).toBe(2);
    expect(turns[2]).toMatchObject({ text: nothing, notes: [{ kind: 'opted_out' }] });
    expect(turns.at(-1)?.text).toContain('We will not call you again.');
  });

  it('keeps every fact of one turn, each in its last wording', async () => {
    const noted = (field: string, value: unknown) => ({
      name: 'note',
      arguments: { field, value, quote: evening },
    });
    script = (heard) =>
      heard === hello
        ? { text: 'When?' }
        : {
            text: 'Goodbye.',
            tools: [
              noted('somebody_home', false),
              noted('part_of_day', 'evening'),
              noted('somebody_home', true),
              endCall,
            ],
          };
    const { turns } = await hold(answering(evening));
    expect(turns[2]?.notes).toMatchObject([
      { field: 'part_of_day', value: 'evening' },
      { field: 'somebody_home', value: true },
    ]);
  });

  it('says what the callee waited for: the end of the turn, the model, the voice, the line', async () => {
    script = (heard) =>
      heard === hello ? { text: 'Are you there?' } : { text: 'Goodbye.', tools: [endCall] };
    const { turns } = await hold(async (line) => {
      await line.say(spoken(hello));
      await line.listen();
      server.faults.chat.push('late');
      await line.say(spoken(yes));
    });
    const [, opening, , answer] = turns.map(({ latency }) => latency);
    // Our first sentence is ours: no model is waited for.
    expect(opening).toMatchObject({ model_ms: null });
    expect(answer?.endpointing_ms).toBeGreaterThanOrEqual(500);
    expect(answer?.endpointing_ms).toBeLessThan(1_500);
    // 600 ms of the wall clock, on a line that is ten times as fast.
    expect(answer?.model_ms).toBeGreaterThanOrEqual(5_500);
    expect(answer?.speech_ms).toBeGreaterThanOrEqual(0);
    expect(answer?.transport_ms).toBeLessThanOrEqual(500);
    expect(turns.filter(({ latency }) => latency !== null).length).toBe(2);
  });

  it('leaves a message after the beep of an answering machine', async () => {
    const machine: Person = async (line) => {
      await line.time.sleep(600);
      await line.say(spoken(mailbox));
      await line.time.sleep(2_500);
      line.beep();
      await line.listen();
    };
    const { end, turns, answers } = await hold(machine, { machine: 'leave_message' });
    expect(answers).toEqual(['voicemail']);
    expect(end).toEqual({ kind: 'machine', did: 'leave_message' });
    expect(turns[0]).toMatchObject({ speaker: 'unknown', text: mailbox });
    expect(turns[1]?.text).toContain('We did not reach you in person. Goodbye.');
    const hungUp = await hold(machine);
    expect(hungUp.end).toEqual({ kind: 'machine', did: 'hang_up' });
    expect(written(hungUp.turns)).toEqual([`unknown: ${mailbox}`]);
    expect(server.requests.chat).toBe(0);
  });

  it('asks whether anybody is there, and says goodbye when nobody is', async () => {
    script = () => ({ text: 'Will you be at home?' });
    const { end, turns } = await hold(async () => undefined);
    expect(end).toEqual({ kind: 'finished' });
    expect(written(turns).slice(1)).toEqual([
      'bot: Are you still there?',
      'bot: Are you still there?',
      'bot: I could not hear you. We may try again another time. Goodbye.',
    ]);
  });

  it('does not wait for the end of a noise, and says goodbye above it when time is up', async () => {
    script = () => ({ text: 'Will you be at home?' });
    const person: Person = async (line) => {
      await answering()(line);
      await line.listen();
      await line.say(music);
    };
    const { end, turns } = await hold(person, { wrapUpAtMs: 24_000 });
    expect(end).toEqual({ kind: 'finished' });
    expect(written(turns).slice(2)).toEqual([
      'bot: Are you still there?',
      'bot: I am sorry, I have to end the call now. Thank you for your time. Goodbye.',
    ]);
    // The greeting, two stretches of the noise, and one that began when we had asked.
    expect(server.requests.transcribe).toBeGreaterThanOrEqual(4);
  });

  it('ends with the callee, and lets go of what it asked for', async () => {
    script = () => ({ text: longStory });
    const { end, turns } = await hold(async (line) => {
      await line.say(spoken(hello));
      await line.until(() => line.playedMs > 1_000);
      line.hangUp();
    });
    expect(end).toEqual({ kind: 'callee_left' });
    expect(turns.at(-1)).toMatchObject({ speaker: 'bot', interrupted: true });
    expect(turns.at(-1)?.text.length).toBeLessThan(25);
  });

  it('has told, when the call limit stops it, what was heard of our sentence and what the callee had said', async () => {
    script = () => ({ text: longStory });
    let told: readonly Turn[] = [];
    const ours = await hold(async (line) => {
      await line.say(spoken(hello));
      await line.until(() => line.playedMs > 7_000);
      told = cutOff();
    });
    expect(told[1]).toMatchObject({ speaker: 'bot', interrupted: true, latency: null });
    expect(told[1]?.text.length).toBeGreaterThan(100);
    expect(told[1]?.text.length).toBeLessThan(135);
    expect(ours).toMatchObject({ end: { kind: 'failed' }, turns: told });
    const theirs = await hold(async (line) => {
      await line.say(spoken(hello));
      await line.until(() => line.playedMs > 7_000);
      server.faults.chat.push('hang');
      await line.say(spoken(yes));
      await line.until(() => server.faults.chat.length === 0);
      told = cutOff();
    });
    expect(told.at(-1)).toMatchObject({ speaker: 'user', text: yes });
    expect(theirs.turns).toEqual(told);
  });

  it('keeps what the callee said last, whoever ends the call in that moment', async () => {
    script = () => ({ text: 'How are you?' });
    const told: (readonly Turn[])[] = [];
    for (const end of ['limit', 'callee']) {
      ears = [hello, enough];
      const { turns } = await hold(async (line) => {
        await line.say(spoken(hello));
        await line.listen();
        await line.say(spoken(enough));
        await line.until(() => ears?.length === 0);
        await line.time.sleep(40);
        if (end === 'limit') told.push(cutOff());
        else line.hangUp();
      });
      expect(turns[2]).toMatchObject({ speaker: 'user', text: enough, notes: [{ kind: 'opted_out' }] });
    }
    expect(told[0]?.[2]).toMatchObject({ text: enough });
  });

  it('tries once more what failed before anything was heard of it', async () => {
    server.faults.chat.push(500);
    server.faults.transcribe.push(429);
    server.faults.speak.push('malformed');
    script = () => ({ text: 'Goodbye.', tools: [endCall] });
    const { end, turns } = await hold(answering());
    expect(end).toEqual({ kind: 'finished' });
    expect(written(turns)).toEqual([`user: ${hello}`, `bot: ${disclosure} Goodbye.`]);
  });

  it.each([
    ['chat', 'the chat model answered 500'],
    ['transcribe', 'the transcriber answered 500'],
  ] as const)('says goodbye when its %s provider is gone', async (part, note) => {
    script = () => ({ text: 'Will you be at home?' });
    server.faults[part].push(500, 500);
    const { end, turns } = await hold(answering());
    expect(end).toEqual({ kind: 'failed', note });
    expect(turns.at(-1)?.text).toMatch(/I am sorry, I have to end the call now\..* Goodbye\.$/);
  });

  it('ends as failed when it has no voice', async () => {
    server.faults.speak.push(500, 500);
    const { end } = await hold(answering());
    expect(end).toEqual({ kind: 'failed', note: 'the voice answered 500' });
  });

  it('says what it has and then goodbye when the model breaks off', async () => {
    script = () => ({ text: longStory });
    server.faults.chat.push('drop');
    const { end, turns } = await hold(answering());
    expect(end.kind).toBe('failed');
    expect(turns[1]?.text).toContain('This is the first sentence of it.');
    expect(turns.at(-1)?.text).toContain('I have to end the call now.');
    expect(server.requests.chat).toBe(1);
  });

  it('asks for a moment when the model is late and the Goal wants that', async () => {
    script = (heard) =>
      heard === hello ? { text: 'Are you at home?' } : { text: 'Goodbye.', tools: [endCall] };
    const { turns } = await hold(
      async (line) => {
        await line.say(spoken(hello));
        await line.listen();
        server.faults.chat.push('late');
        await line.say(spoken(yes));
      },
      { settings: { kind: 'cascade', filler: true } },
    );
    expect(turns.at(-1)?.text).toBe('One moment, please. Goodbye.');
  });
});

const disclosure = 'Hello, this is an automated assistant calling for Parcel Post.';
const longStory =
  'I have a long story to tell. This is the first sentence of it. This is the second sentence of it, and it is longer. ' +
  'This is the end of the story.';
const endCall = { name: 'end_call', arguments: { reason: 'done' } };
