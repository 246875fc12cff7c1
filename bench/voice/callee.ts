/**
 * Callees on bare UDP sockets: each says something, hears the answer out, and says something again; some speak over
 * the answer. What they measure is what a person on the telephone would.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isVoice, voiceByte, type Session } from './provider.ts';

const host = '127.0.0.1';
const frameMs = 20;
const frameBytes = 160;
const sayMs = 600;
/** So long nothing must be heard before it is our turn. */
const quietMs = 200;
/** Into the answer, when it is spoken over. */
const interruptAfterMs = 800;

export interface Measures {
  /** From the callee's last voice to our first, without what the provider took, milliseconds. */
  readonly added: number[];
  /** From the first voice of an interruption to the last of ours. */
  readonly bargeIn: number[];
  /** The same from the moment at which the detector fired. */
  readonly afterFired: number[];
  /** Between two packets. */
  readonly gaps: number[];
}

export const noMeasures = (): Measures => ({ added: [], bargeIn: [], afterFired: [], gaps: [] });

type Mood =
  | { readonly kind: 'pausing'; readonly untilMs: number }
  | { readonly kind: 'saying'; readonly untilMs: number; readonly interrupts: boolean }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'hearing'; readonly sinceMs: number };

export class Callee {
  readonly port: number;
  readonly #socket: Socket;
  readonly #session: Session;
  /** Every so many turns it speaks over the answer; 0 never. */
  readonly #interruptsEvery: number;
  #measures: Measures = noMeasures();
  #mood: Mood;
  #turns = 0;
  #to: number | null = null;
  #sequence = 0;
  #lastPacketAtMs: number | null = null;
  #firstSaidAtMs = 0;
  #lastSaidAtMs = 0;
  #lastHeardAtMs = 0;

  static async open(session: Session, interruptsEvery: number, startInMs: number): Promise<Callee> {
    const socket = createSocket('udp4');
    socket.bind(0, host);
    await once(socket, 'listening');
    return new Callee(socket, session, interruptsEvery, startInMs);
  }

  private constructor(socket: Socket, session: Session, interruptsEvery: number, startInMs: number) {
    this.#socket = socket;
    this.#session = session;
    this.#interruptsEvery = interruptsEvery;
    this.#mood = { kind: 'pausing', untilMs: performance.now() + startInMs };
    this.port = socket.address().port;
    socket.on('message', (packet) => this.#hear(packet));
    this.#session.answerMs = this.#answerMs();
  }

  connect(port: number): void {
    this.#to = port;
  }

  /** Measures into another place from now on. */
  measure(measures: Measures): void {
    this.#measures = measures;
    this.#lastPacketAtMs = null;
  }

  close(): void {
    this.#to = null;
    this.#socket.close();
  }

  /** Sends the packet of a tick. */
  tick(): void {
    if (this.#to === null) return;
    const now = performance.now();
    this.#proceed(now);
    const packet = Buffer.alloc(12 + frameBytes, this.#mood.kind === 'saying' ? voiceByte : 0xff);
    packet[0] = 0x80;
    packet[1] = 0;
    packet.writeUInt16BE(this.#sequence & 0xffff, 2);
    packet.writeUInt32BE((this.#sequence * frameBytes) >>> 0, 4);
    packet.writeUInt32BE(this.port, 8);
    this.#sequence += 1;
    this.#socket.send(packet, this.#to, host);
    if (this.#mood.kind === 'saying') this.#lastSaidAtMs = now;
  }

  #proceed(now: number): void {
    const mood = this.#mood;
    switch (mood.kind) {
      case 'pausing':
        return now >= mood.untilMs ? this.#say(now, false) : undefined;
      case 'saying':
        if (now < mood.untilMs) return;
        if (mood.interrupts) this.#noteInterruption();
        this.#mood = { kind: 'waiting' };
        return;
      case 'waiting':
        return;
      case 'hearing':
        if (this.#interrupts && now - mood.sinceMs >= interruptAfterMs) return this.#say(now, true);
        if (now - this.#lastHeardAtMs >= quietMs) this.#say(now, false);
    }
  }

  get #interrupts(): boolean {
    return this.#interruptsEvery > 0 && this.#turns % this.#interruptsEvery === 0;
  }

  #answerMs(): number {
    return this.#interrupts ? 4_000 : 1_000;
  }

  #say(now: number, interrupts: boolean): void {
    this.#turns += 1;
    this.#session.answerMs = this.#answerMs();
    this.#firstSaidAtMs = now;
    this.#mood = { kind: 'saying', untilMs: now + sayMs, interrupts };
  }

  #noteInterruption(): void {
    const { firedAtMs } = this.#session;
    this.#measures.bargeIn.push(this.#lastHeardAtMs - this.#firstSaidAtMs);
    if (firedAtMs > this.#firstSaidAtMs) this.#measures.afterFired.push(this.#lastHeardAtMs - firedAtMs);
  }

  #hear(packet: Buffer): void {
    const now = performance.now();
    // A report, and no sound.
    if ((packet[1] ?? 0) >= 192) return;
    if (this.#lastPacketAtMs !== null) this.#measures.gaps.push(now - this.#lastPacketAtMs);
    this.#lastPacketAtMs = now;
    if (!isVoice(packet[12 + frameBytes / 2])) return;
    this.#lastHeardAtMs = now;
    if (this.#mood.kind !== 'waiting') return;
    this.#measures.added.push(now - this.#lastSaidAtMs - this.#session.ownMs);
    this.#mood = { kind: 'hearing', sinceMs: now };
  }
}

/** The beat of all callees, on a grid of 20 ms. */
export function beat(callees: ReadonlySet<Callee>): { stop(): void } {
  const origin = performance.now();
  let ticks = 0;
  let timer: NodeJS.Timeout;
  const wake = (): void => {
    for (const callee of callees) callee.tick();
    ticks = Math.max(ticks + 1, Math.floor((performance.now() - origin) / frameMs));
    timer = setTimeout(wake, Math.max(0, origin + (ticks + 1) * frameMs - performance.now()));
  };
  timer = setTimeout(wake, frameMs);
  return { stop: () => clearTimeout(timer) };
}
