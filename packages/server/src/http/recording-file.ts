/**
 * Recordings as they are sent: WAV files of 16 bits, streamed from the disk, whole or in ranges, and looked at for how
 * loud they are.
 */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConsolePeaks } from '@trunkcall/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../platform/refusal.ts';

export interface RecordingFile {
  readonly path: string;
  readonly bytes: number;
}

const headerBytes = 44;
const channels = 2;
const frameBytes = channels * 2;
const byteRate = 8_000 * frameBytes;

/** The recording of an attempt that this machine has; null when there is none. Never throws. */
export async function findRecording(
  directory: string,
  attemptId: string | null,
): Promise<RecordingFile | null> {
  if (attemptId === null) return null;
  const path = join(directory, `${attemptId}.wav`);
  const found = await stat(path).catch(() => null);
  return found === null || !found.isFile() ? null : { path, bytes: found.size };
}

export const secondsOf = ({ bytes }: RecordingFile): number => Math.max(0, bytes - headerBytes) / byteRate;

/** Sends a recording, or the one range that was asked for. Throws: Refusal `invalid_request` with status 416. */
export function sendRecording(
  request: FastifyRequest,
  reply: FastifyReply,
  file: RecordingFile,
): FastifyReply {
  const { path, bytes } = file;
  reply.header('content-type', 'audio/wav').header('accept-ranges', 'bytes');
  const range = readRange(request.headers.range, bytes);
  const { first, last } = range ?? { first: 0, last: bytes - 1 };
  reply.header('content-length', String(last - first + 1));
  if (range !== null) reply.code(206).header('content-range', `bytes ${first}-${last}/${bytes}`);
  // No further than was promised: a recording may still grow.
  return reply.send(createReadStream(path, { start: first, end: Math.max(first, last) }));
}

/** Null: send all of it, which is what a sender may do that does not know a range (RFC 9110 §14.2). */
function readRange(header: string | undefined, bytes: number): { first: number; last: number } | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return null;
  const first = from === '' ? Math.max(0, bytes - Number(to)) : Number(from);
  const last = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (from !== '' && to !== '' && Number(to) < first) return null;
  if (first <= last) return { first, last };
  throw new Refusal('invalid_request', 'the recording has no such range', {
    status: 416,
    headers: { 'content-range': `bytes */${bytes}` },
  });
}

const maxPeaks = 1_000;
/** So much of the sound behind one peak is looked at: a quarter of a second. Bounds the work for long recordings. */
const lookBytes = 8_192;

/** The loudest sample of each of at most 1,000 equal parts. Reads at most 8 MB. Throws: the system's error. */
export async function readPeaks(recording: RecordingFile): Promise<ConsolePeaks> {
  const frames = Math.max(0, Math.floor((recording.bytes - headerBytes) / frameBytes));
  const count = Math.min(maxPeaks, frames);
  const loudest: [number[], number[]] = [[], []];
  const buffer = Buffer.alloc(lookBytes);
  const file = await open(recording.path);
  try {
    for (let part = 0; part < count; part += 1) {
      const first = Math.floor((part * frames) / count);
      const next = Math.floor(((part + 1) * frames) / count);
      const length = Math.min((next - first) * frameBytes, lookBytes);
      const { bytesRead } = await file.read(buffer, 0, length, headerBytes + first * frameBytes);
      for (const [channel, peaks] of loudest.entries()) peaks.push(peakOf(buffer, bytesRead, channel));
    }
  } finally {
    await file.close();
  }
  return { seconds: secondsOf(recording), channels: loudest };
}

function peakOf(samples: Buffer, bytes: number, channel: number): number {
  let peak = 0;
  for (let at = channel * 2; at + 2 <= bytes; at += frameBytes)
    peak = Math.max(peak, Math.abs(samples.readInt16LE(at)));
  return Math.round((peak / 32_768) * 1_000) / 1_000;
}
