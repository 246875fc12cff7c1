/** When time alone does something to a conversation. The rules behind `session.ts`. */
import { keyPauseMs, keysEntered, leaveMessage } from './callee.ts';
import { message } from './client-events.ts';
import { connectTimeoutMs } from './link.ts';
import { listenFirstMs, openAtMs } from '../who-answered.ts';
import { finish, interrupt, isIdle, noticeAnswer, reconnect, send, want } from './moves.ts';
import type { Draft, Plan, Session } from './session.ts';
import { endTurn } from './turn-order.ts';

/** The first sound of the model, or the next sign of it. */
const responseTimeoutMs = 10_000;
const silenceMs = 8_000;
/** Menus take their time to go on. */
const menuSilenceMs = 20_000;
/** From the last sound of the greeting. */
const beepTimeoutMs = 15_000;
const maxGreetingMs = 60_000;
/** Nobody speaks for so long without a pause: music, or a noise that is taken for a voice. */
const maxVoiceMs = 40_000;
/** From the wrap-up on a voice may go on for so long before we speak all the same. */
const maxLateVoiceMs = 8_000;
const endingTimeoutMs = 15_000;

interface Timer {
  readonly dueAtMs: number;
  readonly fire: (draft: Draft) => void;
}

/** Leg time at which to look again; null when nothing is awaited but the others. */
export function nextDueMs(plan: Plan, session: Session): number | null {
  const due = timers(plan, session).map(({ dueAtMs }) => dueAtMs);
  return due.length === 0 ? null : Math.min(...due);
}

/** Does what time has come for. */
export function fireTimers(draft: Draft): void {
  const due = timers(draft.plan, draft).filter(({ dueAtMs }) => dueAtMs <= draft.atMs);
  for (const { fire } of due) {
    if (draft.end === null) fire(draft);
  }
}

function timers(plan: Plan, session: Session): Timer[] {
  if (session.end !== null) return [];
  return [
    ...connectionTimers(session),
    ...responseTimers(session),
    ...silenceTimers(plan, session),
    ...voiceTimers(session),
    ...machineTimers(session),
    ...wrapUpTimers(plan, session),
    ...session.order
      .slice(0, 1)
      .flatMap(({ dueAtMs }) => (dueAtMs === null ? [] : [{ dueAtMs, fire: () => undefined }])),
    ...(session.keys === '' ? [] : [{ dueAtMs: session.keysAtMs + keyPauseMs, fire: keysEntered }]),
  ];
}

function connectionTimers({ connection, connectingSinceMs }: Session): Timer[] {
  if (connection !== 'connecting') return [];
  const note = 'the realtime provider did not begin a session in time';
  return [
    {
      dueAtMs: connectingSinceMs + connectTimeoutMs,
      fire: (draft) => finish(draft, { kind: 'failed', note }),
    },
  ];
}

function responseTimers(session: Session): Timer[] {
  const { asked, responseId, responseAtMs, voiceCame, connection, wanted, wantedFromMs } = session;
  if (connection !== 'up') return [];
  if (asked === null && responseId === null) {
    const waits = wanted !== null && !session.calleeSpeaking && session.voice.cut === null;
    return waits ? [{ dueAtMs: wantedFromMs, fire: () => undefined }] : [];
  }
  const note = 'the realtime provider did not answer in time';
  return [
    {
      dueAtMs: responseAtMs + responseTimeoutMs,
      fire: (draft) => (voiceCame ? reconnect(draft, note) : finish(draft, { kind: 'failed', note })),
    },
  ];
}

function silenceTimers({ direction }: Plan, session: Session): Timer[] {
  const { connection, calleeSpeaking, wanted, ending, machine, opened, activeAtMs, pressed, keys } = session;
  const quiet = !calleeSpeaking && !session.connecting;
  const waiting = connection === 'up' && isIdle(session) && quiet && wanted === null;
  if (!waiting || ending !== null || machine !== 'none' || keys !== '') return [];
  if (!opened) {
    return [{ dueAtMs: Math.max(openAtMs[direction], activeAtMs + listenFirstMs), fire: open }];
  }
  return [{ dueAtMs: activeAtMs + (pressed > 0 ? menuSilenceMs : silenceMs), fire: fellStill }];
}

/** Nobody speaks first: we do. */
function open(draft: Draft): void {
  noticeAnswer(draft, { kind: 'silence' });
  want(draft, 'reply');
}

function fellStill(draft: Draft): void {
  draft.silences += 1;
  want(draft, draft.silences > 1 ? 'none_heard' : 'still_there');
}

function voiceTimers(session: Session): Timer[] {
  const { calleeSpeaking, speakingSinceMs, machine, ending, connecting, late, wrapUpAtMs } = session;
  if (!calleeSpeaking || machine !== 'none' || ending !== null || connecting) return [];
  const lateMs = late ? Math.max(speakingSinceMs, wrapUpAtMs) + maxLateVoiceMs : Infinity;
  return [{ dueAtMs: Math.min(speakingSinceMs + maxVoiceMs, lateMs), fire: speakOver }];
}

/** A voice without an end counts as silence. */
function speakOver(draft: Draft): void {
  draft.calleeSpeaking = false;
  if (draft.lastCallee !== null) draft.order = endTurn(draft.order, draft.lastCallee, draft.atMs);
  if (!draft.opened) want(draft, 'reply');
  else if (draft.wanted === null) fellStill(draft);
}

function machineTimers(session: Session): Timer[] {
  const { machine, ending, endingAtMs, playing, playedOutAtMs } = session;
  // Sound comes faster than it is played; the line is left when our last words were heard, or should have been.
  const spokenAtMs = playing ? Math.max(endingAtMs, playedOutAtMs) : endingAtMs;
  return [
    ...(machine === 'awaiting_beep' ? [{ dueAtMs: noBeepAtMs(session), fire: leaveMessage }] : []),
    ...(ending === null
      ? []
      : [{ dueAtMs: spokenAtMs + endingTimeoutMs, fire: (draft: Draft) => finish(draft, ending) }]),
  ];
}

/** When no beep is awaited any more: some time behind the greeting, and early enough to say something. */
function noBeepAtMs({ machineAtMs, calleeSpeaking, activeAtMs, wrapUpAtMs }: Session): number {
  const soonestAtMs = machineAtMs + beepTimeoutMs;
  const latestAtMs = Math.min(machineAtMs + maxGreetingMs, Math.max(soonestAtMs, wrapUpAtMs));
  return calleeSpeaking
    ? latestAtMs
    : Math.min(latestAtMs, Math.max(machineAtMs, activeAtMs) + beepTimeoutMs);
}

function wrapUpTimers({ answersByItself, prompt }: Plan, session: Session): Timer[] {
  const { late, wrapUpAtMs } = session;
  if (late) return [];
  return [
    {
      dueAtMs: wrapUpAtMs,
      fire(draft) {
        draft.late = true;
        if (answersByItself) send(draft, message('system', prompt.outOfTime));
        if (!draft.opened || draft.ending !== null || draft.machine !== 'none' || draft.playing) return;
        if (draft.connecting) return;
        draft.connectTo = null;
        // What was asked for before is not said any more.
        interrupt(draft, false);
        want(draft, 'reply');
      },
    },
  ];
}
