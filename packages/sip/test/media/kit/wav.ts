/** Reads a stereo WAV file by its header, as a player would. */
export function readWav(file: Buffer): {
  format: number;
  channels: number;
  rate: number;
  bits: number;
  left: number[];
  right: number[];
} {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 16) !== 'WAVEfmt ') {
    throw new Error('no WAV file');
  }
  const dataBytes = file.readUInt32LE(40);
  if (file.readUInt32LE(4) !== dataBytes + 36) throw new Error('the sizes do not agree');
  const samples = Array.from({ length: dataBytes / 2 }, (_, index) => file.readInt16LE(44 + index * 2));
  return {
    format: file.readUInt16LE(20),
    channels: file.readUInt16LE(22),
    rate: file.readUInt32LE(24),
    bits: file.readUInt16LE(34),
    left: samples.filter((_, index) => index % 2 === 0),
    right: samples.filter((_, index) => index % 2 === 1),
  };
}
