/** Arithmetic of counters that wrap: RTP sequence numbers (16 bits) and timestamps (32 bits). */

/** How far `later` is ahead of `earlier`, in -32768..32767. */
export function sequenceDistance(later: number, earlier: number): number {
  return ((later - earlier) << 16) >> 16;
}

/** How far `later` is ahead of `earlier`, in -2^31..2^31-1. */
export function timestampDistance(later: number, earlier: number): number {
  return (later - earlier) | 0;
}

/** A timestamp `samples` further on (or back, when negative), in 0..2^32-1. */
export function advanceTimestamp(timestamp: number, samples: number): number {
  return (timestamp + samples) >>> 0;
}

export function nextSequence(sequence: number): number {
  return (sequence + 1) & 0xffff;
}
