/** RTCP compound packets (RFC 3550 §6): sender and receiver reports, source descriptions, goodbyes. */

export interface ReportBlock {
  /** Whose packets this reports on. */
  readonly ssrc: number;
  /** Lost since the last report, in 1/256. */
  readonly fractionLost: number;
  /** Lost in all; negative when duplicates outnumber losses. 24 bits signed. */
  readonly packetsLost: number;
  /** Highest sequence number with its count of wraps in the upper 16 bits. */
  readonly highestSequence: number;
  /** In samples. */
  readonly jitter: number;
  /** The middle 32 bits of the last sender report's NTP time; 0 when none came. */
  readonly lastSenderReport: number;
  /** Since that report came, in 1/65536 s. */
  readonly delaySinceLastSenderReport: number;
}

export interface SenderReport {
  readonly kind: 'sender_report';
  readonly ssrc: number;
  readonly ntpSeconds: number;
  readonly ntpFraction: number;
  readonly rtpTimestamp: number;
  readonly packetCount: number;
  readonly octetCount: number;
  readonly reports: readonly ReportBlock[];
}

export interface ReceiverReport {
  readonly kind: 'receiver_report';
  readonly ssrc: number;
  readonly reports: readonly ReportBlock[];
}

export interface SourceDescription {
  readonly kind: 'source_description';
  readonly chunks: readonly { readonly ssrc: number; readonly cname: string }[];
}

export interface Goodbye {
  readonly kind: 'goodbye';
  readonly sources: readonly number[];
}

export type RtcpPacket = SenderReport | ReceiverReport | SourceDescription | Goodbye;

const TYPES = { senderReport: 200, receiverReport: 201, sourceDescription: 202, goodbye: 203 } as const;
const HEADER_BYTES = 4;
const BLOCK_BYTES = 24;
const MAX_COUNT = 31;
const CNAME = 1;

/**
 * Undefined when any part is malformed: a compound packet is trusted as a whole or not at all (RFC 3550 A.2).
 * Packet types that we do not speak are skipped. Never throws.
 */
export function parseRtcp(datagram: Buffer): RtcpPacket[] | undefined {
  const packets: RtcpPacket[] = [];
  let at = 0;
  while (at < datagram.length) {
    if (datagram.length - at < HEADER_BYTES) return undefined;
    const first = datagram.readUInt8(at);
    const length = HEADER_BYTES + datagram.readUInt16BE(at + 2) * 4;
    if (first >> 6 !== 2 || datagram.length - at < length) return undefined;
    const packet = parseOne(
      first & 0x1f,
      datagram.readUInt8(at + 1),
      datagram.subarray(at + HEADER_BYTES, at + length),
    );
    if (packet === 'malformed') return undefined;
    if (packet !== undefined) packets.push(packet);
    at += length;
  }
  return datagram.length === 0 ? undefined : packets;
}

function parseOne(count: number, type: number, body: Buffer): RtcpPacket | undefined | 'malformed' {
  switch (type) {
    case TYPES.senderReport: {
      const reports = parseBlocks(body, 24, count);
      if (reports === undefined) return 'malformed';
      return {
        kind: 'sender_report',
        ssrc: body.readUInt32BE(0),
        ntpSeconds: body.readUInt32BE(4),
        ntpFraction: body.readUInt32BE(8),
        rtpTimestamp: body.readUInt32BE(12),
        packetCount: body.readUInt32BE(16),
        octetCount: body.readUInt32BE(20),
        reports,
      };
    }
    case TYPES.receiverReport: {
      const reports = parseBlocks(body, 4, count);
      return reports === undefined
        ? 'malformed'
        : { kind: 'receiver_report', ssrc: body.readUInt32BE(0), reports };
    }
    case TYPES.sourceDescription:
      return parseDescription(body, count);
    case TYPES.goodbye:
      if (body.length < count * 4) return 'malformed';
      return {
        kind: 'goodbye',
        sources: Array.from({ length: count }, (_, index) => body.readUInt32BE(index * 4)),
      };
    default:
      return undefined;
  }
}

function parseBlocks(body: Buffer, start: number, count: number): ReportBlock[] | undefined {
  if (body.length < start + count * BLOCK_BYTES) return undefined;
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * BLOCK_BYTES;
    return {
      ssrc: body.readUInt32BE(at),
      fractionLost: body.readUInt8(at + 4),
      packetsLost: body.readIntBE(at + 5, 3),
      highestSequence: body.readUInt32BE(at + 8),
      jitter: body.readUInt32BE(at + 12),
      lastSenderReport: body.readUInt32BE(at + 16),
      delaySinceLastSenderReport: body.readUInt32BE(at + 20),
    };
  });
}

/** Each chunk is an SSRC, items of type, length and text, a zero, and zeros up to the next word (RFC 3550 §6.5). */
function parseDescription(body: Buffer, count: number): SourceDescription | 'malformed' {
  const chunks: { ssrc: number; cname: string }[] = [];
  let at = 0;
  for (let left = count; left > 0; left -= 1) {
    if (body.length - at < 4) return 'malformed';
    const ssrc = body.readUInt32BE(at);
    let cname = '';
    at += 4;
    while (at < body.length && body[at] !== 0) {
      const end = at + 2 + (body[at + 1] ?? 0);
      if (end > body.length) return 'malformed';
      if (body[at] === CNAME) cname = body.toString('utf8', at + 2, end);
      at = end;
    }
    at = (Math.floor(at / 4) + 1) * 4;
    chunks.push({ ssrc, cname });
  }
  return { kind: 'source_description', chunks };
}

/** One compound packet; the caller puts a report first (RFC 3550 §6.1). At most 31 reports, chunks or sources each. */
export function writeRtcp(packets: readonly RtcpPacket[]): Buffer {
  return Buffer.concat(packets.map(writeOne));
}

function writeOne(packet: RtcpPacket): Buffer {
  switch (packet.kind) {
    case 'sender_report': {
      const { ssrc, ntpSeconds, ntpFraction, rtpTimestamp, packetCount, octetCount, reports } = packet;
      const numbers = [ssrc, ntpSeconds, ntpFraction, rtpTimestamp, packetCount, octetCount];
      return frame(TYPES.senderReport, reports.length, [words(numbers), ...reports.map(writeBlock)]);
    }
    case 'receiver_report': {
      const { ssrc, reports } = packet;
      return frame(TYPES.receiverReport, reports.length, [words([ssrc]), ...reports.map(writeBlock)]);
    }
    case 'source_description':
      return frame(TYPES.sourceDescription, packet.chunks.length, packet.chunks.map(writeChunk));
    case 'goodbye':
      return frame(TYPES.goodbye, packet.sources.length, [words(packet.sources)]);
  }
}

function frame(type: number, count: number, parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const header = Buffer.from([0x80 | Math.min(count, MAX_COUNT), type, 0, 0]);
  header.writeUInt16BE(body.length / 4, 2);
  return Buffer.concat([header, body]);
}

function words(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
}

function writeBlock(block: ReportBlock): Buffer {
  const lost = Math.max(-0x80_0000, Math.min(0x7f_ffff, block.packetsLost));
  return words([
    block.ssrc,
    (block.fractionLost << 24) | (lost & 0xff_ffff),
    block.highestSequence,
    block.jitter,
    block.lastSenderReport,
    block.delaySinceLastSenderReport,
  ]);
}

function writeChunk({ ssrc, cname }: { readonly ssrc: number; readonly cname: string }): Buffer {
  const text = Buffer.from(cname, 'utf8').subarray(0, 255);
  const length = 4 + 2 + text.length;
  const chunk = Buffer.alloc((Math.floor(length / 4) + 1) * 4);
  chunk.writeUInt32BE(ssrc, 0);
  chunk[4] = CNAME;
  chunk[5] = text.length;
  chunk.set(text, 6);
  return chunk;
}
