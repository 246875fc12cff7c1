/**
 * What a session's effects do, and where its events come from: the connection, the leg and its clock. The leg's
 * own side, sound or sentences, is in `audio-side.ts` and `speech-side.ts`.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Leg } from '../../carriers/carrier.ts';
import type { ConversationEnd, TranscriptSink, TransferOffer } from '../agent.ts';
import type { ClientEvent } from './client-events.ts';
import type { Target } from './dialect.ts';
import { openLink, refusal, type Link } from './link.ts';
import { nextSession, type SessionEvent } from './next-session.ts';
import type { ServerEvent } from './server-events.ts';
import { beginSession, type Effect, type Plan, type Session } from './session.ts';
import { nextDueMs } from './timers.ts';

/** How long the callee's last words may take to be written down, milliseconds of the wall clock. */
const lastWordsMs = 3_000;
/** Before another connection is tried, milliseconds of the wall clock. */
const reconnectDelayMs = 300;
/** A timer that can not fire yet is looked at again no sooner. */
export const leastWaitMs = 5;

/** Codes of errors that stand for a rejected key. */
const rejectsKey = /^(invalid_api_key|authentication_error)$/;

export interface ConversationOptions {
  readonly plan: Plan;
  readonly leg: Leg;
  readonly clock: Clock;
  readonly transcript: TranscriptSink;
  /** Null: nobody may be called for the callee, and the model can not ask for it. */
  readonly transfer: TransferOffer | null;
  readonly wrapUpAtMs: number;
  readonly target: Target;
  readonly sessionUpdate: ClientEvent;
  /** Told the HTTP status of each try to begin a session: 101 when there is one, else that of its refusal. */
  readonly onAnswer: (status: number) => void;
}

/** The leg's side of a conversation. */
export interface Side {
  /** What was played of our sound, milliseconds. */
  playedMs(): number;
  /** Leg time of the callee's last sound, as far as it can be told from noise. */
  lastSoundAtMs(): number;
  /** A session stands: what was heard meanwhile is sent. */
  connected(): void;
  /** The provider's sound as the line takes it. */
  soundOf(audio: Uint8Array): Uint8Array;
  /** Leg time of a moment in the sound that was sent in this session; null when that can not be said. */
  legTimeOf(audioMs: number): number | null;
  perform(effect: Extract<Effect, { kind: 'play' | 'mark' | 'clear' | 'say' | 'press' }>): void;
  /** Everything that was to be done was done; `dueAtMs` is when the session wants to look again, leg time. */
  settled(dueAtMs: number | null): void;
}

export class Conversation {
  readonly #options: ConversationOptions;
  readonly #side: Side;
  readonly #over = new AbortController();
  readonly #ended = Promise.withResolvers<ConversationEnd>();
  readonly #events: SessionEvent[] = [];
  #session: Session;
  #working = false;
  #link: Link | null = null;
  #alarm = new AbortController();

  constructor(options: ConversationOptions, side: (conversation: Conversation) => Side) {
    this.#options = options;
    this.#session = beginSession(options.wrapUpAtMs, options.leg.clock.now());
    this.#side = side(this);
  }

  get session(): Session {
    return this.#session;
  }

  /** Aborts when the conversation is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Holds the conversation until it ends; the signal ends it at once. */
  async run(signal: AbortSignal): Promise<ConversationEnd> {
    const abort = () => this.take({ kind: 'aborted', playedMs: this.#side.playedMs() });
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    else {
      this.#connect();
      this.take({ kind: 'time' });
    }
    try {
      return await this.#ended.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#over.abort();
      this.#alarm.abort();
      this.#link?.close();
    }
  }

  /** Takes an event; what it causes is done when this returns. */
  take(event: SessionEvent): void {
    if (this.#over.signal.aborted) return;
    this.#events.push(event);
    if (this.#working) return;
    this.#working = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) this.#step(next);
    } catch (error) {
      // Whoever told us of the event can do nothing about our fault; it ends this call alone.
      this.#ended.reject(error);
      return;
    }
    this.#working = false;
    if (!this.#session.over) this.#side.settled(nextDueMs(this.#options.plan, this.#session));
  }

  send(event: ClientEvent): void {
    this.#link?.send(event);
  }

  /** Looks again at a leg time, unless this is called again before. */
  wakeAt(dueAtMs: number | null): void {
    const { clock } = this.#options.leg;
    this.#alarm.abort();
    if (dueAtMs === null) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    void clock.sleep(Math.max(leastWaitMs, dueAtMs - clock.now()), alarm.signal).then((due) => {
      if (due) this.take({ kind: 'time' });
    });
  }

  #step(event: SessionEvent): void {
    const { plan, leg } = this.#options;
    const { session, effects } = nextSession(plan, this.#session, event, leg.clock.now());
    this.#session = session;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case 'connect':
        void this.#options.clock.sleep(reconnectDelayMs, this.#over.signal).then((due) => {
          if (due) this.#connect();
        });
        return;
      case 'send':
        return this.send(effect.event);
      case 'turn':
        return this.#options.transcript.turn(effect.turn);
      case 'opted_out':
        return this.#options.transcript.optedOut();
      case 'answered_by':
        return this.#options.transcript.answeredBy(effect.who);
      case 'await_words':
        void this.#options.clock.sleep(lastWordsMs, this.#over.signal).then((due) => {
          if (due) this.take({ kind: 'give_up' });
        });
        return;
      case 'end':
        return this.#ended.resolve(effect.end);
      case 'transfer':
        void this.#options.transfer
          ?.connect(effect.to)
          .then((outcome) => this.take({ kind: 'transfer_ended', outcome }));
        return;
      case 'play':
      case 'mark':
      case 'clear':
      case 'say':
      case 'press':
        return this.#side.perform(effect);
    }
  }

  #connect(): void {
    const { target, clock, sessionUpdate } = this.#options;
    this.#link?.close();
    const link = openLink(target, clock, {
      open: () => link.send(sessionUpdate),
      event: (event) => this.#told(event),
      refused: (note, status) => this.#refused(note, status),
      lost: (note) => this.take({ kind: 'lost', note }),
    });
    this.#link = link;
  }

  #refused(note: string, status: number | null): void {
    // Null: the provider was not reached, and has said nothing.
    if (status !== null) this.#options.onAnswer(status);
    const worthAnotherTry = status === null || status === 429 || status >= 500;
    this.take({ kind: 'refused', note, worthAnotherTry });
  }

  #told(event: ServerEvent): void {
    switch (event.kind) {
      case 'session_created':
      case 'session_updated':
        // Not at the upgrade: OpenAI accepts that with any key.
        this.#options.onAnswer(101);
        this.#expires(event.expiresAtMs);
        if (event.kind === 'session_created') return;
        if (this.#session.connection !== 'connecting') return;
        this.take({ kind: 'connected' });
        return this.#side.connected();
      case 'speech_started': {
        const startedAtMs = event.audioMs === null ? null : this.#side.legTimeOf(event.audioMs);
        return this.take({ kind: 'speech_started', itemId: event.itemId, startedAtMs });
      }
      case 'audio': {
        const audio = this.#side.soundOf(event.audio);
        return this.#take({ ...event, audio });
      }
      case 'speech_stopped':
      case 'committed':
      case 'transcribed':
      case 'response_created':
      case 'words':
      case 'all_words':
      case 'tool_called':
      case 'response_done':
        return this.#take(event);
      case 'error':
        if (rejectsKey.test(event.code)) return this.#refused(refusal(401), 401);
        return this.#take(event);
    }
  }

  #take(event: Extract<SessionEvent, { kind: 'server' }>['event']): void {
    const [playedMs, lastSoundAtMs] = [this.#side.playedMs(), this.#side.lastSoundAtMs()];
    this.take({ kind: 'server', event, playedMs, lastSoundAtMs });
  }

  #expires(atMs: number | null): void {
    if (atMs === null) return;
    const { leg, clock } = this.#options;
    this.take({ kind: 'expires', legMs: leg.clock.now() + (atMs - clock.now()) });
  }
}
