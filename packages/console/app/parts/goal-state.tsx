import type { OperatorGoal } from '@trunkcall/contract';
import { text } from '../text.ts';
import { State, type Tone } from './page.tsx';

const tones: Readonly<Record<OperatorGoal['state'], Tone>> = {
  draft: 'quiet',
  active: 'good',
  paused: 'warn',
  retired: 'quiet',
};

export function GoalState({ state }: { readonly state: OperatorGoal['state'] }) {
  return <State tone={tones[state]}>{text.goals.states[state]}</State>;
}
