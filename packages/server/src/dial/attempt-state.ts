/**
 * The life of an attempt, pure:
 *
 *   dialing ──ringing──▶ ringing ──answered──▶ answered
 *      │ └──────────────answered───────────────▶ │
 *      └───────────────────ended─────────────────┴──▶ ended
 *
 * It only moves forward (I5). A step that does not fit returns the same state, so late or repeated news of a
 * carrier is harmless. The SQL of each step repeats the guard.
 */
export const attemptStates = ['dialing', 'ringing', 'answered', 'ended'] as const;
export type AttemptState = (typeof attemptStates)[number];
export const attemptSteps = ['ringing', 'answered', 'ended'] as const;
export type AttemptStep = (typeof attemptSteps)[number];

const forward: Readonly<Record<AttemptState, readonly AttemptStep[]>> = {
  dialing: ['ringing', 'answered', 'ended'],
  ringing: ['answered', 'ended'],
  answered: ['ended'],
  ended: [],
};

export function nextAttemptState(state: AttemptState, step: AttemptStep): AttemptState {
  return forward[state].includes(step) ? step : state;
}
