/** The rules of the conversation as a pure state machine: R1 to R5 hold whatever comes in whatever order. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasOptedOut } from '../../../../src/agents/notes.ts';
import type { ConversationEnd, Turn } from '../../../../src/agents/agent.ts';
import type { ClientEvent } from '../../../../src/agents/realtime/client-events.ts';
import { nextSession, type SessionEvent } from '../../../../src/agents/realtime/next-session.ts';
import { promptFor } from '../../../../src/agents/prompt.ts';
import { answerFromMs } from '../../../../src/agents/realtime/moves.ts';
import type { Transferred } from '../../../../src/carriers/carrier.ts';
import { localeFor } from '../../../../src/agents/scripted/locales/locale.ts';
import { beginSession, type Plan, type Session } from '../../../../src/agents/realtime/session.ts';
import { nextDueMs } from '../../../../src/agents/realtime/timers.ts';
import { briefFor, deliverySchema } from '../../../conformance/hold-call.ts';

const english = localeFor('en');
const prompt = promptFor(briefFor({ resultSchema: deliverySchema }));
const plan: Plan = {
  direction: 'outbound',
  callerName: 'Parcel Post',
  media: 'audio',
  prompt,
  resultSchema: deliverySchema,
  targets: [{ name: 'Front desk', when: null }],
  machine: 'leave_message',
  menu: 'navigate',
  grammar: english?.grammar ?? null,
  answersByItself: false,
  namesItems: true,
};
const second = new Uint8Array(8_000);

/** A session and all that it did, driven by hand. */
class Driven {
  session: Session;
  readonly sent: ClientEvent[] = [];
  readonly turns: Turn[] = [];
  readonly ends: ConversationEnd[] = [];
  readonly kinds: string[] = [];
  readonly answers: string[] = [];
  atMs = 0;
  readonly #plan: Plan;

  constructor(over: Partial<Plan> = {}, wrapUpAtMs = 90_000) {
    this.#plan = { ...plan, ...over };
    this.session = beginSession(wrapUpAtMs, 0);
  }

  take(event: SessionEvent, afterMs = 0): this {
    this.atMs += afterMs;
    const { session, effects } = nextSession(this.#plan, this.session, event, this.atMs);
    this.session = session;
    for (const effect of effects) {
      this.kinds.push(effect.kind);
      if (effect.kind === 'send') this.sent.push(effect.event);
      if (effect.kind === 'turn') this.turns.push(effect.turn);
      if (effect.kind === 'answered_by') this.answers.push(effect.who);
      if (effect.kind === 'end') this.ends.push(effect.end);
    }
    return this;
  }

  server(event: Extract<SessionEvent, { kind: 'server' }>['event'], playedMs = 0): this {
    return this.take({ kind: 'server', event, playedMs, lastSoundAtMs: this.atMs });
  }

  /** The server runs the response that was asked for, with a second of sound for each word. */
  respond(responseId: string, text: string, playedMs = 0): this {
    const ids = { responseId, itemId: `${responseId}_item` };
    this.server({ kind: 'response_created', responseId });
    for (const _ of text.split(' ')) this.server({ kind: 'audio', ...ids, audio: second }, playedMs);
    this.server({ kind: 'all_words', ...ids, text });
    return this.done(responseId);
  }

  done(responseId: string, status: 'completed' | 'cancelled' = 'completed'): this {
    return this.server({ kind: 'response_done', responseId, status, errorCode: null, calls: [] });
  }

  waitUntilDue(): this {
    const dueAtMs = nextDueMs(this.#plan, this.session);
    return this.take({ kind: 'time' }, Math.max(0, (dueAtMs ?? this.atMs) - this.atMs));
  }

  asked(): readonly Extract<ClientEvent, { type: 'response.create' }>[] {
    return this.sent.filter((event) => event.type === 'response.create');
  }
}

const answered = () => new Driven().take({ kind: 'connected' }, 200).waitUntilDue();
const calleeSpeaks = (driven: Driven, itemId: string) =>
  driven
    .take({ kind: 'speech_started', itemId, startedAtMs: driven.atMs })
    .server({ kind: 'speech_stopped', itemId })
    .server({ kind: 'committed', itemId });

describe('the first words (A1, R2)', () => {
  it('wait 2 s for the callee, and are then told what to begin with', () => {
    const driven = answered();
    expect(driven.atMs).toBe(2_000);
    expect(driven.asked()[0]?.response?.instructions).toContain('automated assistant');
  });

  it('are told again until the callee heard for whom we call', () => {
    const driven = answered().respond('r1', 'Hello this is an automated assistant calling for Parcel Post.');
    calleeSpeaks(driven.take({ kind: 'time' }, 1_000), 'c1').take({ kind: 'cleared', playedMs: 1_000 });
    expect(driven.asked()[1]?.response?.instructions).toContain('interrupted before');
    driven.respond('r2', 'I am calling for Parcel Post about a thing');
    calleeSpeaks(driven, 'c2').take({ kind: 'cleared', playedMs: 1_000 + 7_500 });
    expect(driven.asked()[2]).not.toHaveProperty('response');
  });
});

describe('a server that answers by itself', () => {
  it('is not asked for answers, and is told who calls when the callee did not hear it', () => {
    const driven = new Driven({ answersByItself: true }).take({ kind: 'connected' });
    calleeSpeaks(driven, 'c1').respond('r1', 'Hello this is an automated assistant calling for Parcel Post.');
    expect(driven.asked()).toEqual([]);
    driven.take({ kind: 'speech_started', itemId: 'c2', startedAtMs: null });
    driven.take({ kind: 'cleared', playedMs: 1_000 });
    expect(JSON.stringify(driven.sent.at(-1))).toContain('interrupted before');
  });

  it('is told that time is up, and the call ends when its next answer was heard', () => {
    const driven = new Driven({ answersByItself: true }, 20_000).take({ kind: 'connected' });
    calleeSpeaks(driven, 'c1').respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    driven.take({ kind: 'time' }, 21_000);
    expect(JSON.stringify(driven.sent)).toContain('time of this call is up');
  });
});

describe('a machine that talks to us', () => {
  it('and says the same over and over again is said goodbye to', () => {
    const driven = answered();
    for (let time = 0; time < 4; time += 1) {
      driven.respond(`r${time}`, 'Hello from Parcel Post').take({ kind: 'played_out', mark: time + 1 });
      calleeSpeaks(driven, `c${time}`);
      const text = 'Please say which department you want.';
      driven.server({ kind: 'transcribed', itemId: `c${time}`, text });
    }
    driven.respond('last', 'Hm').take({ kind: 'played_out', mark: 5 });
    calleeSpeaks(driven, 'c5');
    expect(driven.asked().at(-1)?.response?.instructions).toContain(prompt.outOfTime);
  });
});

describe('who answered', () => {
  const mailbox = 'You have reached Ada. Please leave a message after the tone.';
  const transcribed = (text: string) => ({ kind: 'transcribed', itemId: 'c1', text }) as const;
  const hungUp = { kind: 'machine', did: 'hang_up' } as const;
  const up = (over: Partial<Plan> = {}) => new Driven(over).take({ kind: 'connected' });

  it('is told when the words are there, and again when the model knows better', () => {
    const driven = calleeSpeaks(up(), 'c1').server(transcribed('Hi, Ada here.'));
    expect(driven.answers).toEqual(['human']);
    const call = { callId: '1', name: 'report_machine', arguments: '{"kind":"voicemail"}' };
    driven.server({ kind: 'response_created', responseId: 'r1' });
    driven.server({
      kind: 'response_done',
      responseId: 'r1',
      status: 'completed',
      errorCode: null,
      calls: [call],
    });
    expect(driven.answers).toEqual(['human', 'voicemail']);
    expect(driven.session.machine).toBe('awaiting_beep');
  });

  it('is a machine by its words although the model has begun to talk to it: it is stopped', () => {
    const talking = (over: Partial<Plan>) =>
      calleeSpeaks(up(over), 'c1')
        .server({ kind: 'response_created', responseId: 'r1' })
        .server({ kind: 'audio', responseId: 'r1', itemId: 'm1', audio: second })
        .server(transcribed(mailbox));
    const left = talking({ machine: 'hang_up' }).take({ kind: 'cleared', playedMs: 200 });
    expect(left.answers).toEqual(['voicemail']);
    expect(left.ends).toEqual([hungUp]);
    const waiting = talking({});
    expect(waiting.session).toMatchObject({ machine: 'awaiting_beep', mutedId: 'r1', end: null });
    expect(waiting.kinds).toContain('clear');
  });

  it('is waited for as long as its greeting goes on, and 15 s for the beep behind it', () => {
    const greeted = () =>
      calleeSpeaks(up(), 'c1')
        .server(transcribed(mailbox))
        .server({ kind: 'response_created', responseId: 'x' })
        .done('x', 'cancelled');
    const machine = ({ session }: Driven) => session.machine;
    const driven = greeted().take({ kind: 'speech_started', itemId: 'c2', startedAtMs: null }, 1_000);
    expect(machine(driven.take({ kind: 'time' }, 25_000))).toBe('awaiting_beep');
    driven.server({ kind: 'speech_stopped', itemId: 'c2' }).take({ kind: 'time' }, 14_999);
    expect(machine(driven)).toBe('awaiting_beep');
    expect(machine(driven.take({ kind: 'time' }, 1))).toBe('leaving_message');
    const endless = greeted().take({ kind: 'speech_started', itemId: 'c2', startedAtMs: null }, 1_000);
    expect(machine(endless.take({ kind: 'time' }, 58_999))).toBe('awaiting_beep');
    expect(machine(endless.take({ kind: 'time' }, 1))).toBe('leaving_message');
  });

  it('is left the whole message anew when it beeps after all, once', () => {
    const driven = calleeSpeaks(up(), 'c1').server(transcribed(mailbox));
    driven.server({ kind: 'response_created', responseId: 'x' }).done('x', 'cancelled');
    const said = () =>
      driven.asked().filter(({ response }) => response?.instructions.includes(prompt.message));
    driven.waitUntilDue().respond('m1', 'This is Parcel Post please call back').take({ kind: 'beep' }, 1_000);
    driven.take({ kind: 'cleared', playedMs: 1_000 });
    expect(said()).toHaveLength(2);
    driven.respond('m2', 'This is Parcel Post please call back', 1_000).take({ kind: 'beep' });
    driven.take({ kind: 'played_out', mark: 2 });
    expect(said()).toHaveLength(2);
    expect(driven.ends).toEqual([{ kind: 'machine', did: 'leave_message' }]);
  });

  it('is an announcement by the tones before it, to which nothing is said', () => {
    const driven = up().take({ kind: 'information_tone' });
    expect(driven.answers).toEqual(['announcement']);
    expect(driven.ends).toEqual([hungUp]);
    expect(driven.asked()).toEqual([]);
  });

  it('stays a person whose line is recorded with a tone, as long as the model does not know better', () => {
    const talking = calleeSpeaks(up({ machine: 'hang_up' }), 'c0').server({
      kind: 'transcribed',
      itemId: 'c0',
      text: 'Harbor Clinic, good morning.',
    });
    talking.respond('r1', 'Hello, an automated assistant calling for Parcel Post.');
    talking.take({ kind: 'played_out', mark: 1 });
    calleeSpeaks(talking, 'c1').server(transcribed('He is with a patient, what is it about?'));
    talking.take({ kind: 'beep' });
    expect(talking.session).toMatchObject({ end: null, machine: 'none', answer: { now: 'human' } });
    expect(talking.answers).toEqual(['human']);
  });

  it('is a menu, which is the model’s to navigate, or is left when the Goal says so', () => {
    const menu = transcribed('For sales, press 1. For a representative, press 2.');
    const navigating = calleeSpeaks(up(), 'c1').server(menu);
    expect(navigating.answers).toEqual(['menu']);
    expect(navigating.session.end).toBeNull();
    expect(calleeSpeaks(up({ menu: 'hang_up' }), 'c1').server(menu).session.end).toEqual(hungUp);
  });

  it('is nobody’s question when we were called', () => {
    const driven = calleeSpeaks(up({ direction: 'inbound' }), 'c1').server(transcribed(mailbox));
    driven.take({ kind: 'beep' }).take({ kind: 'information_tone' });
    expect(driven.answers).toEqual([]);
    expect(driven.session).toMatchObject({ machine: 'none', end: null });
  });

  it('is uncertain when nobody says anything, and we begin 2 s after the answer', () => {
    const driven = up();
    driven.take({ kind: 'time' }, 1_999);
    expect(driven.asked()).toEqual([]);
    driven.take({ kind: 'time' }, 1);
    expect(driven.asked()).toHaveLength(1);
    expect(driven.answers).toEqual(['uncertain']);
  });

  it('is not decided over words that go on: we wait for their end', () => {
    const driven = up().take({ kind: 'speech_started', itemId: 'c1', startedAtMs: 1_000 }, 1_500);
    driven.take({ kind: 'time' }, 6_000);
    expect(driven.asked()).toEqual([]);
  });
});

describe('the wish not to be called again', () => {
  const call = { callId: '1', name: 'opt_out', arguments: '{}' };
  const done = (status: 'completed' | 'cancelled') =>
    ({ kind: 'response_done', responseId: 'r2', status, errorCode: null, calls: [call] }) as const;
  const asked = () => {
    const driven = answered().respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    return calleeSpeaks(driven, 'c1').server({ kind: 'response_created', responseId: 'r2' });
  };
  const wishes = ({ turns }: Driven) => turns.filter(hasOptedOut);

  it('is told as soon as the model says so, while its words and the answer are still open', () => {
    const driven = asked();
    expect(driven.kinds).not.toContain('opted_out');
    driven.server({ kind: 'tool_called', responseId: 'r2', call });
    expect(driven.kinds.at(-1)).toBe('opted_out');
    expect(wishes(driven)).toEqual([]);
    driven.server(done('completed')).server({ kind: 'transcribed', itemId: 'c1', text: 'Stop it.' });
    driven.respond('r3', 'You will not be called again', 4_000);
    expect(driven.kinds.filter((kind) => kind === 'opted_out')).toEqual(['opted_out']);
    expect(wishes(driven)).toMatchObject([{ text: 'Stop it.', notes: [{ kind: 'opted_out' }] }]);
  });

  it('is what is answered, though the response that noticed it fails or its connection breaks', () => {
    const failed = {
      kind: 'response_done',
      responseId: 'r2',
      status: 'failed',
      errorCode: 'server_error',
    } as const;
    const driven = asked().server({ kind: 'tool_called', responseId: 'r2', call });
    driven.server({ ...failed, calls: [] }).waitUntilDue();
    expect(driven.asked().at(-1)?.response?.instructions).toContain(prompt.optedOut);
    const lost = asked().server({ kind: 'tool_called', responseId: 'r2', call });
    lost.take({ kind: 'lost', note: 'gone' }).take({ kind: 'connected' });
    expect(lost.asked().at(-1)?.response?.instructions).toContain(prompt.optedOut);
  });

  it('is kept though its words were not written down', () => {
    const driven = asked().server(done('completed'));
    driven.server({ kind: 'transcribed', itemId: 'c1', text: null });
    expect(wishes(driven)).toMatchObject([{ speaker: 'user', text: '(asked not to be called again)' }]);
  });

  it('is kept though the turn was reported before', () => {
    const driven = asked().take({ kind: 'time' }, 9_000).server(done('completed'));
    expect(wishes(driven).length).toBe(1);
  });

  it('is kept, and confirmed, though the callee spoke over our answer', () => {
    const driven = asked().take({ kind: 'speech_started', itemId: 'c2', startedAtMs: null });
    driven.server(done('cancelled'));
    for (const itemId of ['c1', 'c2']) driven.server({ kind: 'transcribed', itemId, text: 'Stop it.' });
    driven.server({ kind: 'speech_stopped', itemId: 'c2' }).server({ kind: 'committed', itemId: 'c2' });
    expect(driven.asked().at(-1)?.response?.instructions).toContain(prompt.optedOut);
    driven.respond('r3', 'You will not be called again', 4_000).take({ kind: 'played_out', mark: 2 });
    expect(driven.ends).toEqual([{ kind: 'opted_out' }]);
    expect(wishes(driven).length).toBe(1);
  });
});

describe('what is noted of one turn', () => {
  it('is kept whole: several fields, each in its last wording, beside a wish', () => {
    const note = (callId: string, field: string, value: unknown) => ({
      callId,
      name: 'note',
      arguments: JSON.stringify({ field, value, quote: 'Yes.' }),
    });
    const driven = answered().respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    calleeSpeaks(driven, 'c1').server({ kind: 'response_created', responseId: 'r2' });
    driven.server({ kind: 'transcribed', itemId: 'c1', text: 'Yes.' });
    const calls = [
      note('1', 'somebody_home', false),
      note('2', 'part_of_day', 'evening'),
      note('3', 'somebody_home', true),
      { callId: '4', name: 'opt_out', arguments: '' },
    ];
    driven.server({ kind: 'response_done', responseId: 'r2', status: 'completed', errorCode: null, calls });
    expect(driven.turns.at(-1)?.notes).toMatchObject([
      { field: 'part_of_day', value: 'evening' },
      { field: 'somebody_home', value: true },
      { kind: 'opted_out' },
    ]);
  });
});

describe('what is noted with a quote that is not in the turn', () => {
  const note = { field: 'somebody_home', value: true, quote: 'yes, we’ll be in' };
  const noting = { callId: '1', name: 'note', arguments: JSON.stringify(note) };
  const noted = (driven: Driven, responseId = 'r2') =>
    driven
      .server({ kind: 'response_created', responseId })
      .server({ kind: 'response_done', responseId, status: 'completed', errorCode: null, calls: [noting] });
  const heard = (text: string | null) =>
    calleeSpeaks(
      answered().respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 }),
      'c1',
    ).server({ kind: 'transcribed', itemId: 'c1', text });

  it('keeps that quote: what supports it is found elsewhere, or not at all', () => {
    expect(noted(heard('Tomorrow.')).turns.at(-1)).toMatchObject({ text: 'Tomorrow.', notes: [note] });
  });

  it('goes with the next turn when its own was reported before', () => {
    const driven = heard('Yes, we’ll be in.').respond('r2', 'And when', 4_000);
    driven.take({ kind: 'played_out', mark: 2 }).waitUntilDue();
    noted(driven, 'r3').respond('r4', 'Are you there', 6_000).take({ kind: 'played_out', mark: 3 });
    expect(driven.turns.map(({ text, notes }) => [text, notes.length])).toEqual([
      ['Hello from Parcel Post', 0],
      ['Yes, we’ll be in.', 0],
      ['And when', 0],
      ['Are you there', 1],
    ]);
  });

  it('is not lost with words that could not be written down', () => {
    const driven = noted(heard(null)).respond('r3', 'And when', 4_000).take({ kind: 'played_out', mark: 2 });
    expect(driven.turns.flatMap(({ notes }) => notes)).toEqual([{ kind: 'answer', ...note }]);
  });
});

describe('the wait of the callee', () => {
  const asking = () => {
    const driven = answered().respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    driven.take({ kind: 'speech_started', itemId: 'c1', startedAtMs: driven.atMs }, 1_000);
    const event = { kind: 'speech_stopped', itemId: 'c1' } as const;
    driven.take({ kind: 'server', event, playedMs: 4_000, lastSoundAtMs: driven.atMs + 1_500 }, 2_000);
    return driven.server({ kind: 'committed', itemId: 'c1' }, 4_000);
  };
  const sound = (driven: Driven, afterMs: number) => {
    driven.server({ kind: 'response_created', responseId: 'r2' });
    driven.atMs += afterMs;
    return driven.server({ kind: 'audio', responseId: 'r2', itemId: 'i2', audio: second }, 4_000);
  };
  const report = (driven: Driven) => {
    driven.server({ kind: 'all_words', responseId: 'r2', itemId: 'i2', text: 'Well.' }).done('r2');
    driven.take({ kind: 'played_out', mark: 2 });
    driven.server({ kind: 'transcribed', itemId: 'c1', text: null });
    return driven.turns.at(-1)?.latency;
  };

  it('is told with our answer, and with nothing else', () => {
    const driven = sound(asking(), 300).take({ kind: 'answer_heard' }, 40);
    expect(report(driven)).toEqual({
      endpointing_ms: 500,
      model_ms: 300,
      speech_ms: null,
      transport_ms: 40,
      total_ms: 840,
    });
    driven.waitUntilDue().respond('r3', 'Are you there', 5_000).take({ kind: 'answer_heard' });
    driven.take({ kind: 'played_out', mark: 3 });
    expect(driven.turns.map(({ latency }) => latency !== null)).toEqual([false, true, false]);
  });

  it('is looked for where the answer begins in what is played', () => {
    const driven = sound(asking(), 300);
    expect(answerFromMs(driven.session)).toBe(4_000);
    driven.take({ kind: 'answer_heard' });
    expect(answerFromMs(driven.session)).toBeNull();
  });

  it('is over when the callee speaks again before anything was heard', () => {
    const driven = sound(asking(), 300).take({ kind: 'speech_started', itemId: 'c2', startedAtMs: null });
    expect(answerFromMs(driven.session)).toBeNull();
    driven.take({ kind: 'answer_heard' }).take({ kind: 'cleared', playedMs: 4_000 });
    expect(driven.session.order.every(({ latency }) => latency === null)).toBe(true);
  });
});

describe('somebody else for the callee (R6)', () => {
  const call = { callId: '1', name: 'transfer_to_human', arguments: '{"to":"Front desk"}' };
  const ended = (outcome: Transferred) => ({ kind: 'transfer_ended', outcome }) as const;
  /** The model says a word and asks for it. */
  const wanted = (text = 'One moment') => {
    const driven = answered().respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    calleeSpeaks(driven, 'c1').server({ kind: 'response_created', responseId: 'r2' });
    driven.server({ kind: 'transcribed', itemId: 'c1', text: 'A person, please.' });
    const ids = { responseId: 'r2', itemId: 'r2_item' };
    if (text !== '') {
      driven.server({ kind: 'audio', ...ids, audio: second }, 4_000);
      driven.server({ kind: 'all_words', ...ids, text });
    }
    const done = { kind: 'response_done', responseId: 'r2', status: 'completed', errorCode: null } as const;
    return driven.server({ ...done, calls: [call] });
  };
  const heard = () => wanted().take({ kind: 'played_out', mark: 2 });

  it('is called when our words were heard to their end, and not before', () => {
    expect(wanted().kinds).not.toContain('transfer');
    expect(heard().kinds.filter((kind) => kind === 'transfer')).toHaveLength(1);
  });

  it('is not called when the callee speaks over them: the model is told so', () => {
    const driven = wanted().take({ kind: 'speech_started', itemId: 'c2', startedAtMs: null });
    driven.take({ kind: 'cleared', playedMs: 4_300 });
    calleeSpeaks(driven, 'c2').respond('r3', 'Yes', 4_300).take({ kind: 'played_out', mark: 3 });
    expect(driven.kinds).not.toContain('transfer');
    expect(JSON.stringify(driven.sent)).toContain('nobody was called');
  });

  it('without words of the model, one sentence is asked for first', () => {
    const driven = wanted('');
    expect(driven.asked().at(-1)?.response?.instructions).toContain(prompt.connecting);
    driven.respond('r3', 'I connect you now', 4_000);
    expect(driven.kinds).not.toContain('transfer');
    expect(driven.take({ kind: 'played_out', mark: 2 }).kinds).toContain('transfer');
  });

  it('a model that has no words at all keeps nobody waiting', () => {
    const driven = wanted('').server({ kind: 'response_created', responseId: 'r3' }).done('r3');
    expect(driven.kinds).toContain('transfer');
  });

  it('while it rings nobody asks whether the callee is still there, nor says that time is up', () => {
    const driven = heard();
    const askedBefore = driven.asked().length;
    driven.take({ kind: 'time' }, 30_000).take({ kind: 'time' }, 60_000);
    driven.server({ kind: 'response_created', responseId: 'r9' });
    expect(driven.sent.at(-1)).toEqual({ type: 'response.cancel' });
    expect(driven.asked()).toHaveLength(askedBefore);
    expect(driven.ends).toEqual([]);
  });

  it('connected, our part is over, and the last turn says with whom', () => {
    const driven = heard().take(ended({ kind: 'connected' }), 5_000);
    expect(driven.ends).toEqual([{ kind: 'transferred', to: 'Front desk' }]);
    expect(driven.turns.at(-1)).toMatchObject({ speaker: 'bot', text: '[transferred to Front desk]' });
    expect(driven.turns.at(-2)).toMatchObject({ text: 'One moment' });
  });

  it('after a failure the model is told why, and goes on', () => {
    const driven = heard().take(ended({ kind: 'failed', why: 'busy' }), 5_000);
    expect(JSON.stringify(driven.sent)).toContain('the line is busy');
    expect(driven.asked().length).toBe(3);
    driven.respond('r3', 'They are busy', 5_000).take({ kind: 'played_out', mark: 3 });
    expect(driven.kinds.filter((kind) => kind === 'transfer')).toHaveLength(1);
  });

  it('a callee who leaves meanwhile has left', () => {
    const driven = heard().take({ kind: 'left', playedMs: 5_000 });
    driven.take(ended({ kind: 'failed', why: 'left' }));
    expect(driven.ends).toEqual([{ kind: 'callee_left' }]);
  });
});

describe('keys that we press', () => {
  it('have their turn', () => {
    const driven = answered().respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    calleeSpeaks(driven, 'c1').server({ kind: 'response_created', responseId: 'r2' });
    driven.server({ kind: 'transcribed', itemId: 'c1', text: 'For a person press 2.' });
    const call = { callId: '1', name: 'press_keys', arguments: '{"keys":"2"}' };
    const done = { kind: 'response_done', responseId: 'r2', status: 'completed', errorCode: null } as const;
    driven.server({ ...done, calls: [call] }).take({ kind: 'time' }, 10_000);
    expect(driven.turns.at(-1)).toMatchObject({ speaker: 'bot', text: '[2]', notes: [] });
  });
});

describe('one response at a time (R1)', () => {
  it('what is wanted meanwhile waits for the end of the running one', () => {
    const driven = answered().server({ kind: 'response_created', responseId: 'r1' });
    driven.take({ kind: 'key', key: '5' }).waitUntilDue();
    expect(driven.asked().length).toBe(1);
    driven.done('r1', 'cancelled');
    expect(driven.asked().length).toBe(2);
  });

  it('a response that the server began by itself is no fault, and ours is not asked twice', () => {
    const driven = answered();
    const [first] = driven.asked();
    driven.server({
      kind: 'error',
      code: 'conversation_already_has_active_response',
      causedBy: first?.event_id ?? null,
    });
    expect(driven.ends).toEqual([]);
    driven.done('whatever');
    expect(driven.asked().length).toBe(1);
  });

  it('one that comes while the callee speaks is canceled and never played', () => {
    const driven = answered().take({ kind: 'speech_started', itemId: 'c1', startedAtMs: 2_000 });
    driven.server({ kind: 'response_created', responseId: 'r1' });
    driven.server({ kind: 'audio', responseId: 'r1', itemId: 'i1', audio: second });
    expect(driven.sent.at(-1)).toEqual({ type: 'response.cancel' });
    expect(driven.kinds).not.toContain('play');
  });
});

describe('an interruption (R3)', () => {
  const cuts = (driven: Driven) => driven.sent.filter(({ type }) => type === 'conversation.item.truncate');

  it('truncates the audible item where it was played to, whole milliseconds, and later ones at 0', () => {
    const driven = answered().respond('r1', 'one two').take({ kind: 'key', key: '1' });
    // The key dropped nothing that was heard: two seconds were played.
    driven.take({ kind: 'cleared', playedMs: 2_000 }).waitUntilDue();
    expect(cuts(driven)).toEqual([]);
    driven.respond('r2', 'three four', 2_000);
    driven.server({ kind: 'response_created', responseId: 'r3' });
    driven.server({ kind: 'audio', responseId: 'r3', itemId: 'r3_item', audio: second }, 2_000);
    driven.take({ kind: 'speech_started', itemId: 'c1', startedAtMs: null });
    driven.take({ kind: 'cleared', playedMs: 3_234.5 });
    expect(cuts(driven)).toEqual([
      { type: 'conversation.item.truncate', item_id: 'r2_item', content_index: 0, audio_end_ms: 1_234 },
      { type: 'conversation.item.truncate', item_id: 'r3_item', content_index: 0, audio_end_ms: 0 },
    ]);
  });

  it('counts from where our sound began, whatever else was played on the line before', () => {
    const driven = answered().respond('r1', 'one two').take({ kind: 'played_out', mark: 1 });
    // Two seconds of ours, and twenty of a ringing tone.
    calleeSpeaks(driven, 'c1').respond('r2', 'three four five six', 22_000);
    driven.take({ kind: 'speech_started', itemId: 'c2', startedAtMs: null });
    driven.take({ kind: 'cleared', playedMs: 24_000 });
    expect(cuts(driven)).toMatchObject([{ item_id: 'r2_item', audio_end_ms: 2_000 }]);
  });

  it('of sound that was all played truncates nothing', () => {
    const driven = answered().respond('r1', 'one two');
    driven.take({ kind: 'speech_started', itemId: 'c1', startedAtMs: null });
    driven.take({ kind: 'cleared', playedMs: 2_000 });
    expect(cuts(driven)).toEqual([]);
  });

  it('reports the words that were heard', () => {
    const driven = answered().respond('r1', 'one two three four');
    calleeSpeaks(driven, 'c1').take({ kind: 'cleared', playedMs: 2_400 });
    expect(driven.turns[0]).toMatchObject({ text: 'one two', interrupted: true });
  });

  it('of a session that is over truncates nothing in the next one', () => {
    const driven = answered().respond('r1', 'one two three').take({ kind: 'lost', note: 'gone' });
    driven.take({ kind: 'connected' }).take({ kind: 'speech_started', itemId: 'c1', startedAtMs: null });
    driven.take({ kind: 'cleared', playedMs: 1_000 });
    expect(cuts(driven)).toEqual([]);
  });
});

describe('a connection that breaks while the callee speaks', () => {
  const broken = (over: Partial<Plan> = {}) => {
    const driven = new Driven(over).take({ kind: 'connected' }, 200).waitUntilDue();
    driven.respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    driven.take({ kind: 'speech_started', itemId: '', startedAtMs: driven.atMs }, 1_000);
    return driven.take({ kind: 'lost', note: 'gone' }, 800).take({ kind: 'connected' }, 500);
  };

  it('holds up no turn behind it', () => {
    const driven = broken().respond('r2', 'Sorry', 4_000).take({ kind: 'played_out', mark: 2 });
    calleeSpeaks(driven, 'c2').server({ kind: 'transcribed', itemId: 'c2', text: 'Yes.' });
    driven.respond('r3', 'Goodbye', 5_000).take({ kind: 'played_out', mark: 3 });
    expect(driven.turns.map(({ text }) => text)).toEqual([
      'Hello from Parcel Post',
      'Sorry',
      'Yes.',
      'Goodbye',
    ]);
  });

  it('takes no words of a later turn, where a server names no turns', () => {
    const driven = broken({ namesItems: false, answersByItself: true }).respond('r2', 'Sorry', 4_000);
    driven.take({ kind: 'played_out', mark: 2 });
    // Of the first one, too, the end is never told.
    driven.take({ kind: 'speech_started', itemId: '', startedAtMs: null }, 2_000);
    driven.take({ kind: 'speech_started', itemId: '', startedAtMs: null }, 2_000);
    driven.server({ kind: 'speech_stopped', itemId: 'a' }).server({ kind: 'committed', itemId: 'b' });
    driven.server({ kind: 'transcribed', itemId: 'c', text: 'Yes.' });
    const startedAtMs = driven.atMs - 300;
    driven.respond('r3', 'Goodbye', 5_000);
    expect(driven.turns.at(-1)).toMatchObject({ text: 'Yes.', offsetMs: startedAtMs });
  });
});

describe('a noise that is taken for a voice and never pauses', () => {
  const noisy = (wrapUpAtMs: number) => {
    const driven = new Driven({}, wrapUpAtMs).take({ kind: 'connected' }).waitUntilDue();
    driven.respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    return driven.take({ kind: 'speech_started', itemId: 'c1', startedAtMs: driven.atMs });
  };

  it('counts as silence in the end', () => {
    const driven = noisy(90_000).waitUntilDue();
    expect(driven.atMs).toBe(42_000);
    expect(driven.asked().at(-1)?.response?.instructions).toContain(prompt.stillThere);
    driven.respond('r2', 'Are you there', 4_000).take({ kind: 'played_out', mark: 2 }, 3_000);
    expect(driven.turns.at(-1)?.text).toBe('Hello from Parcel Post');
    // The turn of the noise holds up those behind it for a while.
    driven.waitUntilDue();
    expect(driven.turns.at(-1)?.text).toBe('Are you there');
    driven.waitUntilDue();
    expect(driven.asked().at(-1)?.response?.instructions).toContain(prompt.noneHeard);
  });

  it('keeps nobody from the goodbye when time is up', () => {
    const driven = noisy(20_000).waitUntilDue();
    expect(driven.session.late).toBe(true);
    expect(driven.asked()).toHaveLength(1);
    expect(driven.waitUntilDue().atMs).toBe(28_000);
    expect(driven.asked().at(-1)?.response?.instructions).toContain(prompt.outOfTime);
    driven.respond('r2', 'Goodbye', 4_000).take({ kind: 'played_out', mark: 2 });
    expect(driven.session.end).toEqual({ kind: 'finished' });
  });
});

describe('the end (R4, R5)', () => {
  it('comes when the goodbye behind the wrap-up was heard, though no tool was called', () => {
    const driven = new Driven({}, 30_000).take({ kind: 'connected' }).waitUntilDue();
    driven.respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    driven.take({ kind: 'time' }, 28_000);
    const last = driven.asked().at(-1);
    expect(last?.response?.instructions).toContain(prompt.outOfTime);
    driven.respond('r2', 'Time is up goodbye', 4_000);
    expect(driven.ends).toEqual([]);
    driven.take({ kind: 'played_out', mark: 2 });
    expect(driven.ends).toEqual([{ kind: 'finished' }]);
  });

  it('does not say what was asked for before the wrap-up and has not begun', () => {
    const driven = new Driven({}, 3_000).take({ kind: 'connected' }).waitUntilDue();
    driven.take({ kind: 'time' }, 1_500).server({ kind: 'response_created', responseId: 'r1' });
    expect(driven.sent.at(-1)).toEqual({ type: 'response.cancel' });
    driven.done('r1', 'cancelled');
    expect(driven.asked().at(-1)?.response?.instructions).toContain(prompt.outOfTime);
  });

  it('waits for last words that came faster than they are played, and not for ever', () => {
    const closing = (seconds: number) => {
      const driven = new Driven({}, 20_000).take({ kind: 'connected' }).waitUntilDue();
      driven.respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
      driven.take({ kind: 'time' }, 18_000);
      return driven.respond('r2', Array.from({ length: seconds }, () => 'bye').join(' '), 4_000);
    };
    const driven = closing(40).take({ kind: 'time' }, 39_000);
    expect(driven.session.end).toBeNull();
    driven.take({ kind: 'played_out', mark: 2 }, 1_000);
    expect(driven.ends).toEqual([{ kind: 'finished' }]);
    const unheard = closing(40).take({ kind: 'time' }, 40_000 + 15_000);
    expect(unheard.session.end).toEqual({ kind: 'finished' });
  });

  it('comes after a second silence', () => {
    const driven = answered().respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    driven.waitUntilDue().respond('r2', 'Are you there', 4_000).take({ kind: 'played_out', mark: 2 });
    driven.waitUntilDue().respond('r3', 'Goodbye', 7_000).take({ kind: 'played_out', mark: 3 });
    expect(driven.ends).toEqual([{ kind: 'finished' }]);
  });

  it('waits for the goodbye to be heard, and is put off by an answer a few times at most', () => {
    const driven = answered().respond('r1', 'Hello from Parcel Post').take({ kind: 'played_out', mark: 1 });
    let playedMs = 4_000;
    for (let time = 0; time < 5 && driven.ends.length === 0; time += 1) {
      const responseId = `bye${time}`;
      calleeSpeaks(driven, `c${time}`);
      driven.server({ kind: 'response_created', responseId });
      driven.server({ kind: 'audio', responseId, itemId: `${responseId}_item`, audio: second }, playedMs);
      const call = { callId: `call${time}`, name: 'end_call', arguments: '{"reason":"done"}' };
      driven.server({
        kind: 'response_done',
        responseId,
        status: 'completed',
        errorCode: null,
        calls: [call],
      });
      expect(driven.ends).toEqual([]);
      driven.take({ kind: 'speech_started', itemId: `d${time}`, startedAtMs: null });
      driven.take({ kind: 'cleared', playedMs: (playedMs += 500) });
    }
    calleeSpeaks(driven, 'last');
    driven.take({ kind: 'give_up' });
    expect(driven.ends).toEqual([{ kind: 'finished' }]);
  });
});

describe('whatever comes', () => {
  const id = fc.constantFrom('1', '2', '3');
  const call = fc.record({
    callId: id,
    name: fc.constantFrom('end_call', 'opt_out', 'press_keys', 'report_machine', 'note', 'transfer_to_human'),
    arguments: fc.constantFrom(
      '',
      '{',
      '{"keys":"1#"}',
      '{"kind":"voicemail"}',
      '{"kind":"menu"}',
      '{"to":"Front desk"}',
      '[]',
    ),
  });
  const ids = { responseId: id.map((n) => `r${n}`), itemId: id.map((n) => `i${n}`) };
  const itemId = id.map((n) => `c${n}`);
  const told = fc.oneof(
    fc.record({ kind: fc.constant('speech_stopped' as const), itemId }),
    fc.record({ kind: fc.constant('committed' as const), itemId }),
    fc.record({ kind: fc.constant('transcribed' as const), itemId, text: fc.constantFrom(null, '', 'Yes.') }),
    fc.record({ kind: fc.constant('response_created' as const), responseId: ids.responseId }),
    fc.record({ kind: fc.constant('audio' as const), ...ids, audio: fc.constant(second) }),
    fc.record({ kind: fc.constant('words' as const), ...ids, text: fc.constant('some words ') }),
    fc.record({ kind: fc.constant('all_words' as const), ...ids, text: fc.constant('some more words') }),
    fc.record({ kind: fc.constant('tool_called' as const), responseId: ids.responseId, call }),
    fc.record({
      kind: fc.constant('response_done' as const),
      responseId: ids.responseId,
      status: fc.constantFrom(
        'completed' as const,
        'cancelled' as const,
        'incomplete' as const,
        'failed' as const,
      ),
      errorCode: fc.constantFrom(null, 'server_error'),
      calls: fc.array(call, { maxLength: 2 }),
    }),
    fc.record({
      kind: fc.constant('error' as const),
      code: fc.constantFrom('conversation_already_has_active_response', 'item_not_found', 'session_expired'),
      causedBy: fc.constantFrom(null, 'ask_1', 'ask_2'),
    }),
  );
  const played = fc.integer({ min: 0, max: 20_000 });
  const event: fc.Arbitrary<SessionEvent> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('server' as const),
        event: told,
        playedMs: played,
        lastSoundAtMs: played,
      }),
    },
    fc.constant({ kind: 'connected' as const }),
    fc.record({
      kind: fc.constant('refused' as const),
      note: fc.constant('refused'),
      worthAnotherTry: fc.boolean(),
    }),
    fc.constant({ kind: 'lost' as const, note: 'lost' }),
    fc.record({ kind: fc.constant('expires' as const), legMs: fc.integer({ min: 0, max: 100_000 }) }),
    fc.record({ kind: fc.constant('played_out' as const), mark: fc.integer({ min: 0, max: 4 }) }),
    fc.record({ kind: fc.constant('cleared' as const), playedMs: played }),
    fc.constant({ kind: 'line_full' as const }),
    fc.record({
      kind: fc.constant('speech_started' as const),
      itemId,
      startedAtMs: fc.constantFrom(null, 10),
    }),
    fc.constant({ kind: 'key' as const, key: '7' }),
    fc.constant({ kind: 'beep' as const }),
    fc.record({ kind: fc.constant('left' as const), playedMs: played }),
    fc.record({ kind: fc.constant('aborted' as const), playedMs: played }),
    fc.constant({ kind: 'give_up' as const }),
    fc.record({
      kind: fc.constant('transfer_ended' as const),
      outcome: fc.constantFrom<Transferred>({ kind: 'connected' }, { kind: 'failed', why: 'busy' }),
    }),
    { weight: 2, arbitrary: fc.constant({ kind: 'time' as const }) },
  );

  /** Which rules one step broke. */
  function brokenRules(before: Session, after: Session, sent: readonly ClientEvent[]): string[] {
    const asks = sent.filter(({ type }) => type === 'response.create').length;
    const cuts = sent.filter((event) => event.type === 'conversation.item.truncate');
    const cutItems = new Set(cuts.map((cut) => cut.item_id));
    const receivedMs = (itemId: string) =>
      [...(before.voice.cut ?? []), ...before.voice.messages].find((message) => message.itemId === itemId)
        ?.receivedMs ?? 0;
    return [
      ...(asks > 1 ? ['asks twice'] : []),
      ...(asks > 0 && (after.responseId !== null || after.connection !== 'up') ? ['asks too early'] : []),
      ...(cutItems.size < cuts.length ? ['truncates an item twice'] : []),
      ...cuts.flatMap(({ item_id: itemId, audio_end_ms: endMs }) =>
        Number.isInteger(endMs) && endMs >= 0 && endMs < receivedMs(itemId) ? [] : ['truncates wrongly'],
      ),
      ...(before.over && after !== before ? ['goes on behind the end'] : []),
    ];
  }

  it('the rules hold: one response, one truncation of an item, turns in order, one end and nothing behind it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(event, fc.integer({ min: 0, max: 4_000 })), { maxLength: 60 }),
        (events) => {
          const driven = new Driven();
          const broken: string[] = [];
          for (const [each, afterMs] of events) {
            const before = driven.session;
            const count = driven.sent.length;
            driven.take(each, afterMs);
            broken.push(...brokenRules(before, driven.session, driven.sent.slice(count)));
          }
          expect(broken).toEqual([]);
          const offsets = driven.turns.map(({ offsetMs }) => offsetMs);
          expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
          expect(driven.turns.every(({ text }) => text.trim() !== '')).toBe(true);
          expect(driven.ends.length).toBe(driven.session.over ? 1 : 0);
        },
      ),
      { numRuns: 500, seed: 4 },
    );
  });

  it('time alone ends it: no state waits for ever', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(event, fc.integer({ min: 0, max: 500 })), { maxLength: 25 }),
        (events) => {
          const driven = new Driven();
          for (const [each, afterMs] of events) driven.take(each, afterMs);
          // Whoever speaks without an end is cut off by the call limit; everything else ends by itself.
          if (driven.session.calleeSpeaking) driven.server({ kind: 'speech_stopped', itemId: 'c1' });
          for (let wait = 0; wait < 100 && driven.session.end === null; wait += 1) {
            const { voice, playing, marks } = driven.session;
            // The leg keeps its word.
            if (driven.session.connecting)
              driven.take({ kind: 'transfer_ended', outcome: { kind: 'failed', why: 'busy' } });
            if (voice.cut !== null) driven.take({ kind: 'cleared', playedMs: voice.baseMs });
            else if (playing) driven.take({ kind: 'played_out', mark: marks });
            driven.waitUntilDue();
          }
          expect(driven.session.end).not.toBeNull();
        },
      ),
      { numRuns: 300, seed: 4 },
    );
  });
});
