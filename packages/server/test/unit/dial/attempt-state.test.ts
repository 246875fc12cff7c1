import { expect, it } from 'vitest';
import {
  attemptStates,
  attemptSteps,
  nextAttemptState,
  type AttemptState,
  type AttemptStep,
} from '../../../src/dial/attempt-state.ts';

const table: Record<AttemptState, Record<AttemptStep, AttemptState>> = {
  dialing: { ringing: 'ringing', answered: 'answered', ended: 'ended' },
  ringing: { ringing: 'ringing', answered: 'answered', ended: 'ended' },
  answered: { ringing: 'answered', answered: 'answered', ended: 'ended' },
  ended: { ringing: 'ended', answered: 'ended', ended: 'ended' },
};

it('moves an attempt forward only, whatever a carrier reports twice or late (I5)', () => {
  for (const state of attemptStates) {
    for (const step of attemptSteps) expect(nextAttemptState(state, step)).toBe(table[state][step]);
  }
});
