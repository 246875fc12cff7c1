/**
 * SRTP and SRTCP (RFC 3711) for the suites AES_CM_128_HMAC_SHA1_80 and _32 with keys from SDES (RFC 4568).
 *
 *   master key, master salt ──▶ KDF (AES-CM, labels 0–5, no re-keying) ──▶ session cipher, salt and auth keys
 *   RTP:   header | payload ⊕ keystream | tag over header, payload and rollover counter
 *   RTCP:  header | rest ⊕ keystream | E + index | tag over everything before
 *
 * Invariants
 * - What does not authenticate changes no state.
 * - A packet is accepted once: replays within the window, and all behind it, are refused.
 */

import { type Cipheriv, createCipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { SrtpSuite } from '../sdp/crypto.ts';
import { rtpHeaderLength } from './rtp.ts';
import { sequenceDistance } from './wrap.ts';

const KEY_BYTES = 16;
const SALT_BYTES = 14;
const AUTH_KEY_BYTES = 20;
const BLOCK_BYTES = 16;
/** The 32-bit suite shortens the tag of RTP only (RFC 4568 §6.2.2). */
const RTP_TAG_BYTES: Readonly<Record<SrtpSuite, number>> = {
  AES_CM_128_HMAC_SHA1_80: 10,
  AES_CM_128_HMAC_SHA1_32: 4,
};
const RTCP_TAG_BYTES = 10;
const RTCP_HEADER_BYTES = 8;
const RTCP_INDEX_BYTES = 4;
const ENCRYPTED = 0x8000_0000;
const REPLAY_WINDOW = 128;
/** Sources whose counters are kept; a call has one at a time, and a new one after a transfer. */
const MAX_SOURCES = 4;

/**
 * AES in counter mode as a long-lived cipher: the key schedule is set up once and each keystream is one ECB
 * call over its counter blocks, several times faster than a new cipher for every packet.
 */
class KeyStream {
  readonly #cipher: Cipheriv;

  constructor(key: Buffer) {
    this.#cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  }

  /** `length` bytes (at most 2^20) for the counter block `iv`, whose last two bytes are zero. */
  bytes(iv: Buffer, length: number): Buffer {
    const count = Math.ceil(length / BLOCK_BYTES);
    const blocks = Buffer.allocUnsafe(count * BLOCK_BYTES);
    for (let index = 0; index < count; index += 1) {
      blocks.set(iv, index * BLOCK_BYTES);
      blocks.writeUInt16BE(index, index * BLOCK_BYTES + SALT_BYTES);
    }
    return this.#cipher.update(blocks).subarray(0, length);
  }
}

export interface SessionKeys {
  readonly cipher: Buffer;
  readonly salt: Buffer;
  readonly authentication: Buffer;
}

/** Derives the session keys of RTP (labels 0–2) or RTCP (labels 3–5), key derivation rate 0 (RFC 3711 §4.3). */
export function deriveKeys(masterKey: Buffer, masterSalt: Buffer, kind: 'rtp' | 'rtcp'): SessionKeys {
  const stream = new KeyStream(masterKey);
  const firstLabel = kind === 'rtp' ? 0 : 3;
  const derive = (label: number, length: number): Buffer => {
    const iv = Buffer.concat([masterSalt, Buffer.alloc(BLOCK_BYTES - SALT_BYTES)]);
    iv.writeUInt8(iv.readUInt8(7) ^ label, 7);
    return stream.bytes(iv, length);
  };
  return {
    cipher: derive(firstLabel, KEY_BYTES),
    authentication: derive(firstLabel + 1, AUTH_KEY_BYTES),
    salt: derive(firstLabel + 2, SALT_BYTES),
  };
}

/** One direction of RTP or RTCP: encrypts (and, the same operation, decrypts) and authenticates. */
class Transform {
  readonly #keys: SessionKeys;
  readonly #stream: KeyStream;

  constructor(master: Buffer, kind: 'rtp' | 'rtcp') {
    this.#keys = deriveKeys(master.subarray(0, KEY_BYTES), master.subarray(KEY_BYTES), kind);
    this.#stream = new KeyStream(this.#keys.cipher);
  }

  /** Applies the keystream of packet `index` (48 bits) of a source to `packet` from `start` on, in place. */
  encrypt(packet: Buffer, start: number, ssrc: number, index: number): void {
    const iv = Buffer.alloc(BLOCK_BYTES);
    iv.set(this.#keys.salt);
    iv.writeUInt32BE((iv.readUInt32BE(4) ^ ssrc) >>> 0, 4);
    const salted = iv.readUIntBE(8, 6);
    // 48 bits are beyond the bitwise operators: the upper 16 and the lower 32 apart.
    iv.writeUInt16BE(Math.floor(salted / 2 ** 32) ^ Math.floor(index / 2 ** 32), 8);
    iv.writeUInt32BE(((salted % 2 ** 32) ^ (index % 2 ** 32)) >>> 0, 10);
    const stream = this.#stream.bytes(iv, packet.length - start);
    for (let at = 0; at < stream.length; at += 1) {
      packet[start + at] = (packet[start + at] ?? 0) ^ (stream[at] ?? 0);
    }
  }

  tag(data: Buffer, length: number, rollover?: number): Buffer {
    const mac = createHmac('sha1', this.#keys.authentication).update(data);
    if (rollover !== undefined) {
      const counter = Buffer.allocUnsafe(4);
      counter.writeUInt32BE(rollover);
      mac.update(counter);
    }
    return mac.digest().subarray(0, length);
  }
}

/** Which packet numbers of one source came already. */
class ReplayWindow {
  highest = -1;
  readonly #seen = new Float64Array(REPLAY_WINDOW).fill(-1);

  admits(index: number): boolean {
    return index > this.highest - REPLAY_WINDOW && this.#seen[index % REPLAY_WINDOW] !== index;
  }

  accept(index: number): void {
    this.#seen[index % REPLAY_WINDOW] = index;
    this.highest = Math.max(this.highest, index);
  }
}

/** Windows by source; the oldest source is forgotten for a fifth one. */
class Sources {
  readonly #windows = new Map<number, ReplayWindow>();

  /** The source's window, or a new one that is not kept until a packet of it proved genuine. */
  find(ssrc: number): ReplayWindow {
    return this.#windows.get(ssrc) ?? new ReplayWindow();
  }

  keep(ssrc: number, window: ReplayWindow): void {
    if (this.#windows.has(ssrc)) return;
    const oldest = this.#windows.keys().next();
    if (this.#windows.size >= MAX_SOURCES && oldest.done !== true) this.#windows.delete(oldest.value);
    this.#windows.set(ssrc, window);
  }
}

/** Protects what one source sends; sequence numbers must rise one by one. */
export class SrtpSender {
  readonly #suite: SrtpSuite;
  readonly #rtp: Transform;
  readonly #rtcp: Transform;
  #rollover = 0;
  #lastSequence: number | undefined;
  #rtcpIndex = 0;

  /** `master` is key and salt, 30 bytes. */
  constructor(suite: SrtpSuite, master: Buffer) {
    this.#suite = suite;
    this.#rtp = new Transform(master, 'rtp');
    this.#rtcp = new Transform(master, 'rtcp');
  }

  /** `packet` is a well-formed RTP packet of ours. */
  protectRtp(packet: Buffer): Buffer {
    const sequence = packet.readUInt16BE(2);
    if (this.#lastSequence !== undefined && sequence < this.#lastSequence) this.#rollover += 1;
    this.#lastSequence = sequence;
    const start = rtpHeaderLength(packet) ?? packet.length;
    const secured = Buffer.from(packet);
    this.#rtp.encrypt(secured, start, packet.readUInt32BE(8), this.#rollover * 0x1_0000 + sequence);
    const tag = this.#rtp.tag(secured, RTP_TAG_BYTES[this.#suite], this.#rollover);
    return Buffer.concat([secured, tag]);
  }

  /** `packet` is a well-formed compound RTCP packet of ours. */
  protectRtcp(packet: Buffer): Buffer {
    const index = this.#rtcpIndex;
    this.#rtcpIndex = (index + 1) % ENCRYPTED;
    const secured = Buffer.concat([packet, Buffer.alloc(RTCP_INDEX_BYTES)]);
    this.#rtcp.encrypt(secured.subarray(0, packet.length), RTCP_HEADER_BYTES, packet.readUInt32BE(4), index);
    secured.writeUInt32BE((ENCRYPTED | index) >>> 0, packet.length);
    return Buffer.concat([secured, this.#rtcp.tag(secured, RTCP_TAG_BYTES)]);
  }
}

/** Opens what the peer protected. Both methods return undefined for a forgery or a replay and never throw. */
export class SrtpReceiver {
  readonly #suite: SrtpSuite;
  readonly #rtp: Transform;
  readonly #rtcp: Transform;
  readonly #rtpSources = new Sources();
  readonly #rtcpSources = new Sources();

  /** `master` is the peer's key and salt, 30 bytes. */
  constructor(suite: SrtpSuite, master: Buffer) {
    this.#suite = suite;
    this.#rtp = new Transform(master, 'rtp');
    this.#rtcp = new Transform(master, 'rtcp');
  }

  unprotectRtp(datagram: Buffer): Buffer | undefined {
    const end = datagram.length - RTP_TAG_BYTES[this.#suite];
    const start = end < 0 ? undefined : rtpHeaderLength(datagram.subarray(0, end));
    if (start === undefined) return undefined;
    const ssrc = datagram.readUInt32BE(8);
    const window = this.#rtpSources.find(ssrc);
    const index = guessIndex(window.highest, datagram.readUInt16BE(2));
    if (index < 0 || !window.admits(index)) return undefined;
    const packet = Buffer.from(datagram.subarray(0, end));
    const tag = this.#rtp.tag(packet, datagram.length - end, Math.floor(index / 0x1_0000));
    if (!timingSafeEqual(tag, datagram.subarray(end))) return undefined;
    window.accept(index);
    this.#rtpSources.keep(ssrc, window);
    this.#rtp.encrypt(packet, start, ssrc, index);
    return packet;
  }

  unprotectRtcp(datagram: Buffer): Buffer | undefined {
    const signed = datagram.length - RTCP_TAG_BYTES;
    const end = signed - RTCP_INDEX_BYTES;
    if (end < RTCP_HEADER_BYTES) return undefined;
    const trailer = datagram.readUInt32BE(end);
    const index = trailer % ENCRYPTED;
    const ssrc = datagram.readUInt32BE(4);
    const window = this.#rtcpSources.find(ssrc);
    if (!window.admits(index)) return undefined;
    const tag = this.#rtcp.tag(datagram.subarray(0, signed), RTCP_TAG_BYTES);
    if (!timingSafeEqual(tag, datagram.subarray(signed))) return undefined;
    window.accept(index);
    this.#rtcpSources.keep(ssrc, window);
    const packet = Buffer.from(datagram.subarray(0, end));
    if (trailer >= ENCRYPTED) this.#rtcp.encrypt(packet, RTCP_HEADER_BYTES, ssrc, index);
    return packet;
  }
}

/** The packet index nearest to the highest that was seen (RFC 3711 §3.3.1); negative when there can be none. */
function guessIndex(highest: number, sequence: number): number {
  return highest < 0 ? sequence : highest + sequenceDistance(sequence, highest % 0x1_0000);
}
