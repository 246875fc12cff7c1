/** G.711 µ-law (ITU-T G.711), between its codes and samples from -1 to 1. */

const bias = 0x84;
const loudest = 32_635;

export function toMuLaw(sample: number): number {
  const linear = Math.round(Math.max(-1, Math.min(1, sample)) * 32_767);
  const magnitude = Math.min(Math.abs(linear), loudest) + bias;
  const segment = 24 - Math.clz32(magnitude);
  const step = (magnitude >> (segment + 3)) & 0x0f;
  return ~((linear < 0 ? 0x80 : 0) | (segment << 4) | step) & 0xff;
}

export function fromMuLaw(code: number): number {
  const inverted = ~code & 0xff;
  const magnitude = (((inverted & 0x0f) << 3) + bias) << ((inverted & 0x70) >> 4);
  return ((inverted & 0x80 ? -1 : 1) * (magnitude - bias)) / 32_768;
}
