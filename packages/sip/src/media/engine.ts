/**
 * The media engine: moves the audio of many calls in a worker thread of its own, so that their 20 ms beat does not
 * depend on what else the program does.
 *
 * A call's events and frames come in order. An engine that dies ends all its calls (`engine_stopped`) and does not
 * start again: its owner makes a new one.
 */

import { Worker } from 'node:worker_threads';
import type { IdleSound } from './comfort-noise.ts';
import { CallHandle, type MediaCall, type MediaHandlers } from './call.ts';
import { pairsIn, type PortRange } from './ports.ts';
import { type Command, readBatch, type Report, type WorkerSettings } from './protocol.ts';

export interface MediaEngineOptions {
  /** The local IP address of the sockets; `0.0.0.0` or `::` for all. */
  readonly address: string;
  /** UDP ports for calls, each taking an even one and the next. Default 16384–32767. */
  readonly ports?: PortRange;
}

export interface OpenOptions extends MediaHandlers {
  /** What the peer hears while nothing is queued. Default `comfort_noise`. */
  readonly idle?: IdleSound;
  /** How long nothing may arrive before the event `silence`. Default 30,000. */
  readonly silenceLimitMs?: number;
  /** Audio that may wait to be sent. Default 60,000. */
  readonly maxQueuedMs?: number;
}

export type Opened =
  | { readonly kind: 'opened'; readonly call: MediaCall }
  | { readonly kind: 'refused'; readonly reason: 'no_port' | 'engine_stopped' };

export interface MediaEngine {
  /** Calls that are open or opening. */
  readonly size: number;
  /** Resolves when the engine was closed (undefined) or died (why). Never rejects. */
  readonly stopped: Promise<Error | undefined>;
  /** Reserves a pair of ports. Never rejects. */
  open(options?: OpenOptions): Promise<Opened>;
  /** Ends all calls and the worker, within 5 s. Safe to repeat. */
  close(): Promise<void>;
}

const DEFAULT_PORTS: PortRange = { first: 16_384, last: 32_767 };
const DEFAULT_SILENCE_LIMIT_MS = 30_000;
const DEFAULT_MAX_QUEUED_MS = 60_000;
/** After this a worker that waits for a dead disk is ended. */
const CLOSE_LIMIT_MS = 5_000;

/** The sources run as TypeScript, a build as JavaScript: the worker has the extension of this file. */
const OWN_EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const WORKER_URL = new URL(`./worker.${OWN_EXTENSION}`, import.meta.url);

/** Throws when the range holds no pair of ports, so that a wrong setting shows at start. */
export function startMediaEngine(options: MediaEngineOptions): MediaEngine {
  const { address, ports = DEFAULT_PORTS } = options;
  pairsIn(ports);
  return new Engine(address, ports);
}

interface Opening {
  readonly options: OpenOptions;
  readonly settle: (opened: Opened) => void;
}

class Engine implements MediaEngine {
  readonly stopped: Promise<Error | undefined>;
  readonly #worker: Worker;
  readonly #read = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #openings = new Map<number, Opening>();
  readonly #calls = new Map<number, CallHandle>();
  readonly #settleStopped: (error: Error | undefined) => void;
  #commands: Command[] = [];
  #lastId = 0;
  #state: 'running' | 'closing' | 'stopped' = 'running';

  constructor(address: string, ports: PortRange) {
    const settings: WorkerSettings = { address, ports, read: this.#read.buffer };
    this.#worker = new Worker(WORKER_URL, { workerData: settings, name: 'media' });
    const { promise, resolve } = Promise.withResolvers<Error | undefined>();
    this.stopped = promise;
    this.#settleStopped = resolve;
    this.#worker.on('message', (report: Report) => this.#take(report));
    this.#worker.once('error', (error: Error) => this.#stop(error));
    this.#worker.once('exit', () => this.#stop(undefined));
  }

  get size(): number {
    return this.#calls.size + this.#openings.size;
  }

  open(options: OpenOptions = {}): Promise<Opened> {
    if (this.#state !== 'running') return Promise.resolve({ kind: 'refused', reason: 'engine_stopped' });
    this.#lastId += 1;
    const { promise, resolve } = Promise.withResolvers<Opened>();
    this.#openings.set(this.#lastId, { options, settle: resolve });
    const { idle = 'comfort_noise', silenceLimitMs = DEFAULT_SILENCE_LIMIT_MS } = options;
    this.#post({ kind: 'open', id: this.#lastId, options: { idle, silenceLimitMs } });
    return promise;
  }

  async close(): Promise<void> {
    if (this.#state === 'running') {
      this.#state = 'closing';
      this.#post({ kind: 'shut_down' });
      const deadline = setTimeout(() => void this.#worker.terminate(), CLOSE_LIMIT_MS);
      await this.stopped;
      clearTimeout(deadline);
    }
    await this.stopped;
  }

  /** Collects the commands of this turn of the event loop into one message. */
  #post(command: Command): void {
    if (this.#commands.length === 0) queueMicrotask(() => this.#flush());
    this.#commands.push(command);
  }

  #flush(): void {
    this.#worker.postMessage(this.#commands, []);
    this.#commands = [];
  }

  #take(report: Report): void {
    switch (report.kind) {
      case 'frames':
        Atomics.add(this.#read, 0, 1);
        for (const record of readBatch(report.batch)) this.#calls.get(record.id)?.takeFrame(record);
        for (const record of report.taps) this.#calls.get(record.id)?.takeTapped(record);
        return;
      case 'opened':
      case 'no_port':
        this.#finishOpening(report);
        return;
      case 'shut_down':
        return;
      case 'closed':
        this.#calls.get(report.id)?.take(report);
        this.#calls.delete(report.id);
        return;
      case 'event':
      case 'cleared':
      case 'stats':
        this.#calls.get(report.id)?.take(report);
    }
  }

  #finishOpening(report: Extract<Report, { readonly kind: 'opened' | 'no_port' }>): void {
    const { id } = report;
    const opening = this.#openings.get(id);
    this.#openings.delete(id);
    if (opening === undefined) return;
    if (report.kind === 'no_port') {
      opening.settle({ kind: 'refused', reason: 'no_port' });
      return;
    }
    const { maxQueuedMs = DEFAULT_MAX_QUEUED_MS } = opening.options;
    const call = new CallHandle(id, report.port, maxQueuedMs, opening.options, (command) =>
      this.#post(command),
    );
    this.#calls.set(id, call);
    opening.settle({ kind: 'opened', call });
  }

  #stop(error: Error | undefined): void {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    for (const { settle } of this.#openings.values()) settle({ kind: 'refused', reason: 'engine_stopped' });
    for (const call of this.#calls.values()) call.finish({ reason: 'engine_stopped', stats: undefined });
    this.#openings.clear();
    this.#calls.clear();
    this.#settleStopped(error);
  }
}
