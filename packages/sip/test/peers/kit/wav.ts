/** Mono WAV files, 16 bits: what speech programs read and write. */

import { open } from 'node:fs/promises';

export interface Sound {
  readonly rate: number;
  readonly samples: Int16Array;
}

/** The samples of a file from one of them on; the file may still be growing, and is not read whole each time. */
export async function readMonoWavFrom(path: string, sample: number): Promise<Int16Array> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(4_096);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const begins = head.subarray(0, bytesRead).indexOf('data') + 8;
    if (begins < 8) return new Int16Array();
    const from = begins + 2 * sample;
    const bytes = Buffer.alloc(Math.max(0, (await file.stat()).size - from));
    const { bytesRead: length } = await file.read(bytes, 0, bytes.length, from);
    return Int16Array.from({ length: length >> 1 }, (_, index) => bytes.readInt16LE(2 * index));
  } finally {
    await file.close();
  }
}

/** Reads the chunks in turn: programs put their own between the header and the samples. */
export function readMonoWav(file: Buffer): Sound {
  let rate = 0;
  for (let at = 12; at + 8 <= file.length;) {
    const name = file.toString('latin1', at, at + 4);
    const bytes = file.readUInt32LE(at + 4);
    if (name === 'fmt ') rate = file.readUInt32LE(at + 12);
    if (name === 'data') {
      // A program that writes to a pipe names a size beyond the end, one that has not closed its file yet none.
      const end = bytes === 0 ? file.length : Math.min(file.length, at + 8 + bytes);
      const samples = Int16Array.from({ length: (end - at - 8) >> 1 }, (_, index) =>
        file.readInt16LE(at + 8 + 2 * index),
      );
      return { rate, samples };
    }
    at += 8 + bytes + (bytes % 2);
  }
  throw new Error('no samples');
}

export function writeMonoWav({ rate, samples }: Sound): Buffer {
  const data = Buffer.alloc(44 + samples.length * 2);
  data.write('RIFF', 0, 'latin1');
  data.writeUInt32LE(36 + samples.length * 2, 4);
  data.write('WAVEfmt ', 8, 'latin1');
  data.writeUInt32LE(16, 16);
  data.writeUInt16LE(1, 20);
  data.writeUInt16LE(1, 22);
  data.writeUInt32LE(rate, 24);
  data.writeUInt32LE(rate * 2, 28);
  data.writeUInt16LE(2, 32);
  data.writeUInt16LE(16, 34);
  data.write('data', 36, 'latin1');
  data.writeUInt32LE(samples.length * 2, 40);
  for (const [index, sample] of samples.entries()) data.writeInt16LE(sample, 44 + 2 * index);
  return data;
}
