/**
 * Does what the turn-taking decides (`turn-taking.ts`) on a leg that carries sound.
 *
 *   frames ─▶ voice detector ─▶ turn-taking ─▶ words, keys and tones, kept until heard
 *      └────▶ transcriber ───────▲    └──────▶ our speech: hold, resume, yield
 */
import { decodeG711, FRAME_MS, FRAME_SAMPLES } from '@trunkcall/sip';
import type { AudioMedia, Heard, Leg, Spoken } from '../../carriers/carrier.ts';
import type { ConversationFloor, Said, Utterance } from './floor.ts';
import { maxSegmentMs, type Failure, type Speaker, type Transcription } from './ports.ts';
import { Speech } from './speech.ts';
import {
  idle,
  isSpoken,
  nextFloor,
  type Floor,
  type FloorEffect,
  type FloorEvent,
  type Saying,
} from './turn-taking.ts';
import { noticedAfterMs, type VoiceDetector } from './voice-detector.ts';

export interface AudioFloorOptions {
  readonly leg: Leg<AudioMedia>;
  /** ISO 639. */
  readonly language: string;
  readonly detector: VoiceDetector;
  readonly transcription: Transcription;
  readonly speaker: Speaker;
}

/** Heard things kept for whoever listens; the oldest goes first. */
const maxKept = 32;

export class AudioFloor implements ConversationFloor {
  readonly #options: AudioFloorOptions;
  readonly #samples = new Int16Array(FRAME_SAMPLES);
  readonly #kept: (Heard | Failure)[] = [];
  #floor: Floor = idle;
  #speech: Speech | null = null;
  #lastSpeech: Speech | null = null;
  /** What `hear` gave last, until it is followed by something. */
  #given: Heard | Failure | null = null;
  /** Tells `say` that the callee has taken the floor. */
  #yielded: () => void = () => undefined;
  /** Ends the wait for a pause. */
  #waiting = new AbortController();
  #notice: () => void = () => undefined;
  /** Whether the detector hears a voice, or what it takes for one. */
  #voiceIsOn = false;
  /** Length of the segment that is being heard. */
  #segmentMs = 0;
  #over = false;
  #closed = false;

  constructor(options: AudioFloorOptions) {
    this.#options = options;
    options.leg.media.listen({
      frame: (frame) => this.#takeFrame(frame),
      key: (key) => {
        if (/^[0-9*#]$/.test(key)) this.#apply({ kind: 'key', key, atMs: this.#now });
      },
      beep: () => this.#takeTone('beep'),
      informationTone: () => this.#takeTone('information_tone'),
    });
    void options.leg.ended.then(() => this.#end());
  }

  async hear(withinMs: number): Promise<Heard | Failure> {
    this.#given = null;
    const done = new AbortController();
    const patience = { over: false };
    void this.#options.leg.clock.sleep(withinMs, done.signal).then((due) => {
      patience.over = due;
      if (due) this.#notice();
    });
    while (this.#kept.length === 0 && !this.#over && (!patience.over || isSpoken(this.#floor))) {
      await new Promise<void>((resolve) => {
        this.#notice = resolve;
      });
    }
    done.abort();
    this.#given = this.#kept.shift() ?? { kind: this.#over ? 'left' : 'silence' };
    return this.#given;
  }

  async say(sentences: AsyncIterable<string>): Promise<Said> {
    const { leg, speaker } = this.#options;
    const speech = new Speech({ media: leg.media, clock: leg.clock, speaker, sentences });
    const yielded = new Promise<null>((resolve) => {
      this.#yielded = () => resolve(null);
    });
    this.#speech = speech;
    this.#lastSpeech = speech;
    this.#given = null;
    this.#apply({ kind: 'speak' });
    if (this.#over) this.#yielded();
    const failure = await Promise.race([speech.run(), yielded]);
    const spoken = await speech.end();
    const { sound } = speech;
    this.#speech = null;
    const saidOverNoise = this.#voiceIsOn && this.#floor.kind === 'speaking';
    this.#apply({ kind: 'spoken' });
    // Among the noise there may be a voice by now.
    if (saidOverNoise) this.#apply({ kind: 'voice_began', atMs: this.#now });
    return { spoken, sound, failure };
  }

  heardSoFar(): Spoken | null {
    return this.#lastSpeech?.soFar() ?? null;
  }

  untold(): readonly Utterance[] {
    const all = this.#given === null ? this.#kept : [this.#given, ...this.#kept];
    const told = all.filter((heard): heard is Utterance => heard.kind === 'utterance');
    if (!('saying' in this.#floor) || this.#floor.saying.text === '') return told;
    return [...told, utteranceOf(this.#floor.saying)];
  }

  press(keys: string): Promise<void> {
    this.#given = null;
    return this.#options.leg.media.sendDigits(keys);
  }

  close(): void {
    if (this.#closed) return;
    this.#end();
    this.#closed = true;
    this.#options.detector.close();
    this.#options.transcription.close();
  }

  get #now(): number {
    return this.#options.leg.clock.now();
  }

  #end(): void {
    if (this.#over) return;
    this.#apply({ kind: 'over' });
    this.#over = true;
    this.#notice();
  }

  #takeFrame(frame: Uint8Array): void {
    if (this.#closed) return;
    const { leg, detector, transcription } = this.#options;
    this.#speech?.tick();
    transcription.frame(frame);
    const codec = leg.media.law === 'mu' ? 'PCMU' : 'PCMA';
    const change = detector.next(decodeG711(codec, frame, this.#samples));
    if (change !== null) this.#voiceIsOn = change === 'began';
    if (change === 'began') this.#apply({ kind: 'voice_began', atMs: this.#now });
    if (change === 'paused') this.#apply({ kind: 'voice_paused', atMs: this.#now - noticedAfterMs });
    this.#segmentMs += FRAME_MS;
    if (this.#floor.kind === 'hearing' && this.#segmentMs >= maxSegmentMs)
      this.#apply({ kind: 'segment_full', atMs: this.#now });
  }

  /** Neither is a voice. */
  #takeTone(kind: 'beep' | 'information_tone'): void {
    if (this.#closed) return;
    this.#apply({ kind: 'beep' });
    this.#keep({ kind, atMs: this.#now });
  }

  #apply(event: FloorEvent): void {
    const { floor, effects } = nextFloor(this.#floor, event, this.#options.language);
    this.#floor = floor;
    for (const effect of effects) this.#do(effect);
    this.#notice();
  }

  #do(effect: FloorEffect): void {
    switch (effect.kind) {
      case 'hold':
        return this.#speech?.hold();
      case 'resume':
        return this.#speech?.resume();
      case 'yield':
        return this.#yielded();
      case 'begin_segment':
        this.#segmentMs = 0;
        return this.#options.transcription.begin();
      case 'end_segment':
        return void this.#transcribe();
      case 'wait':
        return void this.#waitForPause(effect.ms);
      case 'stop_waiting':
        return this.#waiting.abort();
      case 'deliver':
        return this.#keep(utteranceOf(effect.saying));
    }
  }

  async #transcribe(): Promise<void> {
    const heard = await this.#options.transcription.end();
    if (this.#over) return;
    if (heard.kind === 'failed') this.#keep(heard);
    this.#apply({ kind: 'words', text: heard.kind === 'words' ? heard.text : '', atMs: this.#now });
  }

  async #waitForPause(ms: number): Promise<void> {
    this.#waiting.abort();
    const waiting = new AbortController();
    this.#waiting = waiting;
    if (await this.#options.leg.clock.sleep(ms, waiting.signal)) this.#apply({ kind: 'pause_over' });
  }

  #keep(heard: Heard | Failure): void {
    this.#kept.push(heard);
    if (this.#kept.length > maxKept) this.#kept.shift();
    this.#notice();
  }
}

function utteranceOf({ text, startedAtMs, endedAtMs }: Saying): Utterance {
  return { kind: 'utterance', text, startedAtMs, endedAtMs };
}
