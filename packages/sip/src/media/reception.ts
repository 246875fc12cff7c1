/** What a receiver knows of one RTP source: extended sequence numbers, loss and jitter (RFC 3550 A.1, A.3, A.8). */

import { SAMPLES_PER_MS } from './g711.ts';
import { sequenceDistance, timestampDistance } from './wrap.ts';

/** A jump further than this is a restarted source (RFC 3550 A.1: MAX_DROPOUT, MAX_MISORDER). */
const MAX_DROPOUT = 3_000;
const MAX_MISORDER = 100;

export class Reception {
  /** Packets accepted, duplicates included. */
  received = 0;
  /** In samples. */
  jitter = 0;
  #first: number | undefined;
  #highest = 0;
  #suspect: number | undefined;
  #transit: number | undefined;
  /** Losses from before the source restarted its numbers, and the count of packets then. */
  #earlierExpected = 0;
  #priorExpected = 0;
  #priorReceived = 0;

  /**
   * Counts a packet and returns its extended sequence number, or undefined when its number makes no sense: far
   * from the others, and not yet confirmed by a second packet in order. `timed` is false for packets whose
   * timestamp is not the time they were sent (telephone events), which say nothing of jitter.
   */
  receive(sequence: number, timestamp: number, arrivalMs: number, timed = true): number | undefined {
    const extended = this.#extend(sequence);
    if (extended === undefined) return undefined;
    this.received += 1;
    if (timed) this.#updateJitter(timestamp, arrivalMs);
    return extended;
  }

  #extend(sequence: number): number | undefined {
    if (this.#first === undefined) {
      this.#first = this.#highest = sequence;
      return sequence;
    }
    const step = sequenceDistance(sequence, this.#highest & 0xffff);
    if (step > MAX_DROPOUT || step < -MAX_MISORDER) {
      const confirmed = this.#suspect !== undefined && sequenceDistance(sequence, this.#suspect) === 1;
      this.#suspect = sequence;
      return confirmed ? this.#restart(sequence) : undefined;
    }
    this.#suspect = undefined;
    const extended = this.#highest + step;
    if (step > 0) this.#highest = extended;
    return extended;
  }

  /** Continues above everything seen so far, so that extended numbers of one source never repeat. */
  #restart(sequence: number): number {
    this.#earlierExpected = this.expected;
    const cycle = (this.#highest >>> 16) + 1;
    this.#first = this.#highest = cycle * 0x1_0000 + sequence;
    this.#suspect = undefined;
    this.#transit = undefined;
    return this.#highest;
  }

  #updateJitter(timestamp: number, arrivalMs: number): void {
    const arrival = Math.round(arrivalMs * SAMPLES_PER_MS) >>> 0;
    const transit = timestampDistance(arrival, timestamp);
    if (this.#transit !== undefined) {
      const change = Math.abs(timestampDistance(transit, this.#transit));
      this.jitter += (change - this.jitter) / 16;
    }
    this.#transit = transit;
  }

  get highestSequence(): number {
    return this.#highest >>> 0;
  }

  get expected(): number {
    return this.#first === undefined ? 0 : this.#earlierExpected + this.#highest - this.#first + 1;
  }

  /** Negative when duplicates outnumber losses. */
  get lost(): number {
    return this.expected - this.received;
  }

  /** Loss since the last call of this method, in 1/256 (0 when duplicates outnumber losses). */
  takeFractionLost(): number {
    const expected = this.expected - this.#priorExpected;
    const lost = expected - (this.received - this.#priorReceived);
    this.#priorExpected = this.expected;
    this.#priorReceived = this.received;
    return expected <= 0 || lost <= 0 ? 0 : Math.min(255, Math.floor((lost * 256) / expected));
  }
}
