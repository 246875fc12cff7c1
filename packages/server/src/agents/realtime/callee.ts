/** What the callee does: speaks, presses keys, answers as a machine, leaves. The rules behind `session.ts`. */
import { message } from './client-events.ts';
import {
  fallSilentAt,
  finish,
  forgetTransfer,
  interrupt,
  maxGoodbyes,
  noticeAnswer,
  send,
  startTurn,
  startWaiting,
  treatmentNow,
  want,
} from './moves.ts';
import type { Draft } from './session.ts';
import { changeTurn, completeHeard, endTurn } from './turn-order.ts';

/** Keys that follow one another within this time are one entry, milliseconds. */
export const keyPauseMs = 1_500;
const maxKeys = 32;
/** Shorter sentences, such as "Yes.", may well come several times in a row. */
const leastRepeated = 20;
const maxRepeats = 3;
/** How late a server notices speech that it does not date, milliseconds. */
const noticedAfterMs = 300;

/** The callee began to speak; `startedAtMs` is leg time, null when the server does not say. */
export function speechStarted(draft: Draft, itemId: string, startedAtMs: number | null): void {
  const key = itemId === '' ? `speech_${draft.atMs}` : itemId;
  draft.calleeSpeaking = true;
  draft.speakingSinceMs = draft.atMs;
  draft.waiting = null;
  forgetTransfer(draft);
  draft.lastCallee = key;
  draft.activeAtMs = draft.atMs;
  const offsetMs = Math.min(startedAtMs ?? draft.atMs - noticedAfterMs, draft.atMs);
  // Without names its words could not be told from those of the turn that begins.
  if (!draft.plan.namesItems) draft.order = completeHeard(draft.order, ({ dueAtMs }) => dueAtMs === null);
  startTurn(draft, { key, speaker: speakerOf(draft), offsetMs: Math.max(0, offsetMs) });
  // The server has stopped its response; what is in our queue only we can stop.
  if (draft.machine !== 'leaving_message') interrupt(draft, !draft.plan.answersByItself);
}

/** `stoppedAtMs` is the leg time of the callee's last sound. */
export function speechStopped(draft: Draft, itemId: string, stoppedAtMs: number): void {
  // Some servers tell only that the turn is over.
  if (draft.calleeSpeaking || draft.waiting === null) startWaiting(draft, stoppedAtMs);
  draft.calleeSpeaking = false;
  draft.activeAtMs = draft.atMs;
  draft.order = endTurn(draft.order, turnOf(draft, itemId), draft.atMs);
}

/** The callee's turn is over. */
export function tookTurn(draft: Draft, itemId: string, stoppedAtMs: number): void {
  speechStopped(draft, itemId, stoppedAtMs);
  const key = turnOf(draft, itemId);
  // Some servers tell of an item without telling that it began.
  startTurn(draft, { key, speaker: speakerOf(draft), offsetMs: draft.atMs });
  draft.order = endTurn(draft.order, key, draft.atMs);
  draft.lastCallee = key;
  answer(draft, draft.plan.answersByItself);
}

/** On a leg at the level of sentences: words instead of sound. */
export function said(
  draft: Draft,
  { text, startedAtMs, endedAtMs }: { text: string; startedAtMs: number; endedAtMs: number },
): void {
  const key = `said_${startedAtMs}`;
  send(draft, message('user', text));
  forgetTransfer(draft);
  startTurn(draft, { key, speaker: speakerOf(draft), offsetMs: startedAtMs });
  draft.lastCallee = key;
  draft.activeAtMs = draft.atMs;
  noticeRepeats(draft, text);
  noticeWords(draft, key, text, endedAtMs - startedAtMs);
  answer(draft, false);
  draft.order = changeTurn(endTurn(draft.order, key, draft.atMs), key, {
    text,
    complete: draft.wanted === null,
  });
}

/** What the words tell of who answered; to a machine that wants none nothing more is said. */
function noticeWords(draft: Draft, key: string, text: string, lastedMs: number | null): void {
  if (text.trim() === '' || draft.machine !== 'none') return;
  const { now } = draft.answer;
  noticeAnswer(draft, { kind: 'words', text, lastedMs, introduced: draft.disclosed });
  const treatment = treatmentNow(draft);
  // A menu is the model's to navigate.
  const known = draft.answer.now === now || treatment === 'talk' || treatment === 'navigate';
  if (known || draft.ending !== null || draft.end !== null) return;
  draft.order = changeTurn(draft.order, key, { speaker: 'unknown' });
  interrupt(draft, false);
  metMachine(draft);
}

/** Does with a machine what the Goal says. */
export function metMachine(draft: Draft): void {
  if (treatmentNow(draft) !== 'leave_message') {
    return finish(draft, { kind: 'machine', did: 'hang_up' });
  }
  if (draft.machine === 'none') {
    draft.machine = 'awaiting_beep';
    draft.machineAtMs = draft.atMs;
    draft.wanted = null;
  }
  if (draft.beeped && draft.machine !== 'leaving_message') leaveMessage(draft);
}

/** A sentence said over and over again comes from a machine: we wrap up rather than talk to it for ever. */
function noticeRepeats(draft: Draft, text: string): void {
  const same = text.length >= leastRepeated && text === draft.lastWords;
  draft.lastWords = text;
  draft.repeats = same ? draft.repeats + 1 : 0;
  if (draft.repeats >= maxRepeats) draft.late = true;
}

/**
 * The words of a turn have come, or will not. What the model notes of them comes with its answer, and is waited
 * for a little.
 */
export function writtenDown(draft: Draft, itemId: string, text: string | null): void {
  noticeRepeats(draft, text ?? '');
  const asks = draft.asked !== null || draft.responseId !== null || draft.wanted !== null;
  const answering = asks || draft.plan.answersByItself;
  const key = turnOf(draft, itemId);
  noticeWords(draft, key, text ?? '', null);
  draft.order = changeTurn(draft.order, key, {
    text: text ?? '',
    complete: (text ?? '') === '' || !answering || key !== draft.lastCallee,
  });
}

/** The turn that an event is about: where the server does not name it, the oldest one whose words are missing. */
function turnOf({ plan, order }: Draft, itemId: string): string {
  if (plan.namesItems) return itemId;
  const wordless = order.find(({ speaker, complete, text }) => speaker !== 'bot' && !complete && text === '');
  return wordless?.key ?? itemId;
}

export function keyPressed(draft: Draft, key: string): void {
  draft.activeAtMs = draft.keysAtMs = draft.atMs;
  forgetTransfer(draft);
  if (draft.keys.length < maxKeys) draft.keys += key;
  draft.waiting = null;
  interrupt(draft, false);
}

/** Tells the model which keys were pressed. */
export function keysEntered(draft: Draft): void {
  const { keys } = draft;
  draft.keys = '';
  const key = `keys_${draft.keysAtMs}`;
  if (draft.opened) noticeAnswer(draft, { kind: 'engaged' });
  send(draft, message('user', `(The person pressed these telephone keys: ${keys})`));
  startTurn(draft, { key, speaker: 'user', offsetMs: draft.keysAtMs });
  draft.order = changeTurn(draft.order, key, { text: keys, complete: true });
  startWaiting(draft, draft.keysAtMs);
  answer(draft, false);
}

/** An answering machine records now, or an announcement follows; in a conversation it was something else. */
export function sounded(draft: Draft, kind: 'beep' | 'information_tone'): void {
  noticeAnswer(draft, { kind });
  if (treatmentNow(draft) === 'talk') return;
  const first = kind === 'beep' && !draft.beeped;
  draft.beeped ||= kind === 'beep';
  // Nothing of what was said before the beep is recorded.
  if (first && draft.machine === 'leaving_message') return leaveMessage(draft);
  metMachine(draft);
}

/** Begins the message, or begins it anew. */
export function leaveMessage(draft: Draft): void {
  draft.machine = 'leaving_message';
  if (draft.asked?.wanted === 'message' && draft.responseId === null) return;
  draft.ending = null;
  interrupt(draft, false);
  want(draft, 'message');
}

/** What the callee wished stays true when they leave before our goodbye. `playedMs`: of our sound, on the leg. */
export function left(draft: Draft, playedMs: number): void {
  const wish = draft.ending ?? draft.asked?.closing ?? null;
  if (draft.calleeSpeaking) send(draft, { type: 'input_audio_buffer.commit' });
  fallSilentAt(draft, playedMs);
  finish(draft, wish === null || wish.kind === 'finished' ? { kind: 'callee_left' } : wish);
}

function answer(draft: Draft, byItself: boolean): void {
  draft.silences = 0;
  if (draft.machine !== 'none' || goodbyeComes(draft)) return;
  if (draft.ending === null) {
    if (!byItself) want(draft, 'reply');
    return;
  }
  // Our goodbye was cut short, or answered.
  draft.goodbyes += 1;
  if (draft.goodbyes >= maxGoodbyes) return finish(draft, draft.ending);
  const wanted = draft.ending.kind === 'opted_out' ? 'opted_out' : 'reply';
  if (wanted === 'reply') draft.ending = null;
  if (!byItself) want(draft, wanted);
}

/** What was asked for is our last word, and nobody has cut it. */
function goodbyeComes({ asked, responseId, mutedId }: Draft): boolean {
  if (asked === null || asked.closing === null) return false;
  return responseId === null || responseId !== mutedId;
}

const speakerOf = ({ machine }: Draft) => (machine === 'none' ? 'user' : 'unknown');
