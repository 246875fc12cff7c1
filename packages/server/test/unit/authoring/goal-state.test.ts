import { describe, expect, test } from 'vitest';
import {
  goalCommands,
  nextGoalState,
  type GoalCommand,
  type GoalState,
} from '../../../src/authoring/goal-state.ts';

const draftFirst = { ok: false, reason: 'the Goal is a draft; publish it first' } as const;
const final = { ok: false, reason: 'the Goal is retired; that is final' } as const;
const to = (state: GoalState) => ({ ok: true, state }) as const;

/** Every cell is here, or this file does not compile. */
const expected: Record<GoalState, Record<GoalCommand, ReturnType<typeof nextGoalState>>> = {
  draft: {
    apply: to('draft'),
    publish: to('active'),
    unpublish: to('draft'),
    pause: draftFirst,
    resume: draftFirst,
    retire: to('retired'),
    hide: to('draft'),
    list_publicly: to('draft'),
  },
  active: {
    apply: to('active'),
    publish: to('active'),
    unpublish: to('active'),
    pause: to('paused'),
    resume: to('active'),
    retire: to('retired'),
    hide: to('active'),
    list_publicly: to('active'),
  },
  paused: {
    apply: to('paused'),
    publish: to('paused'),
    unpublish: to('paused'),
    pause: to('paused'),
    resume: to('active'),
    retire: to('retired'),
    hide: to('paused'),
    list_publicly: to('paused'),
  },
  retired: {
    apply: final,
    publish: final,
    unpublish: final,
    pause: final,
    resume: final,
    retire: to('retired'),
    hide: final,
    list_publicly: final,
  },
};

describe.each(Object.keys(expected) as GoalState[])('a Goal that is %s', (state) => {
  test.each(goalCommands)('answers %s as the table says', (command) => {
    expect(nextGoalState(state, command)).toEqual(expected[state][command]);
  });
});
