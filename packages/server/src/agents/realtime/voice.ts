/**
 * What we sent to the line and what of it was heard. Pure.
 *
 * The provider sends sound faster than it is played. Every message has its place in what was queued since the
 * queue was last dropped; how much was really played says which of them was heard, and how far.
 */
import { heardOf } from '../audio/sentences.ts';

/** One of the model's messages on its way to the ear. */
export interface Message {
  readonly itemId: string;
  readonly responseId: string;
  /** The words that have come so far. */
  readonly text: string;
  /** Where its sound begins in what was queued, milliseconds; null before its first sound. */
  readonly startMs: number | null;
  readonly receivedMs: number;
  /** Nothing more of it will come. */
  readonly done: boolean;
  /** It comes from a session that is over, where nobody can truncate it any more. */
  readonly orphaned: boolean;
}

export interface Voice {
  /** Oldest first. */
  readonly messages: readonly Message[];
  /** Queued since the queue was last empty, milliseconds. */
  readonly queuedMs: number;
  /** What was played on the leg before that, milliseconds. */
  readonly baseMs: number;
  /** What was in the queue that is being dropped, until it is known how far it was played. */
  readonly cut: readonly Message[] | null;
}

export interface HeardMessage {
  readonly itemId: string;
  /** The words up to where it was cut. */
  readonly text: string;
  readonly whole: boolean;
  /** Where the provider must cut it, whole milliseconds; null when it needs not. */
  readonly truncateAtMs: number | null;
}

/** So long a character takes at least; words come ahead of their sound. */
const msPerCharacter = 55;

export const silentVoice: Voice = { messages: [], queuedMs: 0, baseMs: 0, cut: null };

type Ids = Pick<Message, 'itemId' | 'responseId'>;

export function queueSound(voice: Voice, ids: Ids, ms: number): Voice {
  const known = withMessage(voice, ids);
  return {
    ...change(known, ids.itemId, ({ startMs, receivedMs }) => ({
      startMs: startMs ?? known.queuedMs,
      receivedMs: receivedMs + ms,
    })),
    queuedMs: known.queuedMs + ms,
  };
}

export function addWords(voice: Voice, ids: Ids, words: string): Voice {
  return change(withMessage(voice, ids), ids.itemId, ({ text }) => ({ text: text + words }));
}

export function setWords(voice: Voice, ids: Ids, text: string): Voice {
  return change(withMessage(voice, ids), ids.itemId, () => ({ text }));
}

/** Nothing more will come of a response. */
export function finishResponse(voice: Voice, responseId: string): Voice {
  const messages = voice.messages.map((message) =>
    message.responseId === responseId ? { ...message, done: true } : message,
  );
  return { ...voice, messages };
}

/** The session is over: what has come of its responses is all that will. */
export function orphan(voice: Voice): Voice {
  const messages = voice.messages.map((message) => ({ ...message, done: true, orphaned: true }));
  return { ...voice, messages };
}

/** Everything was played. */
export function playedOut(voice: Voice): { voice: Voice; heard: readonly HeardMessage[] } {
  const over = voice.messages.filter(({ done }) => done);
  const heard = over.map(({ itemId, text }) => ({ itemId, text, whole: true, truncateAtMs: null }));
  return { voice: { ...voice, messages: voice.messages.filter(({ done }) => !done) }, heard };
}

/** The queue is being dropped; what is queued from now on comes behind. */
export function cutOff(voice: Voice): Voice {
  return { ...voice, messages: [], queuedMs: 0, cut: voice.messages };
}

/** The queue is empty, and so much has been played on the leg, not all of it ours. */
export function restart(voice: Voice, playedMs: number): Voice {
  return { ...voice, queuedMs: 0, baseMs: playedMs };
}

/** The queue was dropped when so much had been played on the leg. */
export function wasCut(voice: Voice, playedMs: number): { voice: Voice; heard: readonly HeardMessage[] } {
  const heard = (voice.cut ?? []).map((message) => heardOfMessage(message, playedMs - voice.baseMs));
  return { voice: { ...voice, baseMs: playedMs, cut: null }, heard };
}

/** Truncating at what was received changes nothing, and beyond it is an error. */
function heardOfMessage(message: Message, playedMs: number): HeardMessage {
  const { itemId, text, startMs, receivedMs, done, orphaned } = message;
  const heardMs = startMs === null ? 0 : Math.min(Math.max(0, playedMs - startMs), receivedMs);
  const whole = done && heardMs >= receivedMs;
  const lengthMs = done ? receivedMs : Math.max(receivedMs, text.length * msPerCharacter);
  return {
    itemId,
    text: whole ? text : heardOf(text, lengthMs === 0 ? 0 : Math.min(heardMs / lengthMs, 0.999)),
    whole,
    truncateAtMs: orphaned || Math.floor(heardMs) >= Math.floor(receivedMs) ? null : Math.floor(heardMs),
  };
}

function withMessage(voice: Voice, ids: Ids): Voice {
  if (voice.messages.some(({ itemId }) => itemId === ids.itemId)) return voice;
  const { itemId, responseId } = ids;
  const message: Message = {
    itemId,
    responseId,
    text: '',
    startMs: null,
    receivedMs: 0,
    done: false,
    orphaned: false,
  };
  return { ...voice, messages: [...voice.messages, message] };
}

function change(voice: Voice, itemId: string, to: (message: Message) => Partial<Message>): Voice {
  const messages = voice.messages.map((message) =>
    message.itemId === itemId ? { ...message, ...to(message) } : message,
  );
  return { ...voice, messages };
}
