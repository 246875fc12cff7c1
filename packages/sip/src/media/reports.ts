/** The RTCP side of a call: when to report, what to say, and the round trip that comes of it. Pure; time is handed in. */

import type { Reception } from './reception.ts';
import type { ReportBlock, RtcpPacket } from './rtcp.ts';

/** From 1900, where NTP begins, to 1970. */
const NTP_EPOCH_SECONDS = 2_208_988_800;
const INTERVAL_MS = 5_000;
const UNITS_PER_SECOND = 65_536;

/** What our sender did. */
export interface SenderCounts {
  readonly ssrc: number;
  /** RTP timestamp of this moment. */
  readonly timestamp: number;
  readonly packets: number;
  readonly octets: number;
}

/** What the peer says of our audio. */
export interface PeerView {
  readonly roundTripMs: number | undefined;
  /** Loss that the peer saw lately, 0..1. */
  readonly lossRatio: number;
  readonly jitterMs: number;
}

export class Reports {
  readonly #cname: string;
  /** In [0, 1): spreads the reports of many calls (RFC 3550 §6.3.1). */
  readonly #fraction: () => number;
  #nextAt: number;
  #lastSenderReport = 0;
  #lastSenderReportAt = 0;
  #view: PeerView | undefined;

  constructor(cname: string, nowMs: number, fraction: () => number) {
    this.#cname = cname;
    this.#fraction = fraction;
    this.#nextAt = nowMs + this.#interval();
  }

  get peerView(): PeerView | undefined {
    return this.#view;
  }

  #interval(): number {
    return INTERVAL_MS * (0.5 + this.#fraction());
  }

  /** True once for every report that is due. */
  isDue(nowMs: number): boolean {
    if (nowMs < this.#nextAt) return false;
    this.#nextAt = nowMs + this.#interval();
    return true;
  }

  /** A compound packet: a report, who we are, and, at the end of the call, goodbye. `nowMs` is since 1970. */
  write(
    nowMs: number,
    sender: SenderCounts,
    source: { ssrc: number; reception: Reception } | undefined,
    last = false,
  ): RtcpPacket[] {
    const { ssrc } = sender;
    const reports = source === undefined ? [] : [this.#block(nowMs, source.ssrc, source.reception)];
    const ntp = toNtp(nowMs);
    const report: RtcpPacket =
      sender.packets === 0
        ? { kind: 'receiver_report', ssrc, reports }
        : {
            kind: 'sender_report',
            ssrc,
            ntpSeconds: ntp.seconds,
            ntpFraction: ntp.fraction,
            rtpTimestamp: sender.timestamp,
            packetCount: sender.packets,
            octetCount: sender.octets,
            reports,
          };
    const goodbye: RtcpPacket[] = last ? [{ kind: 'goodbye', sources: [ssrc] }] : [];
    return [report, { kind: 'source_description', chunks: [{ ssrc, cname: this.#cname }] }, ...goodbye];
  }

  #block(nowMs: number, ssrc: number, reception: Reception): ReportBlock {
    const heard = this.#lastSenderReport !== 0;
    const since = heard ? ((nowMs - this.#lastSenderReportAt) / 1_000) * UNITS_PER_SECOND : 0;
    return {
      ssrc,
      fractionLost: reception.takeFractionLost(),
      packetsLost: reception.lost,
      highestSequence: reception.highestSequence,
      jitter: Math.round(reception.jitter),
      lastSenderReport: this.#lastSenderReport,
      delaySinceLastSenderReport: Math.max(0, Math.round(since)),
    };
  }

  /** Takes in the peer's compound packet. `ownSsrc` tells reports about us from others. */
  receive(packets: readonly RtcpPacket[], nowMs: number, ownSsrc: number): void {
    for (const packet of packets) {
      if (packet.kind !== 'sender_report' && packet.kind !== 'receiver_report') continue;
      if (packet.kind === 'sender_report') {
        this.#lastSenderReport = ((packet.ntpSeconds << 16) | (packet.ntpFraction >>> 16)) >>> 0;
        this.#lastSenderReportAt = nowMs;
      }
      const block = packet.reports.find(({ ssrc }) => ssrc === ownSsrc);
      if (block !== undefined) this.#read(block, nowMs);
    }
  }

  /** Round trip = now - last SR - delay since (RFC 3550 §6.4.1), in 1/65536 s and wrapping. */
  #read(block: ReportBlock, nowMs: number): void {
    const { seconds, fraction } = toNtp(nowMs);
    const now = ((seconds << 16) | (fraction >>> 16)) >>> 0;
    const units = (now - block.lastSenderReport - block.delaySinceLastSenderReport) | 0;
    // A peer whose clock is coarse may answer "before" we asked; one that invents numbers is not believed.
    const plausible =
      block.lastSenderReport !== 0 && units > -UNITS_PER_SECOND && units < 60 * UNITS_PER_SECOND;
    this.#view = {
      roundTripMs: plausible ? Math.max(0, (units * 1_000) / UNITS_PER_SECOND) : this.#view?.roundTripMs,
      lossRatio: block.fractionLost / 256,
      jitterMs: block.jitter / 8,
    };
  }
}

function toNtp(unixMs: number): { seconds: number; fraction: number } {
  const seconds = Math.floor(unixMs / 1_000);
  const fraction = Math.floor(((unixMs - seconds * 1_000) / 1_000) * 2 ** 32);
  return { seconds: (seconds + NTP_EPOCH_SECONDS) % 2 ** 32, fraction };
}
