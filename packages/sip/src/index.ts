/**
 * A SIP user agent for telephony, without dependencies. Sessions agree on media with session descriptions; a media
 * engine in a worker thread moves the packets, or whoever uses the package does.
 *
 *   message ─▶ transport ─▶ transaction ─▶ dialog ─▶ session
 *      └─▶ sdp, auth, dns                        media
 *
 * A layer knows only those to its left.
 */

export type { Credentials } from './auth/digest.ts';
export { type Clock, systemClock, type Timer } from './clock.ts';
export { type Resolver, type SrvRecord, systemResolver } from './dns/resolve.ts';
export { type Address, displayName, parseAddress } from './message/address.ts';
export type { Reason } from './message/fields.ts';
export { UnsafeTextError } from './message/grammar.ts';
export { type HeaderLine, Headers } from './message/headers.ts';
export { escapeUser, parseUri, type SipUri, type Uri, writeUri } from './message/uri.ts';
export { type Random, systemRandom } from './random.ts';
export { SRTP_KEY_BYTES, type SrtpSuite } from './sdp/crypto.ts';
export type { Codec, Direction, LocalMedia, NegotiatedMedia } from './sdp/negotiate.ts';
export type { Call, CallHandlers, Info } from './session/call.ts';
export type { AcceptOptions, IncomingCall, RejectOptions } from './session/incoming.ts';
export type { Health, Monitor, MonitorOptions } from './session/monitor.ts';
export type { MediaChange, Renegotiation } from './session/offers.ts';
export type { Ended, EndReason } from './session/outcome.ts';
export type { Answered, CallOptions, CallOutcome, OutgoingCall, Progress } from './session/outgoing.ts';
export type { ReferFailure, ReferOutcome } from './session/refer-state.ts';
export type { Registration, RegistrationState, RegisterOptions } from './session/registration.ts';
export type { SessionTimerPolicy } from './session/session-timer.ts';
export {
  createUserAgent,
  type UserAgent,
  type UserAgentOptions,
  type UserAgentStats,
} from './session/user-agent.ts';
export type { TimerSettings } from './transaction/machine.ts';
export type { Hop, Network, NetworkStats, SendOutcome, Source, TransportName } from './transport/network.ts';
export { type ListenOptions, type NetworkOptions, openNetwork, type TlsSettings } from './transport/open.ts';

// Media: the packets of a call, moved by a worker thread. Knows of signalling only what was negotiated.
export type { Cleared, MarkEnd, MediaCall, MediaEnd, MediaHandlers } from './media/call.ts';
export type { IdleSound } from './media/comfort-noise.ts';
export {
  type MediaEngine,
  type MediaEngineOptions,
  type Opened,
  type OpenOptions,
  startMediaEngine,
} from './media/engine.ts';
export {
  decodeG711,
  encodeG711,
  FRAME_MS,
  FRAME_SAMPLES,
  SAMPLES_PER_MS,
  SILENCE,
  transcodeG711,
} from './media/g711.ts';
export type { InboundStats } from './media/inbound.ts';
export type { FrameKind } from './media/jitter-buffer.ts';
export { Playback } from './media/playback.ts';
export type { PortRange } from './media/ports.ts';
export type { MediaEvent, MediaStats, TappedFrame } from './media/protocol.ts';
export type { RecordingEnd } from './media/recording.ts';
export type { ToneEvent, ToneKind } from './media/tones/listener.ts';
