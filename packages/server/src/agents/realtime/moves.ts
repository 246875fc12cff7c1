/** The moves that the rules of `session.ts` are made of. */
import type { ConversationEnd, Turn } from '../agent.ts';
import type { Transferred } from '../../carriers/carrier.ts';
import { transferTurn } from '../marks.ts';
import { withNotes } from '../notes.ts';
import { notConnected } from '../prompt.ts';
import { message, truncate, type ClientEvent } from './client-events.ts';
import type { Draft, Session, Wanted } from './session.ts';
import {
  beginTurn,
  changeTurn,
  completeHeard,
  takeAllTurns,
  takeTurns,
  type PendingTurn,
} from './turn-order.ts';
import { latencyOf } from '../latency.ts';
import { nextAnswer, treatmentOf, type Sign } from '../who-answered.ts';
import { cutOff, orphan, silentVoice, wasCut, type HeardMessage } from './voice.ts';

/** A response that runs, we do not know under which id. */
export const unknownResponse = '';

const maxHistory = 60;
const maxFailures = 3;
const maxReconnections = 1;
export const maxGoodbyes = 3;

export function send(draft: Draft, event: ClientEvent): void {
  draft.effects.push({ kind: 'send', event });
}

// ---- Responses

/** Wishes that nothing else may take the place of. */
const strong: readonly Wanted[] = ['opted_out', 'message'];
const answers: readonly Wanted[] = ['reply', 'opted_out'];

export function want(draft: Draft, wanted: Wanted): void {
  if (draft.wanted !== null && strong.includes(draft.wanted)) return;
  // Whatever went wrong meanwhile, with whom wants no calls nothing else is left to say.
  draft.wanted = draft.optedOut && wanted !== 'message' ? 'opted_out' : wanted;
}

/** Nothing is being said or prepared on our side. */
export function isIdle({ asked, responseId, playing, voice }: Session): boolean {
  return asked === null && responseId === null && !playing && voice.cut === null;
}

/** Asks for the response that is wanted, as soon as it may be (R1). */
export function askIfPossible(draft: Draft): void {
  const { wanted, connection, asked, responseId, calleeSpeaking, voice, end, connecting } = draft;
  if (wanted === null || connection !== 'up' || end !== null || draft.atMs < draft.wantedFromMs) return;
  if (connecting) return;
  if (asked !== null || responseId !== null || voice.cut !== null) return;
  if (calleeSpeaking && wanted !== 'message') return;
  const extra = instructionsFor(draft, wanted);
  const eventId = `ask_${draft.askedCount + 1}`;
  draft.wanted = null;
  draft.asked = { eventId, wanted, closing: closingOf(draft, wanted) };
  draft.askedCount += 1;
  // Nobody waits for what we say of ourselves.
  if (!answers.includes(wanted)) draft.waiting = null;
  draft.opened = true;
  draft.responseAtMs = draft.atMs;
  const response =
    extra.length === 0
      ? {}
      : { response: { instructions: [draft.plan.prompt.standing, ...extra].join('\n\n') } };
  send(draft, { type: 'response.create', event_id: eventId, ...response });
}

/** What this response is told beyond the standing instructions (R2, R4). */
function instructionsFor({ plan: { prompt }, disclosed, late, opened }: Draft, wanted: Wanted): string[] {
  switch (wanted) {
    case 'opted_out':
      return [prompt.optedOut];
    case 'message':
      return [prompt.message];
    case 'reply':
    case 'still_there':
    case 'none_heard':
    case 'bridge':
    case 'connecting': {
      const begin = disclosed ? [] : [opened ? prompt.openingAgain : prompt.opening];
      const bridge = wanted === 'bridge' ? [prompt.bridge] : [];
      if (late) return [...begin, ...bridge, prompt.outOfTime];
      if (wanted === 'connecting') return [...begin, prompt.connecting];
      if (wanted === 'still_there') return [...begin, prompt.stillThere];
      return [...begin, ...bridge, ...(wanted === 'none_heard' ? [prompt.noneHeard] : [])];
    }
  }
}

export function closingOf({ late }: Session, wanted: Wanted): ConversationEnd | null {
  if (wanted === 'opted_out') return { kind: 'opted_out' };
  if (wanted === 'message') return { kind: 'machine', did: 'leave_message' };
  return late || wanted === 'none_heard' ? { kind: 'finished' } : null;
}

/** Asks again for what was asked for, a little later each time. */
export function askAgain(draft: Draft, code: string): void {
  const wanted = draft.asked?.wanted ?? 'reply';
  draft.asked = null;
  draft.responseId = null;
  draft.failures += 1;
  if (draft.failures >= maxFailures) {
    return finish(draft, { kind: 'failed', note: `the realtime provider failed: ${code}` });
  }
  draft.wantedFromMs = draft.atMs + 250 * 2 ** draft.failures;
  want(draft, wanted);
}

/** Stops what is running and what is playing: somebody else's turn has come. */
export function interrupt(draft: Draft, byServer: boolean): void {
  if (draft.responseId !== null && draft.mutedId !== draft.responseId) {
    draft.mutedId = draft.responseId;
    if (!byServer) send(draft, { type: 'response.cancel' });
  }
  if (draft.plan.media === 'speech') {
    draft.voice = silentVoice;
    return;
  }
  if (draft.voice.cut !== null || (!draft.playing && draft.voice.messages.length === 0)) return;
  draft.voice = cutOff(draft.voice);
  draft.playing = false;
  draft.effects.push({ kind: 'clear' });
}

/** Asks to be told when all that is queued was played. */
export function markEnd(draft: Draft): void {
  draft.marks += 1;
  draft.effects.push({ kind: 'mark', id: draft.marks });
}

// ---- What was heard of us

/** Reports our messages as they were heard, and tells the provider where they were cut (R3). */
export function reportHeard(draft: Draft, heard: readonly HeardMessage[]): void {
  for (const { itemId, text, whole, truncateAtMs } of heard) {
    if (truncateAtMs !== null && draft.connection === 'up') send(draft, truncate(itemId, truncateAtMs));
    draft.order = changeTurn(draft.order, itemId, { text, interrupted: !whole, complete: true });
    noticeDisclosure(draft, text, whole);
  }
}

/** The callee has stopped, and waits for us. `stoppedAtMs` is leg time. */
export function startWaiting(draft: Draft, stoppedAtMs: number): void {
  if (draft.plan.media === 'speech' || draft.machine !== 'none') return;
  draft.waiting = { stoppedAtMs: Math.min(stoppedAtMs, draft.atMs), decidedAtMs: draft.atMs, answer: null };
}

/** The first sound of what answers the callee has come. */
export function answerCame(draft: Draft, itemId: string): void {
  const { waiting } = draft;
  if (waiting?.answer === null) draft.waiting = { ...waiting, answer: { itemId, cameAtMs: draft.atMs } };
}

/** So much of our sound is played when the answer begins to be heard; null when nobody waits for one. */
export function answerFromMs({ waiting, voice }: Session): number | null {
  if (waiting === null || waiting.answer === null || voice.cut !== null) return null;
  const { itemId } = waiting.answer;
  const startMs = voice.messages.find((message) => message.itemId === itemId)?.startMs;
  return startMs === undefined || startMs === null ? null : voice.baseMs + startMs;
}

/** The wait is over, and its length is known. */
export function answerHeard(draft: Draft): void {
  const { waiting } = draft;
  if (waiting === null || waiting.answer === null) return;
  const { stoppedAtMs, decidedAtMs, answer } = waiting;
  const latency = latencyOf({
    stoppedAtMs,
    decidedAtMs,
    modelAtMs: answer.cameAtMs,
    soundAtMs: null,
    playedAtMs: draft.atMs,
  });
  draft.order = changeTurn(draft.order, answer.itemId, { latency });
  draft.waiting = null;
}

/** For whom we call stands last in the first sentence. */
export function noticeDisclosure(draft: Draft, heard: string, whole: boolean): void {
  if (draft.machine !== 'none' || heard.trim() === '') return;
  draft.disclosed ||= whole || heard.toLowerCase().includes(draft.plan.callerName.toLowerCase());
}

/** Our voice is silent again: the moment at which an ending takes place. */
export function fellSilent(draft: Draft): void {
  draft.activeAtMs = draft.atMs;
  if (draft.asked !== null || draft.responseId !== null) return;
  if (draft.ending !== null) finish(draft, draft.ending);
  else beginTransfer(draft);
}

// ---- Somebody else for the callee (R6)

/** Calls whom the callee is to be connected with, when our words were heard. */
export function beginTransfer(draft: Draft): void {
  if (draft.connectTo === null || draft.connecting || draft.end !== null) return;
  draft.connecting = true;
  draft.wanted = null;
  draft.effects.push({ kind: 'transfer', to: draft.connectTo });
}

/** The callee has something to say first: nobody is called unless the model asks again. */
export function forgetTransfer(draft: Draft): void {
  if (draft.connectTo === null || draft.connecting) return;
  draft.connectTo = null;
  if (draft.wanted === 'connecting') draft.wanted = null;
  send(
    draft,
    message(
      'system',
      'The person spoke, so nobody was called. Call transfer_to_human again if it is still wanted.',
    ),
  );
}

export function transferEnded(draft: Draft, outcome: Transferred): void {
  const { connectTo } = draft;
  if (!draft.connecting || connectTo === null || draft.end !== null) return;
  if (outcome.kind === 'failed') {
    draft.connecting = false;
    draft.connectTo = null;
    draft.activeAtMs = draft.atMs;
    if (outcome.why === 'left') return;
    send(draft, message('system', notConnected(outcome.why)));
    return want(draft, 'reply');
  }
  const { speaker: _, offsetMs, ...mark } = transferTurn(connectTo, draft.atMs);
  const key = `transfer_${draft.atMs}`;
  startTurn(draft, { key, speaker: 'bot', offsetMs });
  draft.order = changeTurn(draft.order, key, { ...mark, complete: true });
  finish(draft, { kind: 'transferred', to: connectTo });
}

/** From now on only our goodbye is to be heard. */
export function closeWith(draft: Draft, end: ConversationEnd): void {
  draft.ending = end;
  draft.endingAtMs = draft.atMs;
  if (isIdle(draft)) finish(draft, end);
}

// ---- The connection

/** The connection broke: another one is made, once. */
export function reconnect(draft: Draft, note: string): void {
  if (draft.end !== null) return lastWords(draft);
  const lost = draft.asked;
  draft.asked = null;
  draft.responseId = null;
  draft.mutedId = null;
  draft.calleeSpeaking = false;
  // No words will come of what was said before.
  draft.order = completeHeard(draft.order);
  draft.connection = 'lost';
  if (draft.plan.media === 'speech') draft.voice = silentVoice;
  else {
    draft.voice = orphan(draft.voice);
    if (draft.playing) markEnd(draft);
  }
  if (draft.ending !== null) {
    if (isIdle(draft)) finish(draft, draft.ending);
    return;
  }
  if (draft.reconnections >= maxReconnections) return finish(draft, { kind: 'failed', note });
  draft.reconnections += 1;
  draft.connection = 'connecting';
  draft.connectingSinceMs = draft.atMs;
  if (lost !== null) want(draft, lost.wanted);
  draft.effects.push({ kind: 'connect' });
}

/** The session stands. A new one is told what was said in the old one. */
export function connected(draft: Draft): void {
  if (draft.connection !== 'connecting') return;
  draft.connection = 'up';
  draft.activeAtMs = draft.atMs;
  if (draft.reconnections === 0 || !draft.opened) return;
  for (const { role, text } of draft.history) send(draft, message(role, text));
  want(draft, 'bridge');
}

// ---- Who answered

/** Takes a sign of who answered our call; who called us is no machine. */
export function noticeAnswer(draft: Draft, sign: Sign): void {
  const { direction, grammar } = draft.plan;
  if (direction === 'outbound') draft.answer = nextAnswer(draft.answer, sign, grammar);
}

/** What to do with whoever is on the line. */
export function treatmentNow({ plan, answer }: Draft): ReturnType<typeof treatmentOf> {
  return answer.now === null ? 'talk' : treatmentOf(answer.now, plan);
}

// ---- Turns and the end

export function startTurn(
  draft: Draft,
  turn: Pick<PendingTurn, 'key' | 'speaker'> & { readonly offsetMs: number },
): void {
  const offsetMs = Math.round(Math.max(turn.offsetMs, draft.reportedUntilMs));
  draft.order = beginTurn(draft.order, { ...turn, offsetMs });
}

/** Hands out the turns that are complete. */
export function reportTurns(draft: Draft): void {
  const { turns, order } = takeTurns(draft.order, draft.atMs);
  draft.order = order;
  report(draft, turns);
}

function report(draft: Draft, turns: readonly Turn[]): void {
  for (const turn of turns) {
    const role = turn.speaker === 'bot' ? 'assistant' : 'user';
    draft.history = [...draft.history, { role, text: turn.text } as const].slice(-maxHistory);
    draft.reportedUntilMs = turn.offsetMs;
    draft.effects.push({ kind: 'turn', turn: { ...turn, notes: withNotes(draft.owed, turn.notes) } });
    draft.owed = [];
  }
}

/** The line is dead: how far we were heard is known at once. */
export function fallSilentAt(draft: Draft, playedMs: number): void {
  const { voice, heard } = wasCut(draft.voice.cut === null ? cutOff(draft.voice) : draft.voice, playedMs);
  draft.voice = voice;
  draft.playing = false;
  reportHeard(draft, heard);
}

/** Decides how it ended. How far we were heard, and the callee's last words, may still come. */
export function finish(draft: Draft, end: ConversationEnd): void {
  if (draft.end !== null) return;
  draft.end = end;
  draft.wanted = null;
  interrupt(draft, false);
  if (awaitsWords(draft)) draft.effects.push({ kind: 'await_words' });
  else lastWords(draft);
}

export function awaitsWords({ voice, connection, order }: Session): boolean {
  if (voice.cut !== null) return true;
  return (
    connection === 'up' &&
    order.some(({ speaker, complete, text }) => speaker !== 'bot' && !complete && text === '')
  );
}

/** Ends with what is known. Safe to repeat. */
export function lastWords(draft: Draft): void {
  if (draft.end === null || draft.over) return;
  draft.over = true;
  report(draft, takeAllTurns(draft.order));
  draft.order = [];
  draft.effects.push({ kind: 'end', end: draft.end });
}
