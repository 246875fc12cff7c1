/** Turns of ours that are no words: what we did on the line, in brackets as the keys of the callee are. */
import type { Turn } from './agent.ts';

/** Keys that we pressed. */
export function keysTurn(keys: string, offsetMs: number): Turn {
  return { speaker: 'bot', text: `[${keys}]`, offsetMs, interrupted: false, notes: [], latency: null };
}

/** From here on the callee talks to somebody else; what they say is not written down. */
export function transferTurn(to: string, offsetMs: number): Turn {
  const note = { kind: 'transferred', to } as const;
  return {
    speaker: 'bot',
    text: `[transferred to ${to}]`,
    offsetMs,
    interrupted: false,
    notes: [note],
    latency: null,
  };
}
