/**
 * Turns in the order of their beginning, although what the callee said is written down later than what we answered
 * to it. Turns come out at the head as soon as they are complete; one that is not complete in time comes out as it
 * is, or not at all when nothing of it is known.
 */
import type { TurnLatency } from '@trunkcall/contract';
import type { Note, Turn } from '../agent.ts';
import { hasOptedOut } from '../notes.ts';

/** How long the words of a turn may be awaited after it was over, milliseconds. */
const patienceMs = 8_000;
/** A wish that must be kept, though its words are missing. */
const unheardWish = '(asked not to be called again)';
/** What the model noted, though the words that it was noted of are missing. */
const unheardWords = '(the words could not be written down)';
/** More turns than these do not wait; the oldest goes out. */
const maxWaiting = 100;

export interface PendingTurn {
  readonly key: string;
  readonly speaker: 'bot' | 'user' | 'unknown';
  readonly offsetMs: number;
  readonly text: string;
  readonly interrupted: boolean;
  readonly notes: readonly Note[];
  readonly latency: TurnLatency | null;
  /** Nothing more will be known of it. */
  readonly complete: boolean;
  /** Leg time from which it no longer holds up those behind it; null while it is going on. */
  readonly dueAtMs: number | null;
}

export type TurnOrder = readonly PendingTurn[];

/** Adds a turn that begins. */
export function beginTurn(
  order: TurnOrder,
  turn: Pick<PendingTurn, 'key' | 'speaker' | 'offsetMs'>,
): TurnOrder {
  if (order.some(({ key }) => key === turn.key)) return order;
  const pending: PendingTurn = {
    ...turn,
    text: '',
    interrupted: false,
    notes: [],
    latency: null,
    complete: false,
    dueAtMs: null,
  };
  const behind = order.findIndex(({ offsetMs }) => offsetMs > turn.offsetMs);
  return order.toSpliced(behind === -1 ? order.length : behind, 0, pending);
}

export function changeTurn(
  order: TurnOrder,
  key: string,
  change: Partial<Omit<PendingTurn, 'key'>>,
): TurnOrder {
  return order.map((turn) => (turn.key === key ? { ...turn, ...change } : turn));
}

/** The turn is over; its words may still be missing. */
export function endTurn(order: TurnOrder, key: string, atMs: number): TurnOrder {
  return order.map((turn) =>
    turn.key === key && turn.dueAtMs === null ? { ...turn, dueAtMs: atMs + patienceMs } : turn,
  );
}

/** Nothing more will be known of the callee's turns, or of some of them. */
export function completeHeard(
  order: TurnOrder,
  which: (turn: PendingTurn) => boolean = () => true,
): TurnOrder {
  return order.map((turn) => (turn.speaker !== 'bot' && which(turn) ? { ...turn, complete: true } : turn));
}

/** Takes out what can be reported at a leg time. */
export function takeTurns(order: TurnOrder, atMs: number): { turns: readonly Turn[]; order: TurnOrder } {
  let count = 0;
  while (count < order.length && goesOut(order, count, atMs)) count += 1;
  if (count === 0) return { turns: [], order };
  return { turns: order.slice(0, count).flatMap(turnOf), order: order.slice(count) };
}

/** Takes out everything. */
export function takeAllTurns(order: TurnOrder): readonly Turn[] {
  return order.flatMap(turnOf);
}

function goesOut(order: TurnOrder, index: number, atMs: number): boolean {
  const turn = order[index];
  if (turn === undefined) return false;
  return (
    turn.complete || (turn.dueAtMs !== null && atMs >= turn.dueAtMs) || order.length - index > maxWaiting
  );
}

function turnOf(turn: PendingTurn): Turn[] {
  const { speaker, text, offsetMs, interrupted, notes, latency } = turn;
  const words = text.trim() || wordsFor(notes);
  return words === '' ? [] : [{ speaker, text: words, offsetMs, interrupted, notes, latency }];
}

/** The model heard something that nobody wrote down. */
function wordsFor(notes: readonly Note[]): string {
  if (notes.length === 0) return '';
  return hasOptedOut({ notes }) ? unheardWish : unheardWords;
}
