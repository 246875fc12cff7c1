/** The end of a response, and what the tools that it called do. The rules behind `session.ts`. */
import type { Note } from '../agent.ts';
import { withNote } from '../notes.ts';
import { message, toolOutput } from './client-events.ts';
import { metMachine } from './callee.ts';
import type { ServerEvent } from './server-events.ts';
import {
  askAgain,
  beginTransfer,
  closeWith,
  finish,
  markEnd,
  noticeAnswer,
  send,
  startTurn,
  treatmentNow,
  unknownResponse,
  want,
} from './moves.ts';
import type { Draft } from './session.ts';
import { keysTurn } from '../marks.ts';
import { readToolCall, type Machine, type ToolCall } from '../tools.ts';
import { changeTurn, completeHeard } from './turn-order.ts';
import { finishResponse } from './voice.ts';

/** Entries of keys in one call; more is a loop between two machines. */
const maxPresses = 20;
/** Responses in a row that only call tools. */
const maxMute = 3;
const maxCalls = 20;

type Done = Extract<ServerEvent, { kind: 'response_done' }>;

export function responseDone(draft: Draft, done: Done): void {
  if (draft.responseId !== null && ![done.responseId, unknownResponse].includes(draft.responseId)) return;
  const { asked } = draft;
  const cut = done.status === 'cancelled' || draft.mutedId === done.responseId;
  if (done.status === 'failed') return askAgain(draft, done.errorCode ?? 'unknown_error');
  const messages = draft.voice.messages.filter(({ responseId }) => responseId === done.responseId);
  // Whoever speaks over our answer has still wished what it was an answer to.
  const calls = distinct([...draft.calls, ...done.calls]).filter(({ name }) => !cut || name === 'opt_out');
  draft.voice = finishResponse(draft.voice, done.responseId);
  draft.asked = null;
  draft.responseId = null;
  draft.calls = [];
  draft.failures = 0;
  draft.activeAtMs = draft.atMs;
  const spoke = messages.some(({ text, receivedMs }) => text.trim() !== '' || receivedMs > 0);
  draft.mute = spoke || cut ? 0 : draft.mute + 1;
  useTools(draft, calls, spoke);
  // The model takes for a person whom it answers.
  if (spoke && !cut) noticeAnswer(draft, { kind: 'report', who: 'human' });
  settleNotes(draft);
  if (draft.end !== null) return;
  // Asked for a word to the callee, it had none: then they are connected without.
  if (asked?.wanted === 'connecting' && !spoke && !cut) beginTransfer(draft);
  const closing = asked?.closing ?? null;
  if (closing !== null && (!cut || closing.kind === 'opted_out')) draft.ending = draft.ending ?? closing;
  if (draft.ending !== null) draft.endingAtMs = draft.atMs;
  if (spoke) handOver(draft, done.responseId);
  else if (draft.ending !== null && !cut) closeWith(draft, draft.ending);
}

/** The server says that the response was done; ours is the word on when it was heard. */
function handOver(draft: Draft, responseId: string): void {
  if (draft.plan.media === 'audio') return markEnd(draft);
  const messages = draft.voice.messages.filter((message) => message.responseId === responseId);
  draft.voice = { ...draft.voice, messages: [] };
  draft.playing = true;
  draft.effects.push({
    kind: 'say',
    text: messages.map(({ text }) => text.trim()).join(' '),
    itemIds: messages.map(({ itemId }) => itemId),
  });
}

/** With the answer everything is known that the model makes of the callee's words. */
function settleNotes(draft: Draft): void {
  draft.order = completeHeard(draft.order, ({ text }) => text !== '');
}

function useTools(draft: Draft, calls: readonly ToolCall[], spoke: boolean): void {
  for (const call of calls.slice(0, maxCalls)) {
    if (draft.end === null) useTool(draft, call, spoke);
  }
  const waits =
    draft.ending !== null ||
    draft.machine !== 'none' ||
    draft.connectTo !== null ||
    calls.some(({ name }) => name === 'press_keys');
  const unsaid = calls.length > 0 && !spoke && !waits;
  if (unsaid && draft.end === null && draft.mute < maxMute) want(draft, 'reply');
}

function useTool(draft: Draft, call: ToolCall, spoke: boolean): void {
  const use = readToolCall(call, draft.plan.resultSchema, draft.plan.targets);
  const reply = (output: string) => send(draft, toolOutput(call.callId, output));
  switch (use.kind) {
    case 'unusable':
      return reply(`Not done: ${use.why}.`);
    case 'note':
      noticeAnswer(draft, { kind: 'engaged' });
      noteOf(draft, draft.lastCallee, use.note);
      return reply('Noted.');
    case 'press_keys':
      if (draft.plan.menu === 'hang_up') return reported(draft, 'menu', reply);
      if (draft.answer.now === null || draft.answer.now === 'uncertain')
        noticeAnswer(draft, { kind: 'report', who: 'menu' });
      if (draft.pressed >= maxPresses) return reply('Not done: too many keys were pressed in this call.');
      draft.pressed += 1;
      draft.effects.push({ kind: 'press', keys: use.keys });
      reportKeys(draft, use.keys);
      return reply('Pressed. Listen to what comes.');
    case 'transfer':
      if (draft.connectTo !== null) return reply('Not done: somebody is being called already.');
      if (draft.late) return reply('Not done: the time of this call is up.');
      if (draft.ending?.kind === 'opted_out') return reply('Not done: the person wants no calls.');
      draft.connectTo = use.to;
      draft.ending = null;
      reply('They are called when this was heard. Say nothing more.');
      if (!spoke) want(draft, 'connecting');
      return;
    case 'opt_out':
      draft.connectTo = null;
      noteOptOut(draft);
      reply('Recorded.');
      if (spoke) draft.ending = { kind: 'opted_out' };
      else want(draft, 'opted_out');
      return;
    case 'report_machine':
      return reported(draft, use.machine, reply);
    case 'end_call':
      if (draft.connectTo !== null) return reply('Not needed: the transfer ends your part of the call.');
      reply('The call ends when this was heard.');
      if (spoke || draft.voiceCame) draft.ending ??= { kind: 'finished' };
      else want(draft, 'none_heard');
      draft.endingAtMs = draft.atMs;
  }
}

function reportKeys(draft: Draft, keys: string): void {
  const { text, offsetMs } = keysTurn(keys, draft.atMs);
  const key = `pressed_${draft.atMs}_${draft.pressed}`;
  startTurn(draft, { key, speaker: 'bot', offsetMs });
  draft.order = changeTurn(draft.order, key, { text, complete: true });
}

/** Of a turn that was reported before, it goes with the next one; whose words support it, its quote says. */
function noteOf(draft: Draft, key: string | null, note: Note): void {
  const turn = draft.order.find((each) => each.key === key);
  if (turn === undefined) draft.owed = withNote(draft.owed, note);
  else draft.order = changeTurn(draft.order, turn.key, { notes: withNote(turn.notes, note) });
}

/** The wish not to be called must be kept, whatever else there is: without a turn to hold it, it gets its own. */
export function noteOptOut(draft: Draft): void {
  if (draft.optedOut) return;
  draft.optedOut = true;
  draft.effects.push({ kind: 'opted_out' });
  let key = draft.order.findLast(({ speaker }) => speaker !== 'bot')?.key;
  if (key === undefined) {
    key = `wish_${draft.atMs}`;
    startTurn(draft, { key, speaker: 'unknown', offsetMs: draft.atMs });
    draft.order = changeTurn(draft.order, key, { complete: true });
  }
  noteOf(draft, key, { kind: 'opted_out' });
}

function reported(draft: Draft, machine: Machine, reply: (output: string) => void): void {
  if (draft.lastCallee !== null)
    draft.order = changeTurn(draft.order, draft.lastCallee, { speaker: 'unknown' });
  noticeAnswer(draft, { kind: 'report', who: machine });
  // A menu that is reported leads nowhere.
  if (machine === 'menu' || treatmentNow(draft) === 'hang_up') {
    reply('The call ends now.');
    return finish(draft, { kind: 'machine', did: 'hang_up' });
  }
  reply('Say nothing until you are told that the machine records.');
  metMachine(draft);
}

function distinct(calls: readonly ToolCall[]): ToolCall[] {
  return [...new Map(calls.map((call) => [call.callId, call])).values()];
}

/** On a leg at the level of sentences: the model must know what of its words was heard. */
export function correctHistory(draft: Draft, itemIds: readonly string[], heard: string): void {
  for (const itemId of itemIds) send(draft, { type: 'conversation.item.delete', item_id: itemId });
  if (heard !== '') send(draft, message('assistant', heard));
}
