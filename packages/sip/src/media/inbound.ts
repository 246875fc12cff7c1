/** The receiving half of a call: from datagrams of anybody to frames, key presses and tones of the peer. No sockets. */

import type { NegotiatedMedia } from '../sdp/negotiate.ts';
import { FRAME_MS, SAMPLES_PER_MS, SILENCE } from './g711.ts';
import { type FrameKind, JitterBuffer } from './jitter-buffer.ts';
import { Reception } from './reception.ts';
import { parseRtp, type RtpPacket } from './rtp.ts';
import { parseRtcp, type RtcpPacket } from './rtcp.ts';
import { type SocketAddress, SourceLock } from './source-lock.ts';
import { SrtpReceiver } from './srtp.ts';
import { KeyReceiver, type KeyPress } from './telephone-events.ts';

/** Comfort noise (RFC 3389): a sign of life that carries no audio. */
const COMFORT_NOISE_TYPE = 13;
/** Packets taken between two ticks; a peer that sends more floods us. */
const MAX_PER_TICK = 50;

/** What became of a datagram. `locked`: taken, and the first of its source. */
export type Arrival = 'locked' | 'taken' | 'ignored';

export interface InboundStats {
  readonly packets: number;
  readonly lost: number;
  readonly late: number;
  readonly duplicates: number;
  readonly concealed: number;
  readonly skippedMs: number;
  readonly jitterMs: number;
  readonly depthMs: number;
  /** Datagrams from others than the peer. */
  readonly strangers: number;
  /** Datagrams that were no valid packet of this call: malformed, forged, replayed, of another payload type, or too many. */
  readonly invalid: number;
}

export class Inbound {
  readonly lock = new SourceLock();
  #media: NegotiatedMedia | undefined;
  #srtp: SrtpReceiver | undefined;
  #reception = new Reception();
  #jitter = new JitterBuffer(SILENCE.PCMU);
  #keys = new KeyReceiver();
  #ssrc: number | undefined;
  #sinceTick = 0;
  #readAtMs = 0;
  #invalid = 0;
  /** Of sources that were replaced during the call. */
  #earlier = { packets: 0, lost: 0, late: 0, duplicates: 0, concealed: 0, skipped: 0 };

  /**
   * Takes on what was agreed. Listens for the source anew only when the description names another: a mere refresh
   * of the session must not open the door to strangers.
   */
  configure(media: NegotiatedMedia): void {
    const { srtp } = media;
    const old = this.#media;
    if (srtp === undefined) this.#srtp = undefined;
    else if (old?.srtp?.suite !== srtp.suite || !old.srtp.remoteKey.equals(srtp.remoteKey)) {
      this.#srtp = new SrtpReceiver(srtp.suite, srtp.remoteKey);
    }
    this.#media = media;
    if (old?.codec !== media.codec) this.#replaceSource(this.#ssrc);
    const isSame = old?.remoteAddress === media.remoteAddress && old.remotePort === media.remotePort;
    if (!isSame) this.lock.release();
  }

  /** The source that we hear, with what we know of it. */
  get source(): { ssrc: number; reception: Reception } | undefined {
    return this.#ssrc === undefined ? undefined : { ssrc: this.#ssrc, reception: this.#reception };
  }

  /** Takes a datagram of the RTP port. Never throws. `nowMs` is any steady clock. */
  receive(datagram: Buffer, from: SocketAddress, nowMs: number): Arrival {
    const media = this.#media;
    // Before the first description nobody can be told from a stranger. Port 0 is forged: nobody can be answered there.
    if (media === undefined || from.port === 0) return this.#refuse();
    this.#sinceTick += 1;
    if (this.#sinceTick > MAX_PER_TICK) return this.#refuse();
    const plain = media.srtp === undefined ? datagram : this.#srtp?.unprotectRtp(datagram);
    const packet = plain === undefined ? undefined : parseRtp(plain);
    if (packet === undefined || !isAgreed(packet.payloadType, media)) return this.#refuse();
    const admission = this.lock.admit(from, packet.ssrc, packet.sequence);
    if (admission === 'stranger') return 'ignored';
    if (packet.ssrc !== this.#ssrc) this.#replaceSource(packet.ssrc);
    this.#accept(packet, media, nowMs);
    return admission === 'locked' ? 'locked' : 'taken';
  }

  #refuse(): Arrival {
    this.#invalid += 1;
    return 'ignored';
  }

  #replaceSource(ssrc: number | undefined): void {
    this.#earlier = this.#totals();
    this.#ssrc = ssrc;
    this.#reception = new Reception();
    this.#jitter = new JitterBuffer(SILENCE[this.#media?.codec ?? 'PCMU']);
    this.#keys = new KeyReceiver();
  }

  #accept(packet: RtpPacket, media: NegotiatedMedia, nowMs: number): void {
    const isKey = packet.payloadType === media.telephoneEvents?.receivePayloadType;
    const sequence = this.#reception.receive(packet.sequence, packet.timestamp, nowMs, !isKey);
    if (sequence === undefined || media.direction === 'sendonly' || media.direction === 'inactive') return;
    if (isKey) this.#keys.receive(packet.timestamp, packet.payload);
    else if (packet.payloadType === media.payloadType) {
      const sinceReadMs = Math.min(Math.max(0, nowMs - this.#readAtMs), FRAME_MS);
      this.#jitter.write(sequence, packet.timestamp, packet.payload, sinceReadMs);
    }
  }

  /** Opens a datagram of the RTCP port, or undefined when it is not the peer's. Never throws. */
  openReport(datagram: Buffer, from: SocketAddress): RtcpPacket[] | undefined {
    const peer = this.lock.source?.address ?? this.#media?.remoteAddress;
    if (from.address !== peer) {
      this.lock.strangers += 1;
      return undefined;
    }
    const plain = this.#media?.srtp === undefined ? datagram : this.#srtp?.unprotectRtcp(datagram);
    const packets = plain === undefined ? undefined : parseRtcp(plain);
    if (packets === undefined) this.#invalid += 1;
    return packets;
  }

  /** Fills `frame` with the next 20 ms. `nowMs` is the clock of `receive`. */
  read(frame: Uint8Array, nowMs: number): FrameKind {
    this.#sinceTick = 0;
    this.#readAtMs = nowMs;
    return this.#jitter.read(frame);
  }

  /** Key presses that ended since the last tick. */
  takeKeys(): KeyPress[] {
    return this.#keys.tick();
  }

  #totals(): {
    packets: number;
    lost: number;
    late: number;
    duplicates: number;
    concealed: number;
    skipped: number;
  } {
    const { late, duplicates, concealed, skipped } = this.#jitter.stats();
    const { received, lost } = this.#reception;
    const earlier = this.#earlier;
    return {
      packets: earlier.packets + received,
      // A duplicate hides a loss in the difference of RFC 3550; telephony wants both.
      lost: earlier.lost + Math.max(0, lost + duplicates),
      late: earlier.late + late,
      duplicates: earlier.duplicates + duplicates,
      concealed: earlier.concealed + concealed,
      skipped: earlier.skipped + skipped,
    };
  }

  stats(): InboundStats {
    const { skipped, ...totals } = this.#totals();
    return {
      ...totals,
      skippedMs: skipped / SAMPLES_PER_MS,
      jitterMs: this.#reception.jitter / SAMPLES_PER_MS,
      depthMs: this.#jitter.stats().depthMs,
      strangers: this.lock.strangers,
      invalid: this.#invalid,
    };
  }
}

function isAgreed(payloadType: number, media: NegotiatedMedia): boolean {
  return (
    payloadType === media.payloadType ||
    payloadType === media.telephoneEvents?.receivePayloadType ||
    payloadType === COMFORT_NOISE_TYPE
  );
}
