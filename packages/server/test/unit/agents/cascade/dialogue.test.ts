import { describe, expect, it } from 'vitest';
import {
  begin,
  nextStep,
  type DialogueEvent,
  type Script,
  type Step,
} from '../../../../src/agents/cascade/dialogue.ts';
import type { Transferred } from '../../../../src/carriers/carrier.ts';
import type { ToolUse } from '../../../../src/agents/tools.ts';
import { localeFor } from '../../../../src/agents/scripted/locales/locale.ts';

const english = localeFor('en');
if (english === null) throw new Error('there is English');
const script: Script = {
  ...english,
  direction: 'outbound',
  announcement: null,
  callerName: 'Parcel Post',
  title: 'Your delivery',
  machine: 'hang_up',
  menu: 'navigate',
};
const disclosure = english.texts.disclosure('Parcel Post');

const heard = (text: string, late = false): DialogueEvent => ({ kind: 'heard', text, lastedMs: 900, late });
const silence = (late = false): DialogueEvent => ({ kind: 'silence', late });
const spoken = (over: Partial<Extract<DialogueEvent, { kind: 'spoken' }>> = {}): DialogueEvent => ({
  kind: 'spoken',
  wordless: false,
  interrupted: false,
  disclosed: true,
  uses: [],
  late: false,
  ...over,
});
const using = (...uses: readonly ToolUse[]) => spoken({ uses });
const failure = (part: 'ears' | 'model' | 'voice'): DialogueEvent => ({ kind: 'failed', part, note: 'gone' });

/** The steps of a conversation. */
function run(events: readonly DialogueEvent[], over: Partial<Script> = {}): Step[] {
  const steps: Step[] = [];
  for (const event of events)
    steps.push(nextStep({ ...script, ...over }, (steps.at(-1) ?? begin(script, 0)).dialogue, event));
  return steps;
}
const last = (events: readonly DialogueEvent[], over: Partial<Script> = {}) => run(events, over).at(-1);
const talking = [heard('Hello?'), spoken()] as const;

describe('the dialogue', () => {
  it('A1: says who is calling until it was heard, then no more', () => {
    const cut = spoken({ interrupted: true, disclosed: false });
    const acts = run([heard('Hello?'), cut, heard('What?'), spoken(), heard('I see.')]).map(({ act }) => act);
    expect(acts[0]).toMatchObject({ kind: 'reply', lead: [disclosure], cue: 'opening' });
    expect(acts[2]).toMatchObject({ kind: 'reply', lead: [disclosure], cue: 'opening' });
    expect(acts[4]).toMatchObject({ kind: 'reply', lead: [], cue: 'answer' });
  });

  it('A1: says yes when it is asked whether it is a robot', () => {
    expect(last([...talking, heard('Am I talking to a robot?')])?.act).toMatchObject({
      kind: 'reply',
      cue: 'robot',
      lead: ['Yes, I am an automated assistant, not a person. I am calling for Parcel Post.'],
    });
  });

  it('A4: late, it asks the model for one answer without questions, and ends', () => {
    const steps = run([...talking, heard('Tuesday.', true), spoken({ late: true })]);
    expect(steps.at(-2)?.act).toMatchObject({ kind: 'reply', cue: 'late', closing: true });
    expect(steps.at(-1)?.act).toEqual({ kind: 'end', end: { kind: 'finished' } });
    expect(last([silence(true)])?.act).toMatchObject({
      kind: 'say',
      sentences: [disclosure, english.texts.outOfTime, 'Goodbye.'],
    });
  });

  it('connects with somebody when our words were heard, and says them itself where the model had none', () => {
    const to: ToolUse = { kind: 'transfer', to: 'Front desk' };
    const asks = [...talking, heard('A person, please.')];
    expect(last([...asks, using(to)])?.act).toEqual({ kind: 'transfer', to: 'Front desk' });
    const wordless = spoken({ uses: [to], wordless: true });
    expect(last([...asks, wordless])?.act).toMatchObject({ sentences: [english.texts.connecting] });
    expect(last([...asks, wordless, spoken()])?.act).toEqual({ kind: 'transfer', to: 'Front desk' });
    // Who speaks over it has something to say first.
    const cut = spoken({ uses: [to], interrupted: true });
    expect(last([...asks, cut])?.act.kind).toBe('listen');
    const steps = run([...asks, wordless, spoken({ interrupted: true }), heard('Wait, no.')]);
    expect(steps.map(({ act }) => act.kind)).not.toContain('transfer');
    expect(steps.at(-1)?.act).toMatchObject({ kind: 'reply', cue: 'answer' });
  });

  it('ends when they are connected, and goes on with the reason when they are not', () => {
    const transfer = (outcome: Transferred, late = false): DialogueEvent => ({
      kind: 'transferred',
      outcome,
      late,
    });
    const rings = [...talking, heard('A person, please.'), using({ kind: 'transfer', to: 'Front desk' })];
    expect(last([...rings, transfer({ kind: 'connected' })])?.act).toEqual({
      kind: 'end',
      end: { kind: 'transferred', to: 'Front desk' },
    });
    expect(last([...rings, transfer({ kind: 'failed', why: 'busy' })])?.act).toMatchObject({
      kind: 'reply',
      cue: 'not_connected',
      fact: expect.stringContaining('the line is busy'),
    });
    expect(last([...rings, transfer({ kind: 'failed', why: 'busy' }, true)])?.act).toMatchObject({
      kind: 'say',
      sentences: [english.texts.outOfTime, 'Goodbye.'],
    });
  });

  it('A5: presses keys for a menu alone', () => {
    const keys: ToolUse = { kind: 'press_keys', keys: '2' };
    const menu = heard('For opening hours, press 1. To speak to a person, press 2.');
    expect(last([menu])?.act).toMatchObject({ kind: 'reply', cue: 'menu', quiet: true });
    expect(last([menu, spoken({ wordless: true, uses: [keys] })])?.act).toEqual({ kind: 'press', keys: '2' });
    expect(last([...talking, heard('Press 9 now.'), using(keys)])?.act.kind).toBe('listen');
    expect(
      last([...talking, heard('Press 9 now.'), spoken({ uses: [keys], wordless: true })])?.act,
    ).toMatchObject({
      kind: 'reply',
      cue: 'go_on',
    });
  });

  it('notes a wish not to be called, also in the middle of our goodbye', () => {
    const wish = heard('Please do not call me again.');
    for (const events of [
      [wish],
      [...talking, wish],
      [...talking, heard('Bye', true), spoken({ interrupted: true }), wish],
    ]) {
      const step = last(events);
      expect(step).toMatchObject({ note: { kind: 'opted_out' }, act: { kind: 'say' } });
      expect(last([...events, spoken()])?.act).toEqual({ kind: 'end', end: { kind: 'opted_out' } });
    }
    expect(last([...talking, heard('No.'), using({ kind: 'opt_out' }), spoken()])?.act).toEqual({
      kind: 'end',
      end: { kind: 'opted_out' },
    });
  });

  it('follows the Goal when a machine answers', () => {
    const mailbox = heard('You have reached the voicemail of Ada. Please leave a message after the tone.');
    const report: ToolUse = { kind: 'report_machine', machine: 'voicemail' };
    const hungUp = { kind: 'end', end: { kind: 'machine', did: 'hang_up' } };
    expect(last([mailbox])).toMatchObject({ act: hungUp, speaker: 'unknown' });
    expect(last([heard('Hi, Ada here, I am out.'), using(report)])?.act).toEqual(hungUp);
    const leave = { machine: 'leave_message' } as const;
    expect(last([mailbox], leave)?.act).toMatchObject({ kind: 'listen' });
    const message = last([mailbox, { kind: 'beep' }], leave)?.act;
    expect(message).toMatchObject({
      kind: 'say',
      sentences: [english.texts.voicemail(disclosure, 'Your delivery')],
    });
    expect(last([mailbox, silence()], leave)?.act).toEqual(message);
    expect(last([mailbox, { kind: 'beep' }, spoken({ interrupted: true })], leave)?.act).toEqual({
      kind: 'end',
      end: { kind: 'machine', did: 'leave_message' },
    });
    const unreachable = heard('The number you have dialed is not in service.');
    expect(last([unreachable], leave)?.act).toEqual(hungUp);
  });

  it('hangs up at the tones of an announcement, and at a menu when the Goal says so', () => {
    const hungUp = { kind: 'end', end: { kind: 'machine', did: 'hang_up' } };
    const tones = { kind: 'information_tone' } as const;
    expect(last([tones], { machine: 'leave_message' })).toMatchObject({
      act: hungUp,
      dialogue: { answer: { by: 'announcement' } },
    });
    const menu = heard('For sales, press 1. For a representative, press 2.');
    expect(last([menu], { menu: 'hang_up' })).toMatchObject({ act: hungUp, speaker: 'unknown' });
    expect(last([menu])?.act).toMatchObject({ kind: 'reply', quiet: true, cue: 'menu' });
  });

  it('waits for the first words until 2 s after the answer, however late it began to listen', () => {
    expect(begin(script, 0).act).toEqual({ kind: 'listen', withinMs: 2_000 });
    expect(begin(script, 1_200).act).toEqual({ kind: 'listen', withinMs: 800 });
    expect(begin(script, 4_000).act).toEqual({ kind: 'listen', withinMs: 300 });
  });

  it('takes no sound in the middle of a conversation for a machine', () => {
    const turns = Array.from({ length: 8 }, (_, at) => [heard(`Answer ${at}.`), spoken()]).flat();
    expect(last([...turns, { kind: 'beep' }])?.act.kind).toBe('listen');
  });

  it('hangs up only when the callee has nothing to say to our goodbye', () => {
    const over: ToolUse = { kind: 'end_call' };
    expect(last([...talking, heard('No.'), using(over)])?.act).toEqual({
      kind: 'end',
      end: { kind: 'finished' },
    });
    expect(last([...talking, heard('No.'), spoken({ uses: [over], interrupted: true })])?.act.kind).toBe(
      'listen',
    );
    expect(last([...talking, heard('No.'), spoken({ uses: [over], wordless: true })])?.act).toEqual({
      kind: 'say',
      sentences: ['Goodbye.'],
    });
  });

  it('D1: ends with who is silent, repeats itself, or never lets us finish, and with a model without words', () => {
    const still = [silence(), spoken()];
    expect(last([...talking, ...still, ...still, silence()])?.dialogue.end).toEqual({ kind: 'finished' });
    const same = Array.from({ length: 4 }, () => [heard('Welcome.'), spoken()]).flat();
    expect(last(same.slice(0, -1))?.dialogue.end).toEqual({ kind: 'finished' });
    const cut = [heard('But wait!'), spoken({ interrupted: true })];
    expect(
      last([...talking, heard('Bye.', true), spoken({ interrupted: true }), ...cut, ...cut])?.act.kind,
    ).toBe('end');
    const nothing = spoken({ wordless: true });
    expect(last([...talking, heard('Well.'), nothing, nothing, nothing, nothing])?.dialogue.end?.kind).toBe(
      'failed',
    );
    const long = Array.from({ length: 160 }, (_, at) => [heard(`Answer ${at}.`), spoken()]).flat();
    expect(run(long).some(({ dialogue }) => dialogue.end !== null)).toBe(true);
  });

  it('says goodbye when the model or the ears are gone, and ends at once without a voice', () => {
    for (const part of ['ears', 'model'] as const) {
      const steps = run([...talking, failure(part), spoken()]);
      expect(steps.at(-2)?.act).toMatchObject({
        kind: 'say',
        sentences: [english.texts.outOfTime, 'Goodbye.'],
      });
      expect(steps.at(-1)?.act).toEqual({ kind: 'end', end: { kind: 'failed', note: 'gone' } });
    }
    const ended = { kind: 'end', end: { kind: 'failed', note: 'gone' } };
    expect(last([...talking, failure('voice')])?.act).toEqual(ended);
    expect(last([...talking, failure('model'), failure('voice')])?.act).toEqual(ended);
  });
});
