import { describe, expect, it } from 'vitest';
import {
  closed,
  mayAsk,
  nextBreaker,
  openMs,
  opensAfter,
  tryingMs,
  type Breaker,
  type BreakerEvent,
} from '../../../../src/platform/chat/breaker.ts';

const now = 1_000_000;
const states = {
  closed,
  failing: { kind: 'closed', failures: opensAfter - 1 },
  open: { kind: 'open', until: now + 1 },
  rested: { kind: 'open', until: now },
  trying: { kind: 'trying', until: now + 1 },
  abandoned: { kind: 'trying', until: now },
} satisfies Record<string, Breaker>;
type State = keyof typeof states;

const opened: Breaker = { kind: 'open', until: now + openMs };
const tries: Breaker = { kind: 'trying', until: now + tryingMs };

/** `same`: the same object comes back. */
const table: Record<State, Record<BreakerEvent, Breaker | 'same'>> = {
  closed: { asked: 'same', answered: 'same', failed: { kind: 'closed', failures: 1 } },
  failing: { asked: 'same', answered: closed, failed: opened },
  open: { asked: tries, answered: closed, failed: 'same' },
  rested: { asked: tries, answered: closed, failed: 'same' },
  trying: { asked: tries, answered: closed, failed: opened },
  abandoned: { asked: tries, answered: closed, failed: opened },
};

describe('the breaker', () => {
  it.each(Object.keys(states) as State[])('goes on from %s as the table says', (name) => {
    const state = states[name];
    for (const event of ['asked', 'answered', 'failed'] as const) {
      const next = nextBreaker(state, event, now);
      expect(next === state ? 'same' : next).toEqual(table[name][event]);
    }
  });

  it('lets a request through while it is closed, and when a pause is over', () => {
    const may = Object.entries(states).filter(([, state]) => mayAsk(state, now));
    expect(may.map(([name]) => name)).toEqual(['closed', 'failing', 'rested', 'abandoned']);
  });
});
