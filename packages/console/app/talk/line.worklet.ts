/**
 * The browser's end of the line, on the audio thread: the microphone becomes frames of 20 ms of G.711 µ-law at 8,000 Hz,
 * and such frames become sound.
 *
 *   microphone ─▶ 8,000 Hz ─▶ µ-law ─▶ { frame, level }        { sound } ─▶ µ-law ─▶ the device's rate ─▶ loudspeaker
 */
import { fromMuLaw, toMuLaw } from './mu-law.ts';
import { PlayOut } from './play-out.ts';
import { Resampler } from './resampler.ts';
import type { FromLine, ToLine, ToSides } from './line-messages.ts';

/** What the audio thread has, of which the library of the language knows nothing. */
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

const lineRate = 8_000;
const frameSamples = 160;
const leadSeconds = 0.1;
const mostSeconds = 3;

class Line extends AudioWorkletProcessor {
  readonly #down = new Resampler(sampleRate, lineRate);
  readonly #up = new Resampler(lineRate, sampleRate);
  readonly #playOut = new PlayOut(sampleRate * leadSeconds, sampleRate * mostSeconds);
  #frame = new Uint8Array(frameSamples);
  #filled = 0;
  #level = 0;
  #muted = false;
  #over = false;

  constructor() {
    super();
    this.port.addEventListener('message', ({ data }: MessageEvent<ToLine>) => this.#take(data));
    this.port.start();
  }

  process([input]: Float32Array[][], [output]: Float32Array[][]): boolean {
    const [speaker, ...others] = output ?? [];
    if (speaker !== undefined) {
      this.#playOut.play(speaker, this.#over);
      for (const other of others) other.set(speaker);
    }
    // Without a source yet there is silence: the line is never without frames.
    const heard = input?.[0] ?? new Float32Array(speaker?.length ?? 128);
    if (!this.#over) this.#send(this.#down.next(heard));
    return true;
  }

  #take(message: ToLine): void {
    switch (message.type) {
      case 'sound':
        return this.#playOut.push(this.#up.next(Float32Array.from(message.frame, fromMuLaw)));
      case 'clear':
        return this.#playOut.clear();
      case 'mute':
        this.#muted = message.muted;
        return;
      case 'over':
        this.#over = true;
    }
  }

  #send(samples: Float32Array): void {
    for (const sample of samples) {
      const spoken = this.#muted ? 0 : sample;
      this.#level = Math.max(this.#level, Math.abs(spoken));
      this.#frame[this.#filled] = toMuLaw(spoken);
      this.#filled += 1;
      if (this.#filled < frameSamples) continue;
      const message: FromLine = { frame: this.#frame, level: this.#level };
      this.port.postMessage(message, [this.#frame.buffer]);
      this.#frame = new Uint8Array(frameSamples);
      this.#filled = 0;
      this.#level = 0;
    }
  }
}

/** Plays two sides of a call: the callee on the left, ours on the right. */
class Sides extends AudioWorkletProcessor {
  readonly #sides = [0, 1].map(() => ({
    up: new Resampler(lineRate, sampleRate),
    playOut: new PlayOut(sampleRate * leadSeconds, sampleRate * mostSeconds),
  }));

  constructor() {
    super();
    this.port.addEventListener('message', ({ data }: MessageEvent<ToSides>) => {
      for (const [side, { up, playOut }] of this.#sides.entries()) {
        const frame = data.subarray(side * frameSamples, (side + 1) * frameSamples);
        playOut.push(up.next(Float32Array.from(frame, fromMuLaw)));
      }
    });
    this.port.start();
  }

  process(_: Float32Array[][], [output]: Float32Array[][]): boolean {
    for (const [side, { playOut }] of this.#sides.entries()) {
      const speaker = output?.[side];
      if (speaker !== undefined) playOut.play(speaker, false);
    }
    return true;
  }
}

registerProcessor('telephone-line', Line);
registerProcessor('telephone-sides', Sides);
