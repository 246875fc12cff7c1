/** A recording as the media engine writes it: stereo, 8 kHz, 16 bits. `level` gives both sides, 0–1, at a time. */
export function stereoWave(seconds: number, level: (second: number) => readonly [number, number]): Buffer {
  const rate = 8_000;
  const data = Buffer.alloc(seconds * rate * 4);
  for (let at = 0; at < seconds * rate; at += 1) {
    const sign = at % 16 < 8 ? 1 : -1;
    for (const [channel, loud] of level(at / rate).entries())
      data.writeInt16LE(Math.trunc(sign * loud * 32_767.9), at * 4 + channel * 2);
  }
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + data.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(2, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 4, 28);
  header.writeUInt16LE(4, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}
