/**
 * One call in the media worker: its two sockets, and what connects the halves (`inbound.ts`, `outbound.ts`) to them
 * and to the owner. Has no timer of its own: `send` and `hear` are called every 20 ms.
 */

import type { Socket } from 'node:dgram';
import { randomBytes } from 'node:crypto';
import type { Codec, NegotiatedMedia } from '../sdp/negotiate.ts';
import { FRAME_MS, SAMPLES_PER_MS, transcodeG711 } from './g711.ts';
import { Inbound } from './inbound.ts';
import type { FrameKind } from './jitter-buffer.ts';
import { Outbound } from './outbound.ts';
import type { PortPair } from './ports.ts';
import type { MediaEvent, MediaStats, Position, StreamOptions, TappedFrame } from './protocol.ts';
import { meanOpinionScore } from './quality.ts';
import { Recording } from './recording.ts';
import { Reports } from './reports.ts';
import { looksLikeRtcp } from './rtp.ts';
import { writeRtcp } from './rtcp.ts';
import type { SocketAddress } from './source-lock.ts';
import { ToneListener, type ToneKind } from './tones/listener.ts';

export class MediaStream {
  /** Somebody wants both sides of it. */
  isTapped = false;
  readonly #rtp: Socket;
  #rtcp: Socket | undefined;
  readonly #options: StreamOptions;
  readonly #tell: (event: MediaEvent) => void;
  readonly #inbound = new Inbound();
  readonly #outbound: Outbound;
  readonly #tones = new ToneListener();
  readonly #reports: Reports;
  #media: NegotiatedMedia | undefined;
  #recording: Recording | undefined;
  /** The RTP socket takes packets of the peer alone. */
  #connected = false;
  /** Where the peer's reports came from. */
  #reportSource: SocketAddress | undefined;
  #heardAt = 0;
  #silenceTold = false;
  #networkErrors = 0;
  /** The call that hears this one, and is heard by it. */
  #partner: MediaStream | undefined;

  /** Owns the sockets from here on. `tell` must not throw; `guard` runs what a datagram causes and catches its errors. */
  constructor(
    { rtp, rtcp }: PortPair,
    options: StreamOptions,
    tell: (event: MediaEvent) => void,
    guard: (work: () => void) => void,
  ) {
    this.#rtp = rtp;
    this.#rtcp = rtcp;
    this.#options = options;
    this.#tell = tell;
    this.#outbound = new Outbound(options.idle);
    this.#reports = new Reports(randomBytes(12).toString('base64url'), wallClock(), Math.random);
    const countError = (): void => void (this.#networkErrors += 1);
    rtp.on('message', (datagram, from) => guard(() => this.#arrive(datagram, from)));
    rtp.on('error', countError);
    rtp.on('connect', () => (this.#connected = true));
    rtcp.on('message', (datagram, from) => guard(() => this.#readReport(datagram, from)));
    rtcp.on('error', countError);
  }

  get position(): Position {
    return this.#outbound.playback;
  }

  /**
   * Takes on a description, the first or a later one. When keys are agreed, clear packets are neither sent nor
   * taken.
   */
  connect(media: NegotiatedMedia): void {
    this.#media = media;
    this.#inbound.configure(media);
    this.#outbound.configure(media);
    this.#reportSource = undefined;
    this.#heardAt = performance.now();
    this.#silenceTold = false;
    if (this.#connected && this.#inbound.lock.source === undefined) {
      this.#rtp.disconnect();
      this.#connected = false;
    }
    if (media.rtcpMux) {
      this.#rtcp?.close();
      this.#rtcp = undefined;
    }
  }

  play(audio: Uint8Array): void {
    this.#outbound.playback.push(audio);
  }

  /** Drops what waits, key presses too; returns the samples that were dropped. */
  clear(): number {
    this.#outbound.dialer.clear();
    return this.#outbound.playback.clear();
  }

  dial(keys: string): void {
    this.#outbound.dialer.dial(keys);
  }

  /** Lets the two hear each other from the next tick on, in place of whom they heard before. */
  bridge(partner: MediaStream): void {
    this.#part();
    partner.#part();
    this.#partner = partner;
    partner.#partner = this;
  }

  #part(): void {
    if (this.#partner !== undefined) this.#partner.#partner = undefined;
    this.#partner = undefined;
  }

  listen(tones: readonly ToneKind[]): void {
    this.#tones.listen(tones);
  }

  /** Starts a recording; one that runs is ended first. */
  record(path: string, maxDurationMs: number): void {
    void this.#recording?.stop();
    const recording = new Recording(path, maxDurationMs);
    this.#recording = recording;
    void recording.ended.then((end) => this.#tell({ kind: 'recording_ended', end }));
  }

  async stopRecording(): Promise<void> {
    const recording = this.#recording;
    this.#recording = undefined;
    await recording?.stop();
  }

  /** The sending half of a tick. */
  send(skipped: number): void {
    const media = this.#media;
    const packet = this.#outbound.tick(skipped);
    if (packet === undefined || media === undefined) return;
    if (this.#connected) this.#rtp.send(packet);
    else {
      const { address = media.remoteAddress, port = media.remotePort } = this.#inbound.lock.source ?? {};
      sendTo(this.#rtp, packet, port, address);
    }
  }

  /** The hearing half of a tick: fills `frame`, tells events. Undefined before the first description. */
  hear(frame: Uint8Array): FrameKind | undefined {
    const media = this.#media;
    if (media === undefined) return undefined;
    const kind = this.#inbound.read(frame, performance.now());
    for (const press of this.#inbound.takeKeys()) {
      this.#tell({ kind: 'key', ...press });
      this.#partner?.dial(press.key);
    }
    if (kind !== 'idle') this.#partner?.relay(media.codec, frame);
    for (const event of this.#tones.hear(media.codec, frame)) this.#tell(event);
    this.#recording?.add(media.codec, frame, this.#outbound.sound);
    this.#watchSilence(media);
    if (this.#reports.isDue(wallClock())) this.#sendReport(media);
    return kind;
  }

  /** Sound of the partner; before it has a description of its own there is nobody to hear it. */
  relay(codec: Codec, frame: Uint8Array): void {
    if (this.#media !== undefined) this.#outbound.relay(transcodeG711(codec, this.#media.codec, frame));
  }

  /** Copies both sides of the tick, whose heard one is `heard`. Undefined before the first description. */
  tapped(heard: Uint8Array): TappedFrame | undefined {
    const codec = this.#media?.codec;
    return codec === undefined
      ? undefined
      : { codec, heard: heard.slice(), sent: this.#outbound.sound.slice() };
  }

  #arrive(datagram: Buffer, from: SocketAddress): void {
    if (this.#media?.rtcpMux === true && looksLikeRtcp(datagram)) {
      this.#readReport(datagram, from);
      return;
    }
    const now = performance.now();
    const arrival = this.#inbound.receive(datagram, from, now);
    if (arrival === 'ignored') return;
    this.#heard(now);
    if (arrival === 'locked') this.#lockTo(from);
  }

  /** Connects the socket: from now on the kernel drops what strangers send, before it costs us anything. */
  #lockTo({ address, port }: SocketAddress): void {
    this.#rtp.connect(port, address);
    this.#tell({ kind: 'source_locked', source: { address, port } });
  }

  #heard(now: number): void {
    this.#heardAt = now;
    this.#silenceTold = false;
  }

  #watchSilence(media: NegotiatedMedia): void {
    const listening = media.direction === 'sendrecv' || media.direction === 'recvonly';
    const silentMs = performance.now() - this.#heardAt;
    if (!listening) this.#heardAt = performance.now();
    if (!listening || this.#silenceTold || silentMs < this.#options.silenceLimitMs) return;
    this.#silenceTold = true;
    this.#tell({ kind: 'silence', silentMs: Math.round(silentMs) });
  }

  #readReport(datagram: Buffer, from: SocketAddress): void {
    const packets = this.#inbound.openReport(datagram, from);
    if (packets === undefined) return;
    this.#heard(performance.now());
    this.#reportSource = { address: from.address, port: from.port };
    this.#reports.receive(packets, wallClock(), this.#outbound.ssrc);
  }

  #sendReport(media: NegotiatedMedia, last = false): void {
    const { source } = this.#inbound;
    const packets = this.#reports.write(wallClock(), this.#outbound.counts, source, last);
    const datagram = this.#outbound.protectReport(writeRtcp(packets));
    if (media.rtcpMux && this.#connected) {
      this.#rtp.send(datagram);
      return;
    }
    const address = this.#reportSource?.address ?? this.#inbound.lock.source?.address ?? media.remoteAddress;
    const port = this.#reportSource?.port ?? media.remoteRtcpPort;
    sendTo(this.#rtcp ?? this.#rtp, datagram, port, address);
  }

  stats(): MediaStats {
    const inbound = this.#inbound.stats();
    const { played, dropped } = this.#outbound.playback;
    const peer = this.#reports.peerView;
    const sent = inbound.packets + inbound.lost;
    return {
      inbound,
      outbound: {
        packets: this.#outbound.counts.packets,
        playedMs: played / SAMPLES_PER_MS,
        droppedMs: dropped / SAMPLES_PER_MS,
        networkErrors: this.#networkErrors,
      },
      peer,
      score: meanOpinionScore({
        oneWayDelayMs: (peer?.roundTripMs ?? 0) / 2 + FRAME_MS + inbound.depthMs,
        lossRatio: sent === 0 ? 0 : (inbound.lost + inbound.late) / sent,
      }),
    };
  }

  /** Says goodbye, completes the recording and closes the sockets; resolves when they are closed. */
  async close(): Promise<void> {
    if (this.#media !== undefined) this.#sendReport(this.#media, true);
    this.#media = undefined;
    this.#part();
    await Promise.all([closeSocket(this.#rtp), closeSocket(this.#rtcp), this.stopRecording()]);
  }
}

/** A description may name ports that do not exist (0, or RTCP beside 65535): nothing is sent there. */
function sendTo(socket: Socket, datagram: Buffer, port: number, address: string): void {
  if (port > 0 && port < 65_536) socket.send(datagram, port, address);
}

function closeSocket(socket: Socket | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (socket === undefined) resolve();
    else socket.close(() => resolve());
  });
}

/** Milliseconds since 1970 with a fraction, steady within the process. */
function wallClock(): number {
  return performance.timeOrigin + performance.now();
}
