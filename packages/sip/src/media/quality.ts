/**
 * Speech quality of a call as the E-model predicts it (ITU-T G.107, default values, G.711):
 *
 *   R   = 93.2 - Id - Ie,eff
 *   Id  = 0.024 d + 0.11 (d - 177.3) when d > 177.3        d: one-way delay in ms
 *   Ie,eff = 95 p / (p + Bpl)                              p: packet loss in %, taken as random (BurstR = 1)
 *   MOS = 1 + 0.035 R + 7e-6 R (R - 60) (100 - R)          for 0 < R < 100
 *
 * Bpl is 4.3: G.711 whose losses are replaced with silence (ITU-T G.113 Appendix I).
 */

const BASE_RATING = 93.2;
const LOSS_ROBUSTNESS = 4.3;
const DELAY_KNEE_MS = 177.3;

export interface Impairments {
  /** From mouth to ear: network, packetization and jitter buffer. */
  readonly oneWayDelayMs: number;
  /** Packets lost or too late to be played, 0..1. */
  readonly lossRatio: number;
}

/** Mean opinion score, 1 (worst) to about 4.41 (the best that G.711 reaches). */
export function meanOpinionScore({ oneWayDelayMs, lossRatio }: Impairments): number {
  const lossPercent = Math.min(1, Math.max(0, lossRatio)) * 100;
  const delay = 0.024 * oneWayDelayMs + 0.11 * Math.max(0, oneWayDelayMs - DELAY_KNEE_MS);
  const loss = (95 * lossPercent) / (lossPercent + LOSS_ROBUSTNESS);
  const rating = Math.min(100, Math.max(0, BASE_RATING - delay - loss));
  const score = 1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating);
  return Math.max(1, score);
}
