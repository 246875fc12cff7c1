/**
 * Whose packets a call listens to (symmetric RTP, RFC 4961): the address of the first valid packet after the
 * session description was agreed, which behind NAT is not the one in it. Pure.
 *
 *   open ──first valid packet──▶ locked to its address and SSRC ──release (new description)──▶ open
 *
 * Another SSRC from the same address is a source that took over (a transfer, an announcement): it must show two
 * packets in order, so that a stray one changes nothing (RFC 3550 §6.2.1). An SSRC equal to ours is no loop but
 * somebody's echo test.
 */

import { nextSequence } from './wrap.ts';

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

/** `locked`: the first packet. `known`: the usual one. `taken_over`: from a new source at the same address. */
export type Admission = 'locked' | 'known' | 'taken_over' | 'stranger';

export class SourceLock {
  #source: SocketAddress | undefined;
  #ssrc = 0;
  #candidate: { ssrc: number; sequence: number } | undefined;
  /** Packets that were ignored because of whom they came from. */
  strangers = 0;

  get source(): SocketAddress | undefined {
    return this.#source;
  }

  /** Judges a packet that is valid in itself (version, payload type, authentication). */
  admit(from: SocketAddress, ssrc: number, sequence: number): Admission {
    if (this.#source === undefined) {
      this.#source = { address: from.address, port: from.port };
      this.#ssrc = ssrc;
      return 'locked';
    }
    if (!this.isSource(from)) return this.#ignore();
    if (ssrc === this.#ssrc) return 'known';
    const confirmed = this.#candidate?.ssrc === ssrc && sequence === nextSequence(this.#candidate.sequence);
    this.#candidate = { ssrc, sequence };
    if (!confirmed) return this.#ignore();
    this.#candidate = undefined;
    this.#ssrc = ssrc;
    return 'taken_over';
  }

  isSource(from: SocketAddress): boolean {
    return from.port === this.#source?.port && from.address === this.#source.address;
  }

  release(): void {
    this.#source = undefined;
    this.#candidate = undefined;
  }

  #ignore(): Admission {
    this.strangers += 1;
    return 'stranger';
  }
}
