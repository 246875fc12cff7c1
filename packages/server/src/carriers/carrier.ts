/**
 * The carrier port: who places legs for us. Every carrier passes `test/conformance/carrier.ts`.
 *
 *   place ──▶ trying ──▶ ringing ──▶ answered: a Leg ──▶ LegEnd
 *                 └──────────┴─────▶ ended: an Ending
 *
 * C1  `place` resolves to an outcome and never rejects; a call that ends is not an error.
 * C2  It ends within the ring limit (plus the carrier's own tear-down bound), whatever the network does.
 * C3  Aborting the signal gives up the call: a ringing phone stops ringing, an answered leg is hung up.
 *     When the signal is already aborted nothing leaves the machine.
 * C4  `Leg.ended` resolves exactly once, also when our side hangs up, and hanging up twice is harmless.
 * C5  All times of a leg are on the leg's own clock: milliseconds since the answer.
 * C8  `Leg.transfer` calls one number, once, within its ring limit, and never rejects. The end of the leg ends it; once
 *     the two are connected the leg lives until either of them hangs up, and nobody of ours hears either of them: the
 *     other one was not told that they might be heard.
 *
 * The other way round, somebody calls one of our numbers:
 *
 *   Incoming ──accept──▶ answered: a Leg ──▶ LegEnd
 *      └──reject, or the caller gives up──▶ ended
 *
 * C6  Nothing is answered but by `accept`, and a call that nobody takes is refused.
 * C7  `accept` resolves to an outcome and never rejects; a caller who gave up first is one. Aborting its signal hangs
 *     up. `ring` and `reject` do nothing any more once the call is answered or over.
 */
import type {
  MediaQuality,
  RefusalReason,
  ResultSchema,
  ScriptedCallee,
  TrunkReport,
} from '@trunkcall/contract';

/** Whose doing an end was. */
export type EndedBy = 'callee' | 'us' | 'carrier';

/** How an attempt that was never answered ended. */
export interface Ending {
  readonly outcome:
    | 'ring_timeout'
    | 'unreachable'
    | 'busy'
    | 'declined'
    | 'invalid_number'
    | 'carrier_error'
    | 'canceled';
  readonly endedBy: EndedBy;
  /** The final SIP status, when there was one. */
  readonly sipStatus: number | null;
  /** The ITU-T Q.850 cause, when the network gave one. */
  readonly q850: number | null;
  /** For operators; no phone number, no words of the callee. */
  readonly note: string | null;
}

/** How an answered leg ended. */
export interface LegEnd {
  readonly reason: 'hung_up' | 'media_failed' | 'carrier_error';
  readonly endedBy: EndedBy;
  readonly sipStatus: number | null;
  readonly q850: number | null;
}

export interface CallOrder {
  /** Our id of the attempt; carriers may send it along for correlation. */
  readonly attemptId: string;
  /** Canonical E.164. */
  readonly to: string;
  /** The number to show to the callee, canonical E.164 and one of ours; null lets the carrier choose. */
  readonly from: string | null;
  /** How long the phone may ring, milliseconds. */
  readonly ringLimitMs: number;
  /** BCP 47 locale of the callee. */
  readonly locale: string;
  /** Record both directions for so long at most, milliseconds; a carrier without sound has nothing to record. */
  readonly recordMs?: number;
  /**
   * Asked right before a request leaves that can make a phone ring; false gives the call up. A carrier that tries
   * another way may have been paused meanwhile, longer than its caller's right to dial. Absent: always.
   */
  readonly mayLeave?: () => boolean;
  /** Only over this trunk, also while it seems to be down. Absent: over any that is up. */
  readonly trunk?: string;
  /** What simulated people need to play their part; real carriers ignore it. */
  readonly simulation: Simulation;
}

export interface Simulation {
  /** Lets a cooperative callee know what it may be asked. */
  readonly resultSchema: ResultSchema;
  /** The Goal's own scripted callees; they take precedence over the numbered ones. */
  readonly callees: readonly ScriptedCallee[];
}

/** Told what happens before the answer, in order. Must not throw. */
export interface CallWatcher {
  progress(step: 'trying' | 'ringing', providerCallId: string | null): void;
}

export type Placed<M extends Media = Media> =
  | { readonly kind: 'answered'; readonly leg: Leg<M> }
  | { readonly kind: 'ended'; readonly ending: Ending };

export interface ReservationWish {
  readonly attemptId: string;
  /** Whose daily limits count. */
  readonly accountId: string;
  /** Canonical E.164. */
  readonly to: string;
  /** As in the order. */
  readonly trunk?: string;
}

export type Reservation =
  | {
      readonly kind: 'ready';
      /** For when the call is not placed. Safe to repeat. Never rejects. */
      release(): Promise<void>;
    }
  /** Every line is in use, resting or out of order. */
  | { readonly kind: 'later'; readonly inMs: number }
  | { readonly kind: 'refused'; readonly why: 'daily_limit' | 'not_allowed' };

/** A call to what may be a number of ours. Whoever gets it accepts or rejects it, sooner or later. */
export interface Incoming<M extends Media = Media> {
  readonly providerCallId: string;
  /** Of this one call, the same for every copy of its request that reaches any process; at most 64 characters. */
  readonly identity: string;
  /** What was dialled, canonical E.164; the likeliest reading first, at most a few. */
  readonly to: readonly string[];
  /** The caller's number, canonical E.164, as the network tells it; null when it does not. */
  readonly from: string | null;
  /** The trunk that brought it; null where there are none. */
  readonly trunk: string | null;
  /** Aborts when the call can not be answered any more. */
  readonly signal: AbortSignal;
  /** Lets the caller hear that it rings. */
  ring(): void;
  accept(order: AnswerOrder, signal: AbortSignal): Promise<Accepted<M>>;
  reject(refusal: Rejection): void;
}

export type Accepted<M extends Media = Media> =
  | { readonly kind: 'answered'; readonly leg: Leg<M> }
  /** The caller hung up first. */
  | { readonly kind: 'gave_up' }
  | { readonly kind: 'failed'; readonly ending: Ending };

export type AnswerOrder = Pick<CallOrder, 'attemptId' | 'locale' | 'recordMs' | 'simulation'>;

export interface Rejection {
  readonly reason: RefusalReason;
  /** When another try may be worth it, seconds; null says nothing of that. */
  readonly retryAfterSeconds: number | null;
}

/** Takes calls to our numbers. Must not throw. */
export type IncomingHandler<M extends Media = Media> = (call: Incoming<M>) => void;

/** What is known of a carrier without a socket; a process that places no calls needs no more. Pure. */
export interface Reach<M extends Media = Media> {
  readonly name: string;
  /** What its legs carry. */
  readonly media: M['kind'];
  /** Whether this carrier could place calls to the country (ISO 3166-1 alpha-2) at all; the reason when not. */
  reaches(country: string): { readonly ok: true } | { readonly ok: false; readonly reason: string };
  /** Why a number (canonical E.164) must not be dialled, in words that do not repeat it; null when it may be. */
  forbids(phone: string): string | null;
}

export interface Carrier<M extends Media = Media> extends Reach<M> {
  /**
   * Asks for room for one call, before the intent to dial is committed. What is `ready` is placed under the same
   * attempt id, or released. Throws: when the carrier's limits can not be asked; then nothing is reserved.
   */
  reserve(wish: ReservationWish, signal: AbortSignal): Promise<Reservation>;
  /** Takes the room that was reserved for the attempt; without a reservation, room that is free at once. */
  place(order: CallOrder, watcher: CallWatcher, signal: AbortSignal): Promise<Placed<M>>;
  /** Hands calls to our numbers to `handler` from now on; with null, and before, they are refused. */
  onIncoming(handler: IncomingHandler<M> | null): void;
  /** How each trunk stands now, as this process sees it. Pure. */
  states(): readonly TrunkReport[];
  /** Releases sockets and timers; live calls are given up. Safe to repeat. */
  close(): Promise<void>;
}

/** One answered call: its clock, its media and its end. */
export interface Leg<M extends Media = Media> {
  /** The carrier's own id of the call; null when it has none. */
  readonly providerCallId: string | null;
  readonly clock: LegClock;
  readonly media: M;
  readonly ended: Promise<LegEnd>;
  /**
   * What was measured of the sound so far, and after the end: of the whole call; null when nobody can say. Absent
   * where there is no sound. Never rejects.
   */
  quality?(): Promise<MediaQuality | null>;
  /**
   * Lets somebody hear both sides from now on, until the returned function is called, the leg ends or is `transferred`;
   * the call does not notice. Absent where there is no sound.
   */
  listenIn?(listener: LegListener): () => void;
  /** Hangs up after nothing more; resolves with the end. Safe to repeat. */
  hangUp(): Promise<LegEnd>;
  /**
   * Connects who is on the leg with somebody else; we neither hear nor say anything any more then. While it rings they
   * hear it ring. After a failure everything is as before. One at a time. Absent: this carrier can not.
   */
  transfer?(order: TransferOrder, signal: AbortSignal): Promise<Transferred>;
  /** Aborts right before the two are connected; recording and listening end there. Absent where `transfer` is. */
  readonly transferred?: AbortSignal;
}

/** How somebody on a leg is to be connected with somebody else. */
export interface TransferOrder {
  /** Our id of this transfer: the second call is placed, counted and charged under it. */
  readonly transferId: string;
  /** Whose daily limits count. */
  readonly accountId: string;
  /** Canonical E.164. */
  readonly to: string;
  /** How long the phone may ring, milliseconds. */
  readonly ringLimitMs: number;
  /** As for calls: asked right before a request leaves that can make a phone ring. */
  readonly mayLeave: () => boolean;
}

export type TransferFailure =
  | 'busy'
  | 'no_answer'
  | 'declined'
  /** The number must not be called: the guard, a daily limit, its owner's wish, or a stop forbids it. */
  | 'not_allowed'
  /** Every line is in use. */
  | 'no_line'
  /** Who was to be connected hung up meanwhile, or we did. */
  | 'left'
  /** The network, the number or we failed. */
  | 'failed';

export type Transferred =
  | { readonly kind: 'connected' }
  | { readonly kind: 'failed'; readonly why: TransferFailure };

/**
 * Told every 20 ms what was heard of the callee and what was sent, 160 bytes of G.711 µ-law each, which may be kept.
 * Must not throw, nor take long.
 */
export type LegListener = (heard: Uint8Array, sent: Uint8Array) => void;

export interface LegClock {
  /** Milliseconds since the answer. */
  now(): number;
  /** Resolves `true` after `ms`, or `false` as soon as the signal aborts or the leg ends. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<boolean>;
}

export type Media = SpeechMedia | AudioMedia;

/**
 * A leg at the level of sound: G.711 at 8,000 Hz, one byte a sample, in one law for the whole life of the leg.
 * After the end everything is still safe to call and does nothing.
 */
export interface AudioMedia {
  readonly kind: 'audio';
  readonly law: 'mu' | 'a';
  /**
   * Sets who hears the callee, in place of who did. Keys and tones of before the first listener are kept for it
   * (at most 64); frames are not.
   */
  listen(listener: AudioListener): void;
  /** Queues audio of any length; it is copied. False, and nothing is queued, past the end or the bound of 120 s. */
  play(audio: Uint8Array): boolean;
  /** Drops what is queued, and says how much was really played since the answer and how much was dropped now. */
  clear(): Promise<{ readonly playedMs: number; readonly droppedMs: number }>;
  /** Queued audio that was played since the answer, milliseconds; as of the last 20 ms. */
  playedMs(): number;
  /** Resolves when all that was queued before it was played, or `cleared` when some of it was dropped. */
  mark(): Promise<'played' | 'cleared'>;
  /** Presses keys, one of `0-9*#` each. */
  sendDigits(digits: string): Promise<void>;
}

/** Told from the event loop, in order. Must not throw. */
export interface AudioListener {
  /** Every 20 ms: 160 bytes, silence where nothing came. The bytes may be kept. */
  frame(frame: Uint8Array): void;
  /** The callee pressed a key, one of `0-9*#A-D`. */
  key(key: string): void;
  /** An answering machine's beep was heard. */
  beep(): void;
  /** The network's special information tones were heard (ITU-T E.180): an announcement follows. Of the first 10 s. */
  informationTone(): void;
}

/**
 * A leg at the level of sentences. What a person would say and hear, with times; how sound becomes words is
 * below this line.
 */
export interface SpeechMedia {
  readonly kind: 'speech';
  /** Says a sentence. Resolves when it was played out, or cut short because the callee spoke or left. */
  say(text: string): Promise<Spoken>;
  /**
   * Waits for the callee's next utterance to begin, at most `withinMs`; one that has begun is heard out.
   * Utterances are kept (at most 32) until heard, also past the end of the leg. One wait at a time.
   */
  hear(withinMs: number): Promise<Heard>;
  /** Presses keys, one of `0-9*#` each. */
  sendDigits(digits: string): Promise<void>;
}

export interface Spoken {
  /** The words that the callee can have heard: the whole text, or its beginning when interrupted. */
  readonly heard: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly interrupted: boolean;
}

export type Heard =
  | {
      readonly kind: 'utterance';
      readonly text: string;
      readonly startedAtMs: number;
      readonly endedAtMs: number;
    }
  | { readonly kind: 'beep' | 'information_tone'; readonly atMs: number }
  | { readonly kind: 'silence' }
  | { readonly kind: 'left' };
