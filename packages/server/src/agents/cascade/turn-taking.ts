/**
 * Who has the floor: the turn-taking of a call as a pure state machine.
 *
 *   idle ──speak──▶ speaking ──voice──▶ hearing (we hold our sentence) ⇄ settling ──no words──▶ speaking (resumed)
 *     ▲                │ spoken            │  ▲                             │
 *     └────────────────┘                   └──┘ words: we yield ────────────┴──pause long enough──▶ idle (delivered)
 *
 * T1  A voice stops us at once; only words take the floor from us. What has no words (a cough, a door) lets us go
 *     on from the sentence that was cut.
 * T2  A turn of the callee ends when all its segments are transcribed, they have words, and the pause was as long
 *     as the words ask for.
 * T3  A turn ends after `maxTurnMs`, however long the callee goes on.
 * T4  What was delivered is never taken back.
 * T5  A sound that had no words for as long as a segment is a noise: nobody waits for its end.
 */
import { pauseAfterKeysMs, pauseAfterMs } from './end-of-turn.ts';
import { maxSegmentMs } from './ports.ts';

/** What the callee is saying. */
export interface Saying {
  readonly text: string;
  readonly startedAtMs: number;
  /** End of its last segment, or the time of its last key. */
  readonly endedAtMs: number;
  /** Segments that are being transcribed. */
  readonly pending: number;
  /** Its text ends with keys. */
  readonly keys: boolean;
  /** It went on for the length of a segment before it had any words. */
  readonly noise: boolean;
}

export type Floor =
  | { readonly kind: 'idle' }
  | { readonly kind: 'speaking' }
  /** A voice is on. `holding`: our own speech waits to see what this is. */
  | { readonly kind: 'hearing'; readonly saying: Saying; readonly holding: boolean }
  /** The voice has paused: words are awaited, or more of them. */
  | { readonly kind: 'settling'; readonly saying: Saying; readonly holding: boolean }
  | { readonly kind: 'over' };

export type FloorEvent =
  /** We want to speak. */
  | { readonly kind: 'speak' }
  /** All that we had to say was played. */
  | { readonly kind: 'spoken' }
  | { readonly kind: 'voice_began'; readonly atMs: number }
  | { readonly kind: 'voice_paused'; readonly atMs: number }
  /** The voice goes on, but the segment is as long as a segment may be. */
  | { readonly kind: 'segment_full'; readonly atMs: number }
  /** The words of the oldest pending segment; empty when it had none. */
  | { readonly kind: 'words'; readonly text: string; readonly atMs: number }
  | { readonly kind: 'key'; readonly key: string; readonly atMs: number }
  | { readonly kind: 'beep' }
  /** The awaited pause is over. */
  | { readonly kind: 'pause_over' }
  | { readonly kind: 'over' };

export type FloorEffect =
  /** Stop playing, and remember where. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'resume' }
  /** Give up what we were saying. */
  | { readonly kind: 'yield' }
  | { readonly kind: 'begin_segment' }
  | { readonly kind: 'end_segment' }
  /** Tell `pause_over` after this long; replaces an earlier wait. */
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'stop_waiting' }
  | { readonly kind: 'deliver'; readonly saying: Saying };

export interface Move {
  readonly floor: Floor;
  readonly effects: readonly FloorEffect[];
}

const maxTurnMs = 60_000;
const maxTextLength = 2_000;

export const idle: Floor = { kind: 'idle' };
const speaking: Floor = { kind: 'speaking' };
const over: Floor = { kind: 'over' };

/** `language` is that of the callee: ISO 639. An event that means nothing in a state leaves it as it is. */
export function nextFloor(floor: Floor, event: FloorEvent, language: string): Move {
  switch (event.kind) {
    case 'over':
      return end(floor);
    case 'speak':
      return speak(floor);
    case 'spoken':
      return floor.kind === 'speaking' ? move(idle) : stay(floor);
    case 'beep':
      return floor.kind === 'over'
        ? stay(floor)
        : move(idle, ...(ours(floor) ? [effect.yield] : []), effect.stopWaiting);
    case 'voice_began':
      return voiceBegan(floor, event.atMs);
    case 'voice_paused':
      return floor.kind === 'hearing' ? endSegment(floor, event.atMs, 'settling') : stay(floor);
    case 'segment_full':
      return floor.kind === 'hearing' ? endSegment(floor, event.atMs, 'hearing') : stay(floor);
    case 'words':
      return words(floor, event.text, event.atMs, language);
    case 'key':
      return key(floor, event.key, event.atMs);
    case 'pause_over':
      return floor.kind === 'settling' && floor.saying.text !== '' ? deliver(floor.saying) : stay(floor);
  }
}

/** Whether the callee is speaking, as far as we know. */
export function isSpoken(floor: Floor): boolean {
  if (!isCallees(floor)) return false;
  const { noise, text, pending } = floor.saying;
  return !noise || text !== '' || pending > 0;
}

const effect = {
  hold: { kind: 'hold' },
  resume: { kind: 'resume' },
  yield: { kind: 'yield' },
  beginSegment: { kind: 'begin_segment' },
  endSegment: { kind: 'end_segment' },
  stopWaiting: { kind: 'stop_waiting' },
} as const satisfies Record<string, FloorEffect>;

function move(floor: Floor, ...effects: FloorEffect[]): Move {
  return { floor, effects };
}

function stay(floor: Floor): Move {
  return { floor, effects: [] };
}

function ours(floor: Floor): boolean {
  return floor.kind === 'speaking' || (isCallees(floor) && floor.holding);
}

type CalleesFloor = Extract<Floor, { kind: 'hearing' | 'settling' }>;

function isCallees(floor: Floor): floor is CalleesFloor {
  return floor.kind === 'hearing' || floor.kind === 'settling';
}

/** Whoever is cut off in the middle of a turn has said what they have said. */
function end(floor: Floor): Move {
  const effects = [...(ours(floor) ? [effect.yield] : []), effect.stopWaiting];
  const words = isCallees(floor) && floor.saying.text !== '';
  return words ? move(over, ...effects, { kind: 'deliver', saying: floor.saying }) : move(over, ...effects);
}

function speak(floor: Floor): Move {
  if (floor.kind === 'idle') return move(speaking);
  if (!isCallees(floor)) return stay(floor);
  // The callee was first: with words, or with a sound of which we do not know yet whether it is one.
  return floor.saying.text === ''
    ? move({ ...floor, holding: true }, effect.hold)
    : move(floor, effect.yield);
}

function voiceBegan(floor: Floor, atMs: number): Move {
  switch (floor.kind) {
    case 'idle':
      return move({ kind: 'hearing', saying: begun(atMs), holding: false }, effect.beginSegment);
    case 'speaking':
      return move({ kind: 'hearing', saying: begun(atMs), holding: true }, effect.hold, effect.beginSegment);
    case 'settling':
      return move({ ...floor, kind: 'hearing' }, effect.stopWaiting, effect.beginSegment);
    case 'hearing':
    case 'over':
      return stay(floor);
  }
}

function begun(atMs: number): Saying {
  return { text: '', startedAtMs: atMs, endedAtMs: atMs, pending: 0, keys: false, noise: false };
}

function endSegment(floor: CalleesFloor, atMs: number, next: 'hearing' | 'settling'): Move {
  const saying = { ...floor.saying, endedAtMs: atMs, pending: floor.saying.pending + 1 };
  const effects = next === 'hearing' ? [effect.endSegment, effect.beginSegment] : [effect.endSegment];
  return move({ ...floor, kind: next, saying }, ...effects);
}

function words(floor: Floor, heard: string, atMs: number, language: string): Move {
  // Of a turn that is over already: delivered, or given up for a beep.
  if (!isCallees(floor) || floor.saying.pending === 0) return stay(floor);
  const { saying } = floor;
  const text = [saying.text, heard.trim()].filter((part) => part !== '').join(' ');
  const keys = saying.keys && text === saying.text;
  const now = { ...saying, text: text.slice(0, maxTextLength), pending: saying.pending - 1, keys };
  if (now.text === '')
    return now.pending === 0 ? withoutWords(floor, now, atMs) : move({ ...floor, saying: now });
  const yielded = floor.holding ? [effect.yield] : [];
  const next: CalleesFloor = { ...floor, saying: now, holding: false };
  if (atMs - now.startedAtMs >= maxTurnMs) {
    const delivered = deliver(now);
    return move(delivered.floor, ...yielded, ...delivered.effects);
  }
  if (next.kind === 'hearing' || now.pending > 0) return move(next, ...yielded);
  const ms = Math.max(0, pauseAfterMs(now.text, language) - (atMs - now.endedAtMs));
  return move(next, ...yielded, { kind: 'wait', ms });
}

/** It was no speech. A noise that goes on is not waited for either. */
function withoutWords(floor: CalleesFloor, saying: Saying, atMs: number): Move {
  if (floor.holding) return move(speaking, effect.resume);
  if (floor.kind === 'settling') return move(idle);
  return move({ ...floor, saying: { ...saying, noise: atMs - saying.startedAtMs >= maxSegmentMs } });
}

/**
 * Keys are words of their own, `[42#]`, with a longer pause between them. What sounds beside them are their tones.
 */
function key(floor: Floor, pressed: string, atMs: number): Move {
  if (floor.kind === 'over') return stay(floor);
  const before = isCallees(floor) ? floor.saying : begun(atMs);
  const glue = before.text === '' ? '' : ' ';
  const text = before.keys ? `${before.text.slice(0, -1)}${pressed}]` : `${before.text}${glue}[${pressed}]`;
  const saying = { ...before, text: text.slice(0, maxTextLength), endedAtMs: atMs, pending: 0, keys: true };
  return move({ kind: 'settling', saying, holding: false }, ...(ours(floor) ? [effect.yield] : []), {
    kind: 'wait',
    ms: pauseAfterKeysMs,
  });
}

function deliver(saying: Saying): Move {
  return move(idle, effect.stopWaiting, { kind: 'deliver', saying });
}
