/**
 * The sound of one call over the media engine, from before its answer.
 *
 *   early ──answer──▶ answered ──withdraw──▶ withdrawn
 *     └───────────────────┴───────close────────┴─────────▶ over
 *
 * S1  Before the answer nobody hears anything of it but this file, which listens for the ringing tone.
 * S2  The law that the answer agreed on stays; what a later agreement changes is transcoded here.
 * S3  What was heard before the first listener came is kept for it, as far as it can be told late: keys and tones.
 * S4  The tones before an announcement are listened for only when the call has just been answered: `listen`ing
 *     costs processor time, and later they would be something else.
 * S5  Withdrawn, the call is between others: it is neither recorded nor heard by anybody of ours, its loss is noticed.
 */
import {
  transcodeG711,
  type Codec,
  type MediaCall,
  type MediaEngine,
  type MediaEvent,
  type MediaStats,
  type NegotiatedMedia,
  type RecordingEnd,
  type ToneKind,
} from '@trunkcall/sip';
import type { MediaQuality } from '@trunkcall/contract';
import { assert } from '../../platform/assert.ts';
import type { AudioListener, AudioMedia, LegListener } from '../carrier.ts';

/** Bound of `play`, milliseconds. */
const maxQueuedMs = 120_000;
const maxKept = 64;
/** A press and the pause behind it, milliseconds. */
const keyMs = 200;
/** How long after the answer an announcement's tones may come, milliseconds. */
const informationToneMs = 10_000;

export interface SoundOptions {
  readonly engine: MediaEngine;
  /** How long nothing may arrive before the sound counts as lost, milliseconds. */
  readonly silenceLimitMs: number;
  /** Resolves after that many milliseconds, or at the end of the call. */
  readonly sleep: (ms: number) => Promise<unknown>;
}

type Kept = { readonly kind: 'key'; readonly key: string } | { readonly kind: 'beep' | 'information_tone' };

export class Sound implements AudioMedia {
  readonly kind = 'audio';
  readonly #media: MediaCall;
  readonly #sleep: SoundOptions['sleep'];
  #state: 'early' | 'answered' | 'withdrawn' | 'over' = 'early';
  /** What both sides agreed on last. */
  #agreed: NegotiatedMedia | undefined;
  #law: Codec = 'PCMU';
  #listener: AudioListener | null = null;
  #kept: Kept[] = [];
  #wasSilent = false;
  /** The answer is not long ago. */
  #fresh = true;
  #onRingback: () => void = () => undefined;
  #onLost: () => void = () => undefined;
  readonly #withdrawn = new AbortController();
  #onRecorded: (end: RecordingEnd) => void = () => undefined;

  /** Takes a pair of ports. Null when there is none, or the engine has stopped. */
  static async open({ engine, silenceLimitMs, sleep }: SoundOptions): Promise<Sound | null> {
    let sound: Sound | undefined;
    const opened = await engine.open({
      silenceLimitMs,
      maxQueuedMs,
      onFrame: (frame) => sound?.takeFrame(frame),
      onEvent: (event) => sound?.takeEvent(event),
    });
    if (opened.kind === 'refused') return null;
    sound = new Sound(opened.call, sleep);
    return sound;
  }

  private constructor(media: MediaCall, sleep: SoundOptions['sleep']) {
    this.#media = media;
    this.#sleep = sleep;
    void media.ended.then(() => this.#lose());
  }

  /** The RTP port, for the session description. */
  get port(): number {
    return this.#media.port;
  }

  get law(): 'mu' | 'a' {
    return this.#law === 'PCMU' ? 'mu' : 'a';
  }

  /** Told once, when a ringing tone is heard before the answer. */
  onRingback(told: () => void): void {
    this.#onRingback = told;
  }

  /** Takes what was agreed: early media, the answer, hold, resume, another codec. */
  connect(agreed: NegotiatedMedia): void {
    if (this.#state === 'over') return;
    this.#agreed = agreed;
    this.#media.connect(agreed);
    this.#media.listen(this.#tonesOf(agreed));
  }

  /** From now on the owner hears; `onLost` is told when the sound is lost: long silence, or a fault of ours. */
  answer(agreed: NegotiatedMedia, onLost: () => void): void {
    this.#state = 'answered';
    this.#law = agreed.codec;
    this.#onLost = onLost;
    // A silence is told once; connecting anew begins to count again.
    if (this.#agreed !== agreed || this.#wasSilent) this.connect(agreed);
    else this.#media.listen(this.#tonesOf(agreed));
    void this.#sleep(informationToneMs).then(() => this.#settleIn());
  }

  /** Records both directions until the limit or the end; `told` how that ended. */
  record(path: string, maxDurationMs: number, told: (end: RecordingEnd) => void): void {
    this.#onRecorded = told;
    this.#media.record({ path, maxDurationMs });
  }

  /** Aborts when we withdraw. */
  get withdrawn(): AbortSignal {
    return this.#withdrawn.signal;
  }

  /** Ends the recording and whatever else we hear, for good; the call goes on. Safe to repeat. */
  withdraw(): void {
    if (this.#state !== 'answered') return;
    this.#state = 'withdrawn';
    this.#media.stopRecording();
    this.#media.listen([]);
    this.#withdrawn.abort();
  }

  /** Lets the callee hear another call's, and be heard by them; of both we withdraw first. */
  bridge(other: Sound): void {
    this.withdraw();
    other.withdraw();
    this.#media.bridge(other.#media);
  }

  close(): void {
    this.#state = 'over';
    void this.#media.close();
  }

  listen(listener: AudioListener): void {
    this.#listener = listener;
    for (const kept of this.#kept.splice(0)) tell(listener, kept);
  }

  /** As `Leg.listenIn`. */
  listenIn(listener: LegListener): () => void {
    return this.#media.tap(({ codec, heard, sent }) => {
      // Also when it is over: the last frames are still on their way then.
      if (!this.#withdrawn.signal.aborted)
        listener(transcoded(heard, codec, 'PCMU'), transcoded(sent, codec, 'PCMU'));
    });
  }

  /** What was measured so far, or after the end; null when the engine died. */
  async quality(): Promise<MediaQuality | null> {
    // Nothing comes of the question when the media are over, or end meanwhile: then the end brings it.
    const stats = (await this.#media.stats()) ?? (await this.#media.ended).stats;
    return stats === undefined ? null : qualityOf(stats);
  }

  play(audio: Uint8Array): boolean {
    return this.#state === 'answered' && this.#media.play(transcoded(audio, this.#law, this.#codec));
  }

  clear(): Promise<{ readonly playedMs: number; readonly droppedMs: number }> {
    return this.#media.clear();
  }

  playedMs(): number {
    return this.#media.played();
  }

  mark(): Promise<'played' | 'cleared'> {
    return this.#media.mark();
  }

  async sendDigits(digits: string): Promise<void> {
    assert(/^[0-9*#]{1,32}$/.test(digits), 'digits are 0-9, * and #');
    if (this.#state !== 'answered') return;
    this.#media.dial(digits);
    await this.#sleep(keyMs * digits.length);
  }

  takeFrame(frame: Uint8Array): void {
    if (this.#state !== 'answered') return;
    this.#listener?.frame(transcoded(frame, this.#codec, this.#law));
  }

  takeEvent(event: MediaEvent): void {
    if (event.kind === 'silence') {
      this.#wasSilent = true;
      this.#lose();
    }
    if (event.kind === 'recording_ended') this.#onRecorded(event.end);
    if (this.#state === 'early' && event.kind === 'progress' && event.tone === 'ringback') this.#onRingback();
    if (this.#state !== 'answered') return;
    if (event.kind === 'key') this.#hear({ kind: 'key', key: event.key });
    else if (event.kind === 'beep') this.#hear({ kind: 'beep' });
    else if (event.kind === 'progress' && event.tone === 'special_information')
      this.#hear({ kind: 'information_tone' });
  }

  #hear(heard: Kept): void {
    if (this.#listener !== null) return tell(this.#listener, heard);
    if (this.#kept.length < maxKept) this.#kept.push(heard);
  }

  #settleIn(): void {
    this.#fresh = false;
    if (this.#state === 'answered' && this.#agreed !== undefined)
      this.#media.listen(this.#tonesOf(this.#agreed));
  }

  /** Keys come as tones where events were not agreed on. */
  #tonesOf({ telephoneEvents }: NegotiatedMedia): readonly ToneKind[] {
    if (this.#state === 'early') return ['progress'];
    if (this.#state === 'withdrawn') return [];
    return [
      'beep',
      ...(this.#fresh ? (['information'] as const) : []),
      ...(telephoneEvents === undefined ? (['keys'] as const) : []),
    ];
  }

  #lose(): void {
    if (this.#state === 'answered' || this.#state === 'withdrawn') this.#onLost();
  }

  get #codec(): Codec {
    return this.#agreed?.codec ?? this.#law;
  }
}

const transcoded = (audio: Uint8Array, from: Codec, to: Codec): Uint8Array =>
  from === to ? audio : transcodeG711(from, to, audio);

function qualityOf({ inbound, outbound, peer, score }: MediaStats): MediaQuality {
  const { packets, lost, late, jitterMs } = inbound;
  return {
    packets_out: outbound.packets,
    packets_in: packets,
    packets_lost: lost,
    packets_late: late,
    jitter_ms: rounded(jitterMs),
    mos: packets === 0 ? null : rounded(score),
    far_end:
      peer === undefined
        ? null
        : {
            loss: rounded(peer.lossRatio),
            jitter_ms: rounded(peer.jitterMs),
            round_trip_ms: peer.roundTripMs === undefined ? null : rounded(peer.roundTripMs),
          },
  };
}

const rounded = (value: number) => Math.round(value * 100) / 100;

function tell(listener: AudioListener, heard: Kept): void {
  if (heard.kind === 'key') listener.key(heard.key);
  else if (heard.kind === 'beep') listener.beep();
  else listener.informationTone();
}
