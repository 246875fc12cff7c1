/** RTP packets (RFC 3550 §5.1): parse and write. What arrives is hostile until proven otherwise. */

const RTP_HEADER_BYTES = 12;

export interface RtpPacket {
  readonly payloadType: number;
  readonly marker: boolean;
  /** 16 bits. */
  readonly sequence: number;
  /** 32 bits, in samples. */
  readonly timestamp: number;
  /** 32 bits. */
  readonly ssrc: number;
  /** A view into the parsed datagram, without padding. */
  readonly payload: Uint8Array;
}

/**
 * Length of the header with contributing sources and extension, or undefined for what is no RTP packet.
 * Never throws.
 */
export function rtpHeaderLength(datagram: Buffer): number | undefined {
  if (datagram.length < RTP_HEADER_BYTES) return undefined;
  const first = datagram.readUInt8(0);
  if (first >> 6 !== 2) return undefined;
  let length = RTP_HEADER_BYTES + (first & 0x0f) * 4;
  if (first & 0x10) {
    if (datagram.length < length + 4) return undefined;
    length += 4 + datagram.readUInt16BE(length + 2) * 4;
  }
  return datagram.length < length ? undefined : length;
}

/** Undefined for what is no RTP packet: wrong version, cut short, padding longer than the payload. Never throws. */
export function parseRtp(datagram: Buffer): RtpPacket | undefined {
  const start = rtpHeaderLength(datagram);
  if (start === undefined) return undefined;
  const padded = (datagram.readUInt8(0) & 0x20) !== 0;
  const padding = padded ? datagram.readUInt8(datagram.length - 1) : 0;
  const end = datagram.length - padding;
  if (end < start || (padded && padding === 0)) return undefined;
  const second = datagram.readUInt8(1);
  return {
    payloadType: second & 0x7f,
    marker: (second & 0x80) !== 0,
    sequence: datagram.readUInt16BE(2),
    timestamp: datagram.readUInt32BE(4),
    ssrc: datagram.readUInt32BE(8),
    payload: datagram.subarray(start, end),
  };
}

export function writeRtp(packet: RtpPacket): Buffer {
  const datagram = Buffer.allocUnsafe(RTP_HEADER_BYTES + packet.payload.length);
  datagram[0] = 0x80;
  datagram[1] = packet.payloadType | (packet.marker ? 0x80 : 0);
  datagram.writeUInt16BE(packet.sequence, 2);
  datagram.writeUInt32BE(packet.timestamp, 4);
  datagram.writeUInt32BE(packet.ssrc, 8);
  datagram.set(packet.payload, RTP_HEADER_BYTES);
  return datagram;
}

/** Tells RTCP from RTP on a shared port (RFC 5761 §4). */
export function looksLikeRtcp(datagram: Buffer): boolean {
  const type = datagram[1] ?? 0;
  return type >= 192 && type <= 223;
}
