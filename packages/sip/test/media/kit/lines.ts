/** Engines that talk to each other, and a peer made of bare sockets. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'vitest';
import {
  type FrameKind,
  type MediaCall,
  type MediaEngine,
  type MediaEvent,
  type NegotiatedMedia,
  type OpenOptions,
  SILENCE,
  startMediaEngine,
} from '../../../src/index.ts';
import { parseRtp, type RtpPacket, writeRtp } from '../../../src/media/rtp.ts';
import { until } from '../../kit/agents.ts';
import { SeededRandom } from '../../kit/seeded-random.ts';

/** Each test file runs in a process of its own; a range of its own keeps two of them apart. */
export function openEngine(): MediaEngine {
  return startMediaEngine({ address: '127.0.0.1', ports: { first: 30_000, last: 60_999 } });
}

/** One end of a call, with everything that it heard. */
export interface Line {
  readonly call: MediaCall;
  readonly events: MediaEvent[];
  /** All frames so far, joined. */
  heard(): Buffer;
  kinds: FrameKind[];
}

export async function openLine(engine: MediaEngine, options: OpenOptions = {}): Promise<Line> {
  const frames: Uint8Array[] = [];
  const events: MediaEvent[] = [];
  const kinds: FrameKind[] = [];
  const opened = await engine.open({
    idle: 'silence',
    ...options,
    onFrame: (frame, kind) => {
      frames.push(frame);
      kinds.push(kind);
    },
    onEvent: (event) => events.push(event),
  });
  if (opened.kind !== 'opened') throw new Error(opened.reason);
  return { call: opened.call, events, kinds, heard: () => Buffer.concat(frames) };
}

/** What both sides agreed on, as seen by who sends to `port`. */
export function mediaTo(port: number, more: Partial<NegotiatedMedia> = {}): NegotiatedMedia {
  return {
    remoteAddress: '127.0.0.1',
    remotePort: port,
    remoteRtcpPort: more.rtcpMux === true ? port : port + 1,
    rtcpMux: false,
    codec: 'PCMU',
    payloadType: 0,
    telephoneEvents: { sendPayloadType: 101, receivePayloadType: 101 },
    packetMs: 20,
    direction: 'sendrecv',
    ...more,
  };
}

/** Connects two lines with each other. */
export function join(a: Line, b: Line, more: Partial<NegotiatedMedia> = {}): void {
  const keys = more.srtp;
  a.call.connect(mediaTo(b.call.port, more));
  const turned = keys && { srtp: { suite: keys.suite, localKey: keys.remoteKey, remoteKey: keys.localKey } };
  b.call.connect(mediaTo(a.call.port, { ...more, ...turned }));
}

/** A socket that speaks RTP as the test tells it. */
export class RawPeer {
  readonly received: RtpPacket[] = [];
  readonly #socket: Socket;
  #sequence = 65_500;
  ssrc: number;

  private constructor(socket: Socket, ssrc: number) {
    this.#socket = socket;
    this.ssrc = ssrc;
    socket.on('error', () => {});
    socket.on('message', (datagram) => {
      const packet = parseRtp(datagram);
      if (packet !== undefined) this.received.push(packet);
    });
  }

  static async open(ssrc = 77): Promise<RawPeer> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new RawPeer(socket, ssrc);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** Sends a packet; its number and timestamp follow the one before. */
  say(port: number, payload: Uint8Array, more: Partial<RtpPacket> = {}): void {
    this.#sequence += 1;
    const timestamp = (this.#sequence * 160) >>> 0;
    const sequence = this.#sequence & 0xffff;
    const packet = { payloadType: 0, marker: false, sequence, timestamp, ssrc: this.ssrc, payload, ...more };
    this.raw(port, writeRtp(packet));
  }

  raw(port: number, datagram: Uint8Array): void {
    this.#socket.send(datagram, port, '127.0.0.1');
  }

  /** Sends every packet back, as an echo test of a network does. */
  echo(keep: () => boolean = () => true): void {
    this.#socket.on('message', (datagram, from) => {
      if (keep()) this.#socket.send(datagram, from.port, from.address);
    });
  }

  close(): void {
    this.#socket.close();
  }
}

/** Audio without any code of silence, the same in no two places. */
export function noise(ms: number, seed = 1): Buffer {
  const random = new SeededRandom(seed);
  return Buffer.from(
    Uint8Array.from({ length: ms * 8 }, () => random.below(254)).map((code) =>
      code === SILENCE.PCMA ? code + 1 : code,
    ),
  );
}

const contains = (line: Line, audio: Buffer): boolean => line.heard().includes(audio);

/**
 * Plays the audio until it was heard whole and to the bit, at most five times: on a machine that stalls, a frame may
 * come too late for its place, but no frame may be changed.
 */
export async function passes(from: Line, to: Line, audio: Buffer): Promise<boolean> {
  for (let turn = 0; turn < 5 && !contains(to, audio); turn += 1) {
    from.call.play(audio);
    expect(await from.call.mark()).toBe('played');
    const ticks = to.kinds.length;
    await until(() => contains(to, audio) || to.kinds.length > ticks + 20, 'the rest of it');
  }
  return contains(to, audio);
}
