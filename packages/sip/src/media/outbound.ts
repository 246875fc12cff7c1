/** The sending half of a call: every tick one RTP packet, of queued audio, a key press, or the idle sound. No sockets. */

import { randomBytes } from 'node:crypto';
import type { NegotiatedMedia } from '../sdp/negotiate.ts';
import { type IdleSound, idleFrame } from './comfort-noise.ts';
import { encodeG711, FRAME_SAMPLES } from './g711.ts';
import { Playback } from './playback.ts';
import type { SenderCounts } from './reports.ts';
import { writeRtp } from './rtp.ts';
import { SrtpSender } from './srtp.ts';
import { Dialer, type DialStep, writeTelephoneEvent } from './telephone-events.ts';
import { keyTone } from './tones/key-tones.ts';
import { advanceTimestamp, nextSequence } from './wrap.ts';

/** Sound of a bridged call that may wait: two frames, for ticks that do not come evenly. More would only be delay. */
const MAX_RELAYED = 2 * FRAME_SAMPLES;

interface Payload {
  readonly type: number;
  readonly marker: boolean;
  readonly timestamp: number;
  readonly bytes: Uint8Array;
}

export class Outbound {
  readonly playback = new Playback();
  /** Sound of a bridged call. It has no place in the account of what we played. */
  readonly #relayed = new Playback();
  readonly dialer = new Dialer();
  readonly ssrc = randomBytes(4).readUInt32BE();
  readonly #idle: IdleSound;
  readonly #frame = new Uint8Array(FRAME_SAMPLES);
  #sequence = randomBytes(2).readUInt16BE();
  #timestamp = randomBytes(4).readUInt32BE();
  #tick = 0;
  #packets = 0;
  #octets = 0;
  /** The next packet of audio begins a talkspurt. */
  #marker = true;
  #pressedAt = 0;
  #media: NegotiatedMedia | undefined;
  #srtp: SrtpSender | undefined;

  constructor(idle: IdleSound) {
    this.#idle = idle;
  }

  /**
   * Takes on what was agreed; audio queued for another codec is dropped. The same key keeps its packet counter: counting anew would use one keystream for
   * two packets (RFC 3711 §9.1).
   */
  configure(media: NegotiatedMedia): void {
    const { srtp } = media;
    const old = this.#media?.srtp;
    if (srtp === undefined) this.#srtp = undefined;
    else if (old?.suite !== srtp.suite || !old.localKey.equals(srtp.localKey)) {
      this.#srtp = new SrtpSender(srtp.suite, srtp.localKey);
    }
    if (this.#media !== undefined && this.#media.codec !== media.codec) {
      this.playback.clear();
      this.#relayed.clear();
    }
    this.#media = media;
  }

  /** Takes a frame of the bridged call, in the agreed codec; what is not sent soon is dropped. */
  relay(frame: Uint8Array): void {
    if (this.#relayed.queued + frame.length > MAX_RELAYED) this.#relayed.clear();
    this.#relayed.push(frame);
  }

  /** The sound of the tick that was made last; overwritten by the next. */
  get sound(): Uint8Array {
    return this.#frame;
  }

  get counts(): SenderCounts {
    return { ssrc: this.ssrc, timestamp: this.#timestamp, packets: this.#packets, octets: this.#octets };
  }

  /** Encrypts a report like the audio, or leaves it as it is. */
  protectReport(packet: Buffer): Buffer {
    return this.#srtp?.protectRtcp(packet) ?? packet;
  }

  /**
   * Makes the datagram of this tick, or none while the agreed direction forbids sending; queued audio waits then.
   * `skipped` ticks passed in silence before it: time moves on, the queue does not.
   */
  tick(skipped: number): Buffer | undefined {
    const media = this.#media;
    this.#tick += 1;
    this.#timestamp = advanceTimestamp(this.#timestamp, FRAME_SAMPLES * (1 + skipped));
    if (skipped > 0) this.#marker = true;
    if (media === undefined) return undefined;
    if (media.direction === 'recvonly' || media.direction === 'inactive') {
      this.#frame.set(idleFrame('silence', media.codec, 0));
      this.#marker = true;
      return undefined;
    }
    const payload = this.#dial(media) ?? this.#audio(media);
    const packet = writeRtp({
      payloadType: payload.type,
      marker: payload.marker,
      sequence: this.#sequence,
      timestamp: payload.timestamp,
      ssrc: this.ssrc,
      payload: payload.bytes,
    });
    this.#sequence = nextSequence(this.#sequence);
    this.#packets += 1;
    this.#octets += payload.bytes.length;
    return this.#srtp?.protectRtp(packet) ?? packet;
  }

  #audio(media: NegotiatedMedia): Payload {
    const filled = this.playback.take(this.#frame) || this.#relayed.take(this.#frame);
    if (filled < FRAME_SAMPLES) {
      this.#frame.set(idleFrame(this.#idle, media.codec, this.#tick).subarray(filled), filled);
    }
    return this.#sounding(media);
  }

  #sounding(media: NegotiatedMedia): Payload {
    const marker = this.#marker;
    this.#marker = false;
    return { type: media.payloadType, marker, timestamp: this.#timestamp, bytes: this.#frame };
  }

  /** The part of a key press for this tick, if one is under way: an event where agreed, else its sound. */
  #dial(media: NegotiatedMedia): Payload | undefined {
    const key = this.dialer.pressing;
    const step = this.dialer.next();
    if (step === undefined) return undefined;
    this.#frame.set(idleFrame('silence', media.codec, 0));
    if (media.telephoneEvents !== undefined && step.kind === 'event') {
      return this.#event(media.telephoneEvents.sendPayloadType, step);
    }
    if (media.telephoneEvents === undefined && key !== undefined && step.kind === 'event') {
      const from = step.framesSinceBegin * FRAME_SAMPLES;
      this.#frame.set(encodeG711(media.codec, keyTone(key, FRAME_SAMPLES, from)));
    }
    return this.#sounding(media);
  }

  #event(type: number, { event, framesSinceBegin }: DialStep & { kind: 'event' }): Payload {
    if (framesSinceBegin === 0) this.#pressedAt = this.#timestamp;
    this.#marker = true;
    return {
      type,
      marker: framesSinceBegin === 0,
      timestamp: this.#pressedAt,
      bytes: writeTelephoneEvent(event),
    };
  }
}
