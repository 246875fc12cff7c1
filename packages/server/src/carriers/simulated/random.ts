/** Repeatable chance: the same seed gives the same sequence. */
export interface Random {
  /** A whole number in [low, high]. */
  between(low: number, high: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
}

/** FNV-1a for the state, then mulberry32: small, and plenty for how long somebody thinks. */
export function seededRandom(seed: string): Random {
  let state = 0x811c9dc5;
  for (const char of seed) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    between,
    pick: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
  };
}
