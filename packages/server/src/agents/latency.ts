/**
 * How long the callee waited for one of our turns, and for what. Pure.
 *
 *   last sound ──endpointing──▶ turn is over ──model──▶ first words ──speech──▶ first sound ──transport──▶ heard
 */
import type { TurnLatency } from '@trunkcall/contract';

/** Leg times of one answer, milliseconds. */
export interface Moments {
  /** The callee's last sound or key. */
  readonly stoppedAtMs: number;
  /** It was decided that the turn is over. */
  readonly decidedAtMs: number;
  /** The model's first words or sound; null when none was asked, or something else was said first. */
  readonly modelAtMs: number | null;
  /** The first synthesized sound; null when the model speaks itself. */
  readonly soundAtMs: number | null;
  /** The first frame of our turn left for the callee. */
  readonly playedAtMs: number;
}

/** Each part counts from the moment before it that is known; together they are the whole. */
export function latencyOf({
  stoppedAtMs,
  decidedAtMs,
  modelAtMs,
  soundAtMs,
  playedAtMs,
}: Moments): TurnLatency {
  const start = Math.round(stoppedAtMs);
  let last = start;
  const part = (atMs: number | null): number | null => {
    if (atMs === null) return null;
    const from = last;
    last = Math.max(from, Math.round(atMs));
    return last - from;
  };
  const isModelFirst = modelAtMs !== null && (soundAtMs === null || modelAtMs <= soundAtMs);
  return {
    endpointing_ms: part(decidedAtMs),
    model_ms: part(isModelFirst ? modelAtMs : null),
    speech_ms: part(soundAtMs),
    transport_ms: part(playedAtMs),
    total_ms: last - start,
  };
}
