/**
 * The media worker: holds all calls of an engine and beats their time. Sends for all calls first, so that the
 * spacing of their packets does not depend on what else a tick has to do.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../clock.ts';
import type { NegotiatedMedia } from '../sdp/negotiate.ts';
import { startPace } from './pace.ts';
import { Ports } from './ports.ts';
import {
  BatchWriter,
  type Command,
  MAX_UNREAD_BATCHES,
  type Report,
  type StreamCommand,
  type StreamOptions,
  type TapRecord,
  type WorkerSettings,
} from './protocol.ts';
import { MediaStream } from './stream.ts';

if (parentPort === null) throw new Error('the media worker runs as a worker thread only');
const main = parentPort;
const settings = workerData as WorkerSettings;
const read = new Int32Array(settings.read);
const ports = new Ports(settings.address, settings.ports);
const streams = new Map<number, { readonly stream: MediaStream; readonly port: number }>();
let batches = 0;
let closing = false;

function report(message: Report): void {
  main.postMessage(message, []);
}

async function open(id: number, options: StreamOptions): Promise<void> {
  const pair = await ports.take();
  if (pair === undefined) {
    report({ kind: 'no_port', id });
    return;
  }
  if (closing) {
    pair.rtp.close();
    pair.rtcp.close();
    return;
  }
  const stream = new MediaStream(
    pair,
    options,
    (event) => report({ kind: 'event', id, event }),
    (work) => guard(id, work),
  );
  streams.set(id, { stream, port: pair.port });
  report({ kind: 'opened', id, port: pair.port });
}

async function close(id: number, reason: 'closed' | 'failed'): Promise<void> {
  const entry = streams.get(id);
  if (entry === undefined) return;
  streams.delete(id);
  await entry.stream.close();
  ports.release(entry.port);
  report({ kind: 'closed', id, reason, stats: entry.stream.stats() });
}

/** Runs one call's part; what goes wrong in it ends that call and no other. */
function guard(id: number, work: () => void): void {
  try {
    work();
  } catch {
    void close(id, 'failed');
  }
}

function tick(skipped: number): void {
  for (const [id, { stream }] of streams) guard(id, () => stream.send(skipped));
  const batch = new BatchWriter(streams.size);
  const taps: TapRecord[] = [];
  for (const [id, { stream }] of streams) {
    guard(id, () => {
      const { frame } = batch;
      const kind = stream.hear(frame);
      if (kind === undefined) return;
      batch.add(id, stream.position, kind);
      const tapped = stream.isTapped ? stream.tapped(frame) : undefined;
      if (tapped !== undefined) taps.push({ id, ...tapped });
    });
  }
  const unread = (batches - Atomics.load(read, 0)) | 0;
  const packed = batch.finish();
  if (packed.byteLength === 0 || unread >= MAX_UNREAD_BATCHES) return;
  batches = (batches + 1) | 0;
  main.postMessage({ kind: 'frames', batch: packed, taps } satisfies Report, [packed]);
}

function obey(stream: MediaStream, command: StreamCommand): void {
  switch (command.kind) {
    case 'connect':
      stream.connect(revive(command.media));
      return;
    case 'play':
      stream.play(command.audio);
      return;
    case 'clear': {
      const { played, dropped } = stream.position;
      const droppedNow = stream.clear();
      report({ kind: 'cleared', id: command.id, before: { played, dropped }, droppedNow });
      return;
    }
    case 'dial':
      stream.dial(command.keys);
      return;
    case 'listen':
      stream.listen(command.tones);
      return;
    case 'record':
      stream.record(command.path, command.maxDurationMs);
      return;
    case 'stop_recording':
      void stream.stopRecording();
      return;
    case 'bridge': {
      const partner = streams.get(command.partner);
      if (partner !== undefined) stream.bridge(partner.stream);
      return;
    }
    case 'tap':
      stream.isTapped = command.open;
      return;
    case 'stats':
      report({ kind: 'stats', id: command.id, stats: stream.stats() });
      return;
    case 'close':
      void close(command.id, 'closed');
  }
}

/** A `Buffer` crosses the threads as a plain array of bytes. */
function revive(media: NegotiatedMedia): NegotiatedMedia {
  const { srtp } = media;
  if (srtp === undefined) return media;
  const { suite, localKey, remoteKey } = srtp;
  return { ...media, srtp: { suite, localKey: Buffer.from(localKey), remoteKey: Buffer.from(remoteKey) } };
}

async function shutDown(): Promise<void> {
  closing = true;
  pace.stop();
  await Promise.all([...streams.keys()].map((id) => close(id, 'closed')));
  report({ kind: 'shut_down' });
  main.close();
}

const pace = startPace(systemClock, tick);

main.on('message', (commands: readonly Command[]) => {
  for (const command of commands) {
    if (command.kind === 'open') void open(command.id, command.options);
    else if (command.kind === 'shut_down') void shutDown();
    else {
      const { id } = command;
      const entry = streams.get(id);
      if (entry !== undefined) guard(id, () => obey(entry.stream, command));
    }
  }
});
