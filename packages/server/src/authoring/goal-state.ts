/**
 * The life of a Goal.
 *
 *   draft ──publish──▶ active ──pause──▶ paused
 *     │                  ▲ └──────────resume──┘
 *     └─────retire─────▶ retired ◀──retire── (active, paused)
 *
 * A command whose effect already holds succeeds and changes nothing, so scripts can repeat it. `apply`,
 * `publish`, `unpublish`, `hide` and `list_publicly` also change the draft, the published pointer or the
 * listing; whether they may is decided here.
 */
import { goalActions } from '@trunkcall/contract';

export type GoalState = 'draft' | 'active' | 'paused' | 'retired';

export const goalCommands = ['apply', ...goalActions] as const;
export type GoalCommand = (typeof goalCommands)[number];

export type GoalStep =
  | { readonly ok: true; readonly state: GoalState }
  | { readonly ok: false; readonly reason: string };

/** Decides what a command makes of a Goal. Pure; ends with the next state or why not. */
export function nextGoalState(state: GoalState, command: GoalCommand): GoalStep {
  if (state === 'retired') {
    return command === 'retire' ? to(state) : no('the Goal is retired; that is final');
  }
  switch (command) {
    case 'publish':
      return to(state === 'draft' ? 'active' : state);
    case 'pause':
      return state === 'draft' ? no('the Goal is a draft; publish it first') : to('paused');
    case 'resume':
      return state === 'draft' ? no('the Goal is a draft; publish it first') : to('active');
    case 'retire':
      return to('retired');
    case 'apply':
    case 'unpublish':
    case 'hide':
    case 'list_publicly':
      return to(state);
    default:
      return command satisfies never;
  }
}

const to = (state: GoalState): GoalStep => ({ ok: true, state });
const no = (reason: string): GoalStep => ({ ok: false, reason });
