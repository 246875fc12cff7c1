/**
 * Offer and answer (RFC 3264) for one telephone audio stream: G.711, telephone events (RFC 4733), SRTP by
 * SDES (RFC 4568). Pure functions over descriptions.
 *
 * Invariants
 * - `srtp: 'required'` never ends in clear media, whoever offered.
 * - An answer has as many streams as its offer, in its order; those we do not take have port 0.
 */

import { isIP } from 'node:net';
import type { Random } from '../random.ts';
import {
  type CryptoLine,
  parseCrypto,
  SRTP_KEY_BYTES,
  SRTP_SUITES,
  type SrtpSuite,
  writeCrypto,
} from './crypto.ts';
import {
  type Attribute,
  attribute,
  attributes,
  hasAttribute,
  type MediaDescription,
  type SessionDescription,
} from './description.ts';

export type Codec = 'PCMU' | 'PCMA';

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/** What our side of the audio stream can do. */
export interface LocalMedia {
  /** Where our RTP arrives: an IP address, no brackets. */
  readonly address: string;
  readonly port: number;
  /** In order of preference, at least one. */
  readonly codecs: readonly Codec[];
  /** Send and take key presses as telephone events. */
  readonly telephoneEvents: boolean;
  /**
   * `required`: RTP/SAVP is offered and a peer without keys is refused. `optional`: keys are offered beside clear media
   * (RFC 8643) and used when the peer has them. `never`: clear media; an offer that demands keys is refused.
   */
  readonly srtp: 'never' | 'optional' | 'required';
  /** RTP and RTCP on one port (RFC 5761) when the peer does it too. */
  readonly rtcpMux: boolean;
}

/** What both sides agreed on. */
export interface NegotiatedMedia {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly remoteRtcpPort: number;
  readonly rtcpMux: boolean;
  readonly codec: Codec;
  /** The same in both directions: G.711 has static payload types. */
  readonly payloadType: number;
  readonly telephoneEvents?:
    | { readonly sendPayloadType: number; readonly receivePayloadType: number }
    | undefined;
  /** Milliseconds of audio in a packet that the peer asked for; 20 when it asked for nothing. */
  readonly packetMs: number;
  /** As seen from us: `recvonly` means that we must not send. */
  readonly direction: Direction;
  readonly srtp?:
    | { readonly suite: SrtpSuite; readonly localKey: Buffer; readonly remoteKey: Buffer }
    | undefined;
}

export type NegotiationFlaw = 'no_common_codec' | 'srtp_required' | 'srtp_refused' | 'malformed';

const PAYLOAD_TYPES: Readonly<Record<Codec, number>> = { PCMU: 0, PCMA: 8 };
const OFFERED_EVENT_TYPE = 101;
const DEFAULT_PACKET_MS = 20;

/** Our identity in the `o=` line; the version rises with every description that differs. */
export interface OwnOrigin {
  readonly sessionId: string;
  readonly version: number;
}

/** Builds an offer of one stream with the given keys (none for clear media). */
export function makeOffer(
  local: LocalMedia,
  origin: OwnOrigin,
  direction: Direction,
  keys: readonly CryptoLine[],
): SessionDescription {
  const formats = local.codecs.map((codec) => PAYLOAD_TYPES[codec]);
  const stream: MediaDescription = {
    kind: 'audio',
    port: local.port,
    protocol: local.srtp === 'required' ? 'RTP/SAVP' : 'RTP/AVP',
    formats: [...formats, ...(local.telephoneEvents ? [OFFERED_EVENT_TYPE] : [])].map(String),
    attributes: [
      ...local.codecs.map((codec) => rtpmap(PAYLOAD_TYPES[codec], codec)),
      ...(local.telephoneEvents ? eventAttributes(OFFERED_EVENT_TYPE) : []),
      { name: 'ptime', value: String(DEFAULT_PACKET_MS) },
      ...keys.map((key) => ({ name: 'crypto', value: writeCrypto(key) })),
      ...(local.rtcpMux ? [{ name: 'rtcp-mux' }] : []),
      { name: direction },
    ],
  };
  return { origin: { ...origin, address: local.address }, attributes: [], media: [stream] };
}

/** Fresh keys for an offer: one per suite, none when the policy is clear media. */
export function makeKeys(local: LocalMedia, random: Random): CryptoLine[] {
  if (local.srtp === 'never') return [];
  return SRTP_SUITES.map((suite, index) => ({
    tag: String(index + 1),
    suite,
    key: random.bytes(SRTP_KEY_BYTES),
  }));
}

function rtpmap(payloadType: number, codec: Codec): Attribute {
  return { name: 'rtpmap', value: `${payloadType} ${codec}/8000` };
}

function eventAttributes(payloadType: number): Attribute[] {
  return [
    { name: 'rtpmap', value: `${payloadType} telephone-event/8000` },
    { name: 'fmtp', value: `${payloadType} 0-15` },
  ];
}

export type Answer =
  | { readonly kind: 'agreed'; readonly answer: SessionDescription; readonly media: NegotiatedMedia }
  | { readonly kind: 'refused'; readonly flaw: NegotiationFlaw };

/** Answers an offer. `wanted` is the widest direction that we allow now (`sendonly` while we hold). */
export function answerOffer(
  offer: SessionDescription,
  local: LocalMedia,
  origin: OwnOrigin,
  wanted: Direction,
  keys: readonly CryptoLine[],
): Answer {
  const index = offer.media.findIndex((media) => media.kind === 'audio' && media.port !== 0 && isRtp(media));
  const stream = offer.media[index];
  if (stream === undefined) return { kind: 'refused', flaw: 'no_common_codec' };
  const chosen = chooseCrypto(stream, local);
  if (typeof chosen === 'string') return { kind: 'refused', flaw: chosen };
  const ours = chosen && keys.find((key) => key.suite === chosen.suite);
  const media = readStream(offer, stream, local, wanted, ours && chosen && { ours, theirs: chosen });
  if (typeof media === 'string') return { kind: 'refused', flaw: media };
  const accepted: MediaDescription = {
    kind: 'audio',
    port: local.port,
    protocol: stream.protocol,
    formats: [
      media.payloadType,
      ...(media.telephoneEvents ? [media.telephoneEvents.sendPayloadType] : []),
    ].map(String),
    attributes: [
      rtpmap(media.payloadType, media.codec),
      ...(media.telephoneEvents ? eventAttributes(media.telephoneEvents.sendPayloadType) : []),
      { name: 'ptime', value: String(DEFAULT_PACKET_MS) },
      ...(ours && chosen ? [{ name: 'crypto', value: writeCrypto({ ...ours, tag: chosen.tag }) }] : []),
      ...(media.rtcpMux ? [{ name: 'rtcp-mux' }] : []),
      { name: media.direction },
    ],
  };
  const streams = offer.media.map((other, at) =>
    at === index ? accepted : { ...other, port: 0, attributes: [] },
  );
  return {
    kind: 'agreed',
    answer: { origin: { ...origin, address: local.address }, attributes: [], media: streams },
    media,
  };
}

export type AnswerReading =
  | { readonly kind: 'agreed'; readonly media: NegotiatedMedia }
  | { readonly kind: 'refused'; readonly flaw: NegotiationFlaw };

/** Reads the answer to our own offer. */
export function readAnswer(
  answer: SessionDescription,
  local: LocalMedia,
  offered: Direction,
  keys: readonly CryptoLine[],
): AnswerReading {
  const stream = answer.media[0];
  if (stream === undefined || stream.kind !== 'audio' || stream.port === 0 || !isRtp(stream)) {
    return { kind: 'refused', flaw: 'no_common_codec' };
  }
  const theirs = chooseCrypto(stream, local, keys);
  if (typeof theirs === 'string') return { kind: 'refused', flaw: theirs };
  const ours = theirs && keys.find((key) => key.tag === theirs.tag);
  const media = readStream(
    answer,
    stream,
    local,
    offered,
    ours && theirs && { ours, theirs },
    OFFERED_EVENT_TYPE,
  );
  return typeof media === 'string' ? { kind: 'refused', flaw: media } : { kind: 'agreed', media };
}

function isRtp(media: MediaDescription): boolean {
  return /^RTP\/S?AVPF?$/.test(media.protocol);
}

/**
 * The peer's crypto line to use, or undefined for clear media. An answer's line must carry the tag and the
 * suite of one that we offered (RFC 4568 §5.1.3).
 */
function chooseCrypto(
  stream: MediaDescription,
  local: LocalMedia,
  offered?: readonly CryptoLine[],
): CryptoLine | undefined | NegotiationFlaw {
  const secure = stream.protocol.startsWith('RTP/SAVP');
  if (local.srtp === 'never') return secure ? 'srtp_refused' : undefined;
  const line = attributes(stream, 'crypto')
    .map(parseCrypto)
    .find(
      (candidate) =>
        candidate !== undefined &&
        (offered === undefined ||
          offered.some((key) => key.tag === candidate.tag && key.suite === candidate.suite)),
    );
  return line === undefined && (secure || local.srtp === 'required') ? 'srtp_required' : line;
}

function readStream(
  description: SessionDescription,
  stream: MediaDescription,
  local: LocalMedia,
  wanted: Direction,
  crypto: { ours: CryptoLine; theirs: CryptoLine } | undefined,
  /** The payload type of events that we offered; undefined when the peer offered and its number counts. */
  ownEventType?: number,
): NegotiatedMedia | NegotiationFlaw {
  const codec = chooseCodec(stream, local);
  if (codec === undefined) return 'no_common_codec';
  const remoteAddress = stream.address ?? description.address;
  if (remoteAddress === undefined || isIP(remoteAddress) === 0) return 'malformed';
  const eventType = local.telephoneEvents ? findEventType(stream) : undefined;
  const rtcpMux = local.rtcpMux && hasAttribute(stream, 'rtcp-mux');
  const rtcpPort = Number(/^(\d{1,5})(?: |$)/.exec(attribute(stream, 'rtcp') ?? '')?.[1] ?? stream.port + 1);
  const packetMs = Number(attribute(stream, 'ptime'));
  // `c=0.0.0.0` is hold as RFC 2543 wrote it: the peer takes no media.
  const silenced = remoteAddress === '0.0.0.0' || remoteAddress === '::';
  return {
    remoteAddress,
    remotePort: stream.port,
    remoteRtcpPort: rtcpMux ? stream.port : rtcpPort,
    rtcpMux,
    codec,
    payloadType: PAYLOAD_TYPES[codec],
    telephoneEvents:
      eventType === undefined
        ? undefined
        : { sendPayloadType: eventType, receivePayloadType: ownEventType ?? eventType },
    packetMs: packetMs >= 10 && packetMs <= 60 ? packetMs : DEFAULT_PACKET_MS,
    direction: agreedDirection(wanted, silenced ? 'sendonly' : directionOf(description, stream)),
    srtp: crypto && { suite: crypto.ours.suite, localKey: crypto.ours.key, remoteKey: crypto.theirs.key },
  };
}

/** The first codec of the peer's list that we have: both sides of RFC 3264 honour the order of the other's list. */
function chooseCodec(stream: MediaDescription, local: LocalMedia): Codec | undefined {
  const ours = local.codecs.map((codec) => [String(PAYLOAD_TYPES[codec]), codec] as const);
  for (const format of stream.formats) {
    const found = ours.find(([payloadType]) => payloadType === format);
    if (found !== undefined) return found[1];
  }
  return undefined;
}

function findEventType(stream: MediaDescription): number | undefined {
  for (const value of attributes(stream, 'rtpmap')) {
    const match = /^(\d{1,3}) telephone-event\/8000/i.exec(value);
    if (match !== null && stream.formats.includes(match[1] ?? '') && Number(match[1]) < 128)
      return Number(match[1]);
  }
  return undefined;
}

function directionOf(description: SessionDescription, stream: MediaDescription): Direction {
  const names = [...stream.attributes, ...description.attributes].map(({ name }) => name);
  const found = names.find((name) => Object.hasOwn(FLOWS, name));
  return (found as Direction | undefined) ?? 'sendrecv';
}

/** Whether a side sends and receives. */
const FLOWS: Readonly<Record<Direction, { readonly sends: boolean; readonly receives: boolean }>> = {
  sendrecv: { sends: true, receives: true },
  sendonly: { sends: true, receives: false },
  recvonly: { sends: false, receives: true },
  inactive: { sends: false, receives: false },
};

/** What we may do when we want `ours` and the peer declares `theirs` from its own side. */
function agreedDirection(ours: Direction, theirs: Direction): Direction {
  const sends = FLOWS[ours].sends && FLOWS[theirs].receives;
  const receives = FLOWS[ours].receives && FLOWS[theirs].sends;
  if (sends) return receives ? 'sendrecv' : 'sendonly';
  return receives ? 'recvonly' : 'inactive';
}
