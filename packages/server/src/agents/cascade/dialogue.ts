/**
 * The course of a conversation with a chat model, as a pure state machine: what happened in, what to do out.
 *
 *   opening ─▶ talking ─▶ closing ─▶ end
 *      ├▶ recording (a machine; waiting for its beep) ─▶ closing
 *      └▶ connecting (somebody else is called for the callee) ─▶ end, or back to talking
 *
 * The model finds the words. What must not depend on a model is decided here: who calls is said first and until it
 * was heard (A1), a wish not to be called counts when it is spoken, time is kept (A4), keys are for menus (A5).
 *
 * D1  It ends: silences, turns, repetitions, goodbyes and answers without words are bounded.
 */
import type { Direction } from '@trunkcall/contract';
import type { Transferred } from '../../carriers/carrier.ts';
import type { ConversationEnd, Note } from '../agent.ts';
import { notConnected } from '../prompt.ts';
import type { ToolUse } from '../tools.ts';
import type { Grammar, Texts } from '../scripted/locales/locale.ts';
import { fold } from '../scripted/understanding/text.ts';
import {
  firstWordsMs,
  nextAnswer,
  openAtMs,
  treatmentOf,
  unanswered,
  type Answer,
  type MachinePolicies,
  type Sign,
} from '../who-answered.ts';
import type { Cue } from './cues.ts';

/** What stays the same for one call. */
export interface Script extends MachinePolicies {
  readonly texts: Texts;
  readonly grammar: Grammar;
  readonly direction: Direction;
  /** All that is said, in place of a conversation. */
  readonly announcement: string | null;
  readonly callerName: string;
  readonly title: string;
}

export interface Dialogue {
  readonly phase: 'opening' | 'talking' | 'recording' | 'connecting' | 'closing';
  /** With whom the callee is to be connected. */
  readonly connectTo: string | null;
  /** How it ends when the goodbye was said. */
  readonly end: ConversationEnd | null;
  /** The callee heard who is calling. */
  readonly disclosed: boolean;
  readonly turns: number;
  /** In a row. */
  readonly silences: number;
  readonly lastHeard: string;
  /** How often in a row. */
  readonly repeats: number;
  readonly goodbyes: number;
  /** Answers without words, in a row. */
  readonly wordless: number;
  /** The last words were a menu's. */
  readonly menu: boolean;
  /** Who answered our call. */
  readonly answer: Answer;
}

export type DialogueEvent =
  | {
      readonly kind: 'heard';
      readonly text: string;
      /** How long it took, milliseconds. */
      readonly lastedMs: number;
      readonly late: boolean;
    }
  | { readonly kind: 'silence'; readonly late: boolean }
  | { readonly kind: 'beep' | 'information_tone' }
  /** We have spoken, or were cut short. `uses` are the tools that the model asked for. */
  | {
      readonly kind: 'spoken';
      readonly wordless: boolean;
      readonly interrupted: boolean;
      readonly disclosed: boolean;
      readonly uses: readonly ToolUse[];
      readonly late: boolean;
    }
  | { readonly kind: 'pressed' }
  | { readonly kind: 'transferred'; readonly outcome: Transferred; readonly late: boolean }
  | { readonly kind: 'failed'; readonly part: 'ears' | 'model' | 'voice'; readonly note: string };

export type Act =
  | { readonly kind: 'listen'; readonly withinMs: number }
  /** Ask the model; what it says follows `lead`. To a menu the lead is said only before other words. */
  | {
      readonly kind: 'reply';
      readonly lead: readonly string[];
      readonly quiet: boolean;
      readonly cue: Cue;
      /** No question any more. */
      readonly closing: boolean;
      /** What the model must know beside the cue. */
      readonly fact: string | null;
    }
  | { readonly kind: 'say'; readonly sentences: readonly string[] }
  | { readonly kind: 'press'; readonly keys: string }
  | { readonly kind: 'transfer'; readonly to: string }
  | { readonly kind: 'end'; readonly end: ConversationEnd };

export interface Step {
  readonly dialogue: Dialogue;
  readonly act: Act;
  readonly note: Note | null;
  readonly speaker: 'user' | 'unknown';
}

const maxTurns = 150;
const maxSilences = 2;
const maxRepeats = 4;
const maxGoodbyes = 3;
const maxWordless = 3;
/** A machine that goes on for so many turns never beeps. */
const machineTurns = 8;

/** Milliseconds. */
const patience = {
  opening: openAtMs.outbound,
  talking: 8_000,
  menu: 20_000,
  recording: 15_000,
  connecting: 2_000,
  closing: 2_000,
} as const;

const start: Dialogue = {
  phase: 'opening',
  connectTo: null,
  end: null,
  disclosed: false,
  turns: 0,
  silences: 0,
  lastHeard: '',
  repeats: 0,
  goodbyes: 0,
  wordless: 0,
  menu: false,
  answer: unanswered,
};

/** `atMs`: leg time. */
export function begin(
  script: Pick<Script, 'direction' | 'announcement' | 'texts' | 'callerName'>,
  atMs: number,
): Step {
  const { texts, callerName, announcement, direction } = script;
  if (announcement !== null) {
    const sentences = [texts.disclosure(callerName), announcement, texts.goodbye];
    return act(closing(start, { kind: 'finished' }), { kind: 'say', sentences });
  }
  return act(start, { kind: 'listen', withinMs: firstWordsMs(direction, atMs) });
}

export function nextStep(script: Script, before: Dialogue, event: DialogueEvent): Step {
  const dialogue = { ...before, answer: signsOf(before, event).reduce(answering(script), before.answer) };
  switch (event.kind) {
    case 'heard':
      return heard(script, dialogue, event.text, event.late);
    case 'silence':
      return silent(script, dialogue, event.late);
    case 'beep':
    case 'information_tone':
      return treatmentNow(script, dialogue) === 'talk'
        ? listen(dialogue)
        : metMachine(script, dialogue, event.kind === 'beep');
    case 'spoken':
      return spoken(script, { ...dialogue, disclosed: dialogue.disclosed || event.disclosed }, event);
    case 'pressed':
      return listen({ ...dialogue, phase: 'opening', menu: true });
    case 'transferred':
      return transferred(script, dialogue, event.outcome, event.late);
    case 'failed':
      return failed(script, dialogue, event.part, event.note);
  }
}

function transferred(script: Script, dialogue: Dialogue, outcome: Transferred, late: boolean): Step {
  const to = dialogue.connectTo ?? '';
  if (outcome.kind === 'connected') return end(closing(dialogue, { kind: 'transferred', to }));
  const talking: Dialogue = { ...dialogue, phase: 'talking', connectTo: null };
  if (late) return outOfTime(script, talking);
  return reply(script, talking, 'not_connected', { fact: notConnected(outcome.why) });
}

/** Calls somebody for the callee, once they have heard that we do. */
function connect(dialogue: Dialogue, to: string): Step {
  return act({ ...dialogue, phase: 'connecting', connectTo: to }, { kind: 'transfer', to });
}

/** Who called us is no machine that answers. */
function answering({ direction, grammar }: Script) {
  return (answer: Answer, sign: Sign) =>
    direction === 'inbound' ? answer : nextAnswer(answer, sign, grammar);
}

/** What an event tells of who answered. */
function signsOf({ disclosed: introduced }: Dialogue, event: DialogueEvent): Sign[] {
  switch (event.kind) {
    case 'heard':
      return [{ kind: 'words', text: event.text, lastedMs: event.lastedMs, introduced }];
    case 'silence':
    case 'beep':
    case 'information_tone':
      return [{ kind: event.kind }];
    case 'spoken':
      return event.uses.flatMap((use): Sign[] => {
        if (use.kind === 'report_machine') return [{ kind: 'report', who: use.machine }];
        return use.kind === 'note' ? [{ kind: 'engaged' }] : [];
      });
    case 'pressed':
    case 'transferred':
    case 'failed':
      return [];
  }
}

function treatmentNow(script: Script, { answer }: Dialogue) {
  return answer.now === null ? 'talk' : treatmentOf(answer.now, script);
}

function heard(script: Script, before: Dialogue, text: string, late: boolean): Step {
  const folded = fold(text);
  const repeats = folded === before.lastHeard ? before.repeats + 1 : 1;
  const turns = before.turns + 1;
  const dialogue = { ...before, turns, repeats, lastHeard: folded, silences: 0, wordless: 0, menu: false };
  const wantsNoCalls = script.grammar.optOut.test(folded) && before.end?.kind !== 'opted_out';
  if (dialogue.phase === 'closing' && !wantsNoCalls) return again(script, dialogue);
  if (dialogue.phase === 'recording') return unknown(listenToMachine(script, dialogue));
  const treatment = treatmentNow(script, dialogue);
  if (treatment === 'navigate')
    return unknown(reply(script, { ...dialogue, menu: true }, 'menu', { quiet: true, closing: late }));
  if (treatment !== 'talk') return unknown(metMachine(script, dialogue, false));
  if (wantsNoCalls) return { ...optOut(script, dialogue), note: { kind: 'opted_out' } };
  const talking: Dialogue = { ...dialogue, phase: 'talking' };
  if (turns >= maxTurns || repeats >= maxRepeats) return outOfTime(script, talking);
  if (late) return reply(script, closing(talking, { kind: 'finished' }), 'late', { closing: true });
  if (script.grammar.robot.test(folded))
    return reply(script, talking, 'robot', { lead: [script.texts.robot(script.callerName)] });
  return reply(script, talking, dialogue.disclosed ? 'answer' : 'opening');
}

function silent(script: Script, dialogue: Dialogue, late: boolean): Step {
  const { texts } = script;
  if (dialogue.phase === 'closing') return end(dialogue);
  if (dialogue.phase === 'recording') return metMachine(script, dialogue, true);
  if (late) return outOfTime(script, dialogue);
  if (dialogue.menu) return listenedInVain(dialogue);
  if (dialogue.phase === 'opening') return reply(script, { ...dialogue, phase: 'talking' }, 'opening');
  if (dialogue.silences >= maxSilences) {
    return say(script, closing(dialogue, { kind: 'finished' }), [texts.noneHeard, texts.goodbye]);
  }
  return say(script, { ...dialogue, silences: dialogue.silences + 1 }, [texts.stillThere]);
}

/** A menu that does not lead anywhere. */
function listenedInVain(dialogue: Dialogue): Step {
  return end(closing(dialogue, { kind: 'machine', did: 'hang_up' }));
}

function spoken(
  script: Script,
  dialogue: Dialogue,
  { uses, interrupted, wordless, late }: Extract<DialogueEvent, { kind: 'spoken' }>,
): Step {
  const use = <Kind extends ToolUse['kind']>(kind: Kind) =>
    uses.find((each): each is Extract<ToolUse, { kind: Kind }> => each.kind === kind);
  if (dialogue.phase === 'closing') return goodbyeSaid(script, dialogue, interrupted, wordless);
  if (dialogue.phase === 'connecting')
    return interrupted
      ? listen({ ...dialogue, phase: 'talking', connectTo: null })
      : connect(dialogue, dialogue.connectTo ?? '');
  if (use('opt_out') !== undefined) return optOut(script, dialogue);
  const machine = use('report_machine')?.machine;
  if (machine === 'menu') return listenedInVain(dialogue);
  if (machine !== undefined) return metMachine(script, dialogue, false);
  // Who cuts us short has something to say first.
  if (interrupted) return listen(dialogue);
  const keys = use('press_keys')?.keys;
  if (keys !== undefined && dialogue.menu) return act(dialogue, { kind: 'press', keys });
  const to = use('transfer')?.to;
  if (to !== undefined && wordless)
    return say(script, { ...dialogue, phase: 'connecting', connectTo: to }, [script.texts.connecting]);
  if (to !== undefined) return connect(dialogue, to);
  if (use('end_call') !== undefined) {
    const over = closing(dialogue, { kind: 'finished' });
    return wordless ? say(script, over, [script.texts.goodbye]) : end(over);
  }
  if (!wordless || late) return listen(dialogue);
  // It only used tools, or ones that it may not use.
  if (dialogue.wordless >= maxWordless) {
    return failed(script, dialogue, 'model', 'the chat model had nothing to say');
  }
  if (dialogue.menu) return listen({ ...dialogue, wordless: dialogue.wordless + 1 });
  return reply(script, { ...dialogue, wordless: dialogue.wordless + 1 }, 'go_on');
}

/** Says goodbye until it was heard, a few times at most. A machine does not interrupt. */
function goodbyeSaid(script: Script, dialogue: Dialogue, interrupted: boolean, wordless: boolean): Step {
  if (wordless && !interrupted && dialogue.goodbyes === 0) return again(script, dialogue);
  const now = { ...dialogue, goodbyes: dialogue.goodbyes + 1 };
  const heardOut = !interrupted || now.goodbyes >= maxGoodbyes || now.end?.kind === 'machine';
  return heardOut ? end(now) : listen(now);
}

function again(script: Script, dialogue: Dialogue): Step {
  return say(script, { ...dialogue, goodbyes: dialogue.goodbyes + 1 }, [script.texts.goodbye]);
}

function metMachine(script: Script, dialogue: Dialogue, beeped: boolean): Step {
  if (dialogue.phase === 'closing') return end(dialogue);
  if (treatmentNow(script, dialogue) === 'hang_up') {
    return end(closing(dialogue, { kind: 'machine', did: 'hang_up' }));
  }
  if (!beeped) return listen({ ...dialogue, phase: 'recording', repeats: 0 });
  const { texts, callerName, title } = script;
  const message = texts.voicemail(texts.disclosure(callerName), title);
  const over = closing(dialogue, { kind: 'machine', did: 'leave_message' });
  return act({ ...over, disclosed: true }, { kind: 'say', sentences: [message] });
}

/** It goes on with its greeting; one that never beeps is spoken to anyway. */
function listenToMachine(script: Script, dialogue: Dialogue): Step {
  return dialogue.turns >= machineTurns - 1 ? metMachine(script, dialogue, true) : listen(dialogue);
}

function optOut(script: Script, dialogue: Dialogue): Step {
  const over = closing(dialogue, { kind: 'opted_out' });
  // Whoever wants no calls wants no introduction either.
  const { optOut: sorry, goodbye } = script.texts;
  return act(over, { kind: 'say', sentences: [sorry, goodbye] });
}

function outOfTime(script: Script, dialogue: Dialogue): Step {
  const { outOfTime: sorry, goodbye } = script.texts;
  return say(script, closing(dialogue, { kind: 'finished' }), [sorry, goodbye]);
}

/** A polite end as long as there is a voice. */
function failed(script: Script, dialogue: Dialogue, part: 'ears' | 'model' | 'voice', note: string): Step {
  const over = closing(dialogue, { kind: 'failed', note });
  if (part === 'voice' || dialogue.phase === 'closing') {
    return end(part === 'voice' && dialogue.end?.kind !== 'opted_out' ? over : dialogue);
  }
  const { outOfTime: sorry, goodbye } = script.texts;
  return say(script, over, [sorry, goodbye]);
}

function closing(dialogue: Dialogue, how: ConversationEnd): Dialogue {
  return { ...dialogue, phase: 'closing', end: how };
}

function end(dialogue: Dialogue): Step {
  return act(dialogue, { kind: 'end', end: dialogue.end ?? { kind: 'finished' } });
}

function listen(dialogue: Dialogue): Step {
  const withinMs = dialogue.menu && dialogue.phase === 'opening' ? patience.menu : patience[dialogue.phase];
  return act(dialogue, { kind: 'listen', withinMs });
}

function say(script: Script, dialogue: Dialogue, sentences: readonly string[]): Step {
  return act(dialogue, { kind: 'say', sentences: [...introduction(script, dialogue), ...sentences] });
}

function reply(
  script: Script,
  dialogue: Dialogue,
  cue: Cue,
  { lead = [], quiet = false, closing = false, fact }: ReplyOptions = {},
): Step {
  return act(dialogue, {
    kind: 'reply',
    lead: [...introduction(script, dialogue), ...lead],
    quiet,
    cue,
    closing,
    fact: fact ?? null,
  });
}

interface ReplyOptions {
  readonly lead?: readonly string[];
  readonly quiet?: boolean;
  readonly closing?: boolean;
  readonly fact?: string;
}

/** The first sentence, until it was heard (A1). */
function introduction({ texts, callerName }: Script, { disclosed }: Dialogue): string[] {
  return disclosed ? [] : [texts.disclosure(callerName)];
}

function act(dialogue: Dialogue, what: Act): Step {
  return { dialogue, act: what, note: null, speaker: 'user' };
}

function unknown(step: Step): Step {
  return { ...step, speaker: 'unknown' };
}
