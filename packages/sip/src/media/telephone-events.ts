/**
 * Key presses as RTP telephone events (RFC 4733): pure sender and receiver.
 *
 * A press is one event: all its packets carry the timestamp of its begin and the duration so far; the first has
 * the marker, and the last one is sent three times with the end bit. The receiver knows a press by its
 * timestamp, so any number of packets, lost or repeated, make one key.
 */

import { FRAME_MS, FRAME_SAMPLES, SAMPLES_PER_MS } from './g711.ts';
import { advanceTimestamp } from './wrap.ts';

/** Keys in the order of their event codes. */
export const KEYS = '0123456789*#ABCD';

/** A key press that was heard. */
export interface KeyPress {
  /** One of `KEYS`. */
  readonly key: string;
  readonly durationMs: number;
}

export interface TelephoneEvent {
  /** Event code; 0–15 are keys. */
  readonly code: number;
  readonly end: boolean;
  /** 0 (loud) to 63, -dBm0. */
  readonly volume: number;
  /** Samples since the begin, 16 bits. */
  readonly duration: number;
}

const EVENT_BYTES = 4;

/** Undefined for a payload that is cut short. Never throws. */
export function parseTelephoneEvent(payload: Uint8Array): TelephoneEvent | undefined {
  const [code, flags, high, low] = payload;
  if (code === undefined || flags === undefined || high === undefined || low === undefined) return undefined;
  return { code, end: (flags & 0x80) !== 0, volume: flags & 0x3f, duration: (high << 8) | low };
}

export function writeTelephoneEvent({ code, end, volume, duration }: TelephoneEvent): Buffer {
  const payload = Buffer.alloc(EVENT_BYTES);
  payload[0] = code;
  payload[1] = (end ? 0x80 : 0) | volume;
  payload.writeUInt16BE(duration, 2);
  return payload;
}

/** Whether every character is a key and there are at most 64: what one order to dial may hold. */
export function areKeys(text: string): boolean {
  return /^[0-9*#A-D]{1,64}$/.test(text);
}

export const PRESS_MS = 100;
/** Silence behind a press, the end packets included: enough for two presses of one key to stay two. */
export const GAP_MS = 100;
const PRESS_FRAMES = PRESS_MS / FRAME_MS;
const GAP_FRAMES = GAP_MS / FRAME_MS;
const END_PACKETS = 3;
const VOLUME = 10;

/** What the dialling machine sends in one 20 ms tick. */
export type DialStep =
  | { readonly kind: 'event'; readonly event: TelephoneEvent; readonly framesSinceBegin: number }
  | { readonly kind: 'gap' };

/** The dialling that is under way: keys that wait, and how many ticks the current one has taken. */
export class Dialer {
  #waiting: string[] = [];
  #frame = 0;

  /** At most 64 keys wait; false when there is no room for all. */
  dial(keys: string): boolean {
    if (this.#waiting.length + keys.length > 64) return false;
    this.#waiting.push(...Array.from(keys));
    return true;
  }

  get busy(): boolean {
    return this.#waiting.length > 0;
  }

  /** The key that is being pressed now, for a caller that makes the tone itself. */
  get pressing(): string | undefined {
    return this.#frame < PRESS_FRAMES ? this.#waiting[0] : undefined;
  }

  /** The next tick's part, or undefined when nothing is dialled. */
  next(): DialStep | undefined {
    const key = this.#waiting[0];
    if (key === undefined) return undefined;
    const frame = this.#frame;
    this.#frame += 1;
    if (this.#frame === PRESS_FRAMES + GAP_FRAMES) {
      this.#frame = 0;
      this.#waiting.shift();
    }
    // The last packet of the press itself is the first of the three that end it.
    const firstEnd = PRESS_FRAMES - 1;
    if (frame >= firstEnd + END_PACKETS) return { kind: 'gap' };
    const duration = Math.min(frame + 1, PRESS_FRAMES) * FRAME_SAMPLES;
    const event = { code: KEYS.indexOf(key), end: frame >= firstEnd, volume: VOLUME, duration };
    return { kind: 'event', event, framesSinceBegin: frame };
  }

  clear(): void {
    this.#waiting = [];
    this.#frame = 0;
  }
}

/** Reads of silence after which a press whose end was lost is taken as over (100 ms). */
const LOST_END_TICKS = 5;
/** Presses kept until the next tick; a peer that sends more is no person. */
const MAX_PENDING = 4;

/** Makes key presses of event packets. `tick` is called every 20 ms. */
export class KeyReceiver {
  #current: { timestamp: number; key: string; duration: number; quietTicks: number } | undefined;
  /** Timestamp and duration of the press that ended last: its repeated packets say nothing new. */
  #ended: { timestamp: number; key: string; duration: number } | undefined;
  readonly #pending: KeyPress[] = [];

  receive(timestamp: number, payload: Uint8Array): void {
    const event = parseTelephoneEvent(payload);
    const key = event === undefined ? undefined : KEYS[event.code];
    if (event === undefined || key === undefined || timestamp === this.#ended?.timestamp) return;
    const current = this.#current;
    if (current === undefined || current.timestamp !== timestamp) {
      this.#finish();
      this.#current = { timestamp, key, duration: event.duration, quietTicks: 0 };
    } else {
      current.duration = Math.max(current.duration, event.duration);
      current.quietTicks = 0;
    }
    if (event.end) this.#finish();
  }

  /** The presses that ended since the last tick. */
  tick(): KeyPress[] {
    if (this.#current !== undefined) {
      this.#current.quietTicks += 1;
      if (this.#current.quietTicks > LOST_END_TICKS) this.#finish();
    }
    return this.#pending.splice(0);
  }

  #finish(): void {
    const { timestamp, key, duration } = this.#current ?? {};
    this.#current = undefined;
    if (timestamp === undefined || key === undefined || duration === undefined) return;
    // A very long press comes in segments, each beginning where the one before ended (RFC 4733 §2.5.1.3).
    const last = this.#ended;
    const continues = last?.key === key && advanceTimestamp(last.timestamp, last.duration) === timestamp;
    this.#ended = { timestamp, key, duration };
    if (continues || this.#pending.length >= MAX_PENDING) return;
    this.#pending.push({ key, durationMs: duration / SAMPLES_PER_MS });
  }
}
