/** The one way from a state of a conversation to the next: every event, and what it does. See `session.ts`. */
import type { Transferred } from '../../carriers/carrier.ts';
import * as callee from './callee.ts';
import { message } from './client-events.ts';
import type { ServerEvent } from './server-events.ts';
import {
  answerCame,
  answerHeard,
  askAgain,
  askIfPossible,
  awaitsWords,
  closingOf,
  connected,
  fallSilentAt,
  fellSilent,
  finish,
  lastWords,
  noticeDisclosure,
  reconnect,
  reportHeard,
  reportTurns,
  send,
  startTurn,
  transferEnded,
  unknownResponse,
  want,
} from './moves.ts';
import type { Draft, Effect, Plan, Session } from './session.ts';
import { fireTimers } from './timers.ts';
import { correctHistory, noteOptOut, responseDone } from './tool-use.ts';
import { changeTurn } from './turn-order.ts';
import { addWords, orphan, playedOut, queueSound, restart, setWords, wasCut } from './voice.ts';

/** What a session of the server is about, with what was played and heard by then. */
export type SessionEvent =
  | {
      readonly kind: 'server';
      readonly event: Exclude<
        ServerEvent,
        { kind: 'speech_started' | 'session_created' | 'session_updated' }
      >;
      readonly playedMs: number;
      /** Leg time of the callee's last sound. */
      readonly lastSoundAtMs: number;
    }
  /** The session's settings are in force. */
  | { readonly kind: 'connected' }
  | { readonly kind: 'refused'; readonly note: string; readonly worthAnotherTry: boolean }
  | { readonly kind: 'lost'; readonly note: string }
  /** The server ends the session at this leg time. */
  | { readonly kind: 'expires'; readonly legMs: number }
  | { readonly kind: 'played_out'; readonly mark: number }
  /** The first sound of our answer is on the line. */
  | { readonly kind: 'answer_heard' }
  | { readonly kind: 'cleared'; readonly playedMs: number }
  /** The line takes no more sound. */
  | { readonly kind: 'line_full' }
  | { readonly kind: 'speech_started'; readonly itemId: string; readonly startedAtMs: number | null }
  | {
      readonly kind: 'we_said';
      readonly itemIds: readonly string[];
      readonly heard: string;
      readonly startedAtMs: number;
      readonly interrupted: boolean;
    }
  | {
      readonly kind: 'callee_said';
      readonly text: string;
      readonly startedAtMs: number;
      readonly endedAtMs: number;
    }
  | { readonly kind: 'transfer_ended'; readonly outcome: Transferred }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'beep' | 'information_tone' }
  | { readonly kind: 'left'; readonly playedMs: number }
  | { readonly kind: 'aborted'; readonly playedMs: number }
  /** No more words are awaited. */
  | { readonly kind: 'give_up' }
  | { readonly kind: 'time' };

export interface Step {
  readonly session: Session;
  readonly effects: readonly Effect[];
}

/** How long before the server's end of the session we wrap up, milliseconds. */
const beforeExpiryMs = 30_000;
/** One byte of G.711 is a sample of 8,000 a second. */
const bytesPerMs = 8;

/** `atMs` is leg time. Never throws. */
export function nextSession(plan: Plan, session: Session, event: SessionEvent, atMs: number): Step {
  if (session.over) return { session, effects: [] };
  const draft: Draft = { ...session, plan, atMs, effects: [] };
  take(draft, event);
  fireTimers(draft);
  const { by } = draft.answer;
  if (by !== null && by !== session.answer.by) draft.effects.push({ kind: 'answered_by', who: by });
  reportTurns(draft);
  askIfPossible(draft);
  if (draft.end !== null && !awaitsWords(draft)) lastWords(draft);
  const { plan: _plan, atMs: _atMs, effects, ...next } = draft;
  return { session: next, effects };
}

function take(draft: Draft, event: SessionEvent): void {
  switch (event.kind) {
    case 'server':
      return fromServer(draft, event);
    case 'answer_heard':
      return answerHeard(draft);
    case 'connected':
      return connected(draft);
    case 'refused':
      if (event.worthAnotherTry) return reconnect(draft, event.note);
      return finish(draft, { kind: 'failed', note: event.note });
    case 'lost':
      return reconnect(draft, event.note);
    case 'expires':
      draft.wrapUpAtMs = Math.min(draft.wrapUpAtMs, event.legMs - beforeExpiryMs);
      return;
    case 'played_out':
      return event.mark === draft.marks ? wePlayedAll(draft) : undefined;
    case 'cleared': {
      const { voice, heard } = wasCut(draft.voice, event.playedMs);
      draft.voice = voice;
      reportHeard(draft, heard);
      // A server that answers by itself does not ask us what to say.
      if (draft.plan.answersByItself && !draft.disclosed)
        send(draft, message('system', draft.plan.prompt.openingAgain));
      return fellSilentUnlessCalleeSpeaks(draft);
    }
    case 'line_full':
      if (draft.responseId === null || draft.mutedId === draft.responseId) return;
      draft.mutedId = draft.responseId;
      return send(draft, { type: 'response.cancel' });
    case 'speech_started':
      return callee.speechStarted(draft, event.itemId, event.startedAtMs);
    case 'we_said':
      return weSaid(draft, event);
    case 'callee_said':
      return callee.said(draft, event);
    case 'transfer_ended':
      return transferEnded(draft, event.outcome);
    case 'key':
      return callee.keyPressed(draft, event.key);
    case 'beep':
    case 'information_tone':
      return callee.sounded(draft, event.kind);
    case 'left':
      return callee.left(draft, event.playedMs);
    case 'aborted':
      fallSilentAt(draft, event.playedMs);
      finish(draft, { kind: 'failed', note: 'aborted' });
      return lastWords(draft);
    case 'give_up':
      return lastWords(draft);
    case 'time':
  }
}

type Told = Extract<SessionEvent, { kind: 'server' }>;

function fromServer(draft: Draft, { event, playedMs, lastSoundAtMs }: Told): void {
  switch (event.kind) {
    case 'speech_stopped':
      return callee.speechStopped(draft, event.itemId, lastSoundAtMs);
    case 'committed':
      return callee.tookTurn(draft, event.itemId, lastSoundAtMs);
    case 'transcribed':
      return callee.writtenDown(draft, event.itemId, event.text);
    case 'response_created':
      return responseCreated(draft, event.responseId);
    case 'audio':
      return sound(draft, event, playedMs);
    case 'words':
    case 'all_words':
      return words(draft, event);
    case 'tool_called':
      if (event.responseId === draft.responseId) draft.calls = [...draft.calls, event.call];
      // It protects a person, and waits for nothing.
      if (event.call.name === 'opt_out') noteOptOut(draft);
      return;
    case 'response_done':
      return responseDone(draft, event);
    case 'error':
      return failed(draft, event.code, event.causedBy);
  }
}

function responseCreated(draft: Draft, responseId: string): void {
  draft.responseId = responseId;
  draft.responseAtMs = draft.atMs;
  draft.calls = [];
  if (draft.asked === null) {
    // The server answers by itself.
    draft.asked = { eventId: '', wanted: 'reply', closing: closingOf(draft, 'reply') };
    if (draft.wanted === 'reply') draft.wanted = null;
  }
  draft.opened = true;
  // It was asked for just before the callee began to speak, or time was up.
  const talkedOver = draft.calleeSpeaking && draft.machine !== 'leaving_message';
  const tooLate = draft.late && draft.asked.closing === null;
  if (!talkedOver && !tooLate && !draft.connecting) return;
  draft.mutedId = responseId;
  send(draft, { type: 'response.cancel' });
}

function sound(draft: Draft, event: Extract<ServerEvent, { kind: 'audio' }>, playedMs: number): void {
  draft.responseAtMs = draft.atMs;
  if (event.responseId === draft.mutedId || event.audio.length === 0) return;
  const { voice, playing } = draft;
  // Others play on the line as well while we are silent, such as the ringing of a transfer.
  const base = playing || voice.cut !== null ? voice : restart(voice, playedMs);
  const waitingMs = base.cut === null ? Math.max(0, base.baseMs + base.queuedMs - playedMs) : 0;
  const lastsMs = event.audio.length / bytesPerMs;
  startTurn(draft, { key: event.itemId, speaker: 'bot', offsetMs: draft.atMs + waitingMs });
  draft.voice = queueSound(base, event, lastsMs);
  draft.playedOutAtMs = draft.atMs + waitingMs + lastsMs;
  draft.playing = draft.voiceCame = true;
  answerCame(draft, event.itemId);
  draft.effects.push({ kind: 'play', audio: event.audio });
}

function words(draft: Draft, event: Extract<ServerEvent, { kind: 'words' | 'all_words' }>): void {
  draft.responseAtMs = draft.atMs;
  if (event.responseId === draft.mutedId) return;
  draft.voiceCame = true;
  draft.voice = (event.kind === 'words' ? addWords : setWords)(draft.voice, event, event.text);
}

/** What the provider says went wrong ends a session only when it can not go on. */
const fatal = /^(insufficient_quota|account_deactivated|model_not_found)$/;

function failed(draft: Draft, code: string, causedBy: string | null): void {
  const refusedSession = draft.connection === 'connecting' && code !== 'session_expired';
  if (refusedSession || fatal.test(code)) {
    return finish(draft, { kind: 'failed', note: `the realtime provider refused the session: ${code}` });
  }
  if (code === 'session_expired') return reconnect(draft, 'the realtime session expired');
  if (draft.asked === null || causedBy !== draft.asked.eventId) return;
  if (code !== 'conversation_already_has_active_response') return askAgain(draft, code);
  // The server began one by itself; ours comes behind it, unless that one answers what was said.
  const { wanted } = draft.asked;
  draft.asked = null;
  draft.responseId ??= unknownResponse;
  if (wanted !== 'reply') want(draft, wanted);
}

function wePlayedAll(draft: Draft): void {
  // Without a response under way nothing more will come, whatever the server has left open.
  const { voice, heard } = playedOut(draft.responseId === null ? orphan(draft.voice) : draft.voice);
  draft.voice = voice;
  draft.playing = voice.messages.some(({ receivedMs }) => receivedMs > 0);
  reportHeard(draft, heard);
  if (!draft.playing) fellSilent(draft);
}

function fellSilentUnlessCalleeSpeaks(draft: Draft): void {
  if (!draft.calleeSpeaking && draft.keys === '' && draft.wanted === null) fellSilent(draft);
}

function weSaid(draft: Draft, event: Extract<SessionEvent, { kind: 'we_said' }>): void {
  const { itemIds, heard, startedAtMs, interrupted } = event;
  const key = `we_${startedAtMs}_${itemIds[0] ?? ''}`;
  startTurn(draft, { key, speaker: 'bot', offsetMs: startedAtMs });
  draft.order = changeTurn(draft.order, key, { text: heard, interrupted, complete: true });
  noticeDisclosure(draft, heard, !interrupted);
  draft.playing = false;
  if (interrupted) correctHistory(draft, itemIds, heard);
  if (!interrupted) fellSilent(draft);
}
