/** What the page knows of a talk; pure. */
import type { GoalFileProblem, TalkMessage, TalkMode } from '@trunkcall/contract';

type Of<Type extends TalkMessage['type']> = Extract<TalkMessage, { type: Type }>;

/** What happened on the line, in order. */
export type TalkLine = Of<'turn'> | Of<'keys'>;

/** Why there is no sound. */
export type SoundProblem = 'insecure' | 'denied' | 'missing' | 'failed';

export type TalkProblem =
  | { readonly kind: 'said'; readonly message: string; readonly problems: readonly GoalFileProblem[] }
  | { readonly kind: 'unsaved' }
  | { readonly kind: 'lost' }
  | { readonly kind: SoundProblem };

export interface TalkState {
  readonly phase: 'idle' | 'connecting' | 'talking' | 'drawing' | 'over';
  readonly mode: TalkMode;
  readonly lines: readonly TalkLine[];
  readonly ended: Of<'ended'> | null;
  readonly result: Of<'result'> | null;
  readonly problem: TalkProblem | null;
}

export const noTalk: TalkState = {
  phase: 'idle',
  mode: 'typed',
  lines: [],
  ended: null,
  result: null,
  problem: null,
};

export type TalkEvent =
  | TalkMessage
  | { readonly type: 'started'; readonly mode: TalkMode }
  | { readonly type: 'failed'; readonly problem: TalkProblem }
  /** The connection is over. */
  | { readonly type: 'closed' };

/** The state behind an event; the same object when nothing has changed. */
export function nextTalk(state: TalkState, event: TalkEvent): TalkState {
  switch (event.type) {
    case 'started':
      return { ...noTalk, phase: 'connecting', mode: event.mode };
    case 'answered':
      return { ...state, phase: 'talking' };
    case 'turn':
    case 'keys':
      return { ...state, lines: [...state.lines, event] };
    case 'clear':
      return state;
    case 'ended':
      return { ...state, phase: 'drawing', ended: event };
    case 'result':
      return { ...state, phase: 'over', result: event };
    case 'problem':
      return { ...state, phase: 'over', problem: { ...event, kind: 'said' } };
    case 'failed':
      return { ...state, phase: 'over', problem: event.problem };
    case 'closed':
      return state.phase === 'over' ? state : { ...state, phase: 'over', problem: { kind: 'lost' } };
  }
}
