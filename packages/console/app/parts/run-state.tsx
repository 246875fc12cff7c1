import type { GoalRun, GoalRunErrorCode, GoalRunStatus } from '@trunkcall/contract';
import { text } from '../text.ts';
import { State, type Tone } from './page.tsx';

export const tones: Readonly<Record<GoalRunStatus, Tone>> = {
  queued: 'quiet',
  in_progress: 'busy',
  completed: 'good',
  failed: 'bad',
  canceled: 'quiet',
};

/** Whether the call is over and its result still to come. */
export const isDrawing = ({ status, result, error }: GoalRun): boolean =>
  status === 'completed' && result === null && error === null;

/** How a run stands or ended, in a word. */
export function RunOutcome({
  status,
  error,
  drawing = false,
}: {
  readonly status: GoalRunStatus;
  readonly error: GoalRunErrorCode | null;
  /** The call is over, and its result is still being drawn. */
  readonly drawing?: boolean;
}) {
  if (drawing) return <State tone="busy">{text.runs.drawing}</State>;
  if (status === 'completed' && error !== null) return <State tone="warn">{text.errors[error]}</State>;
  if (status === 'failed' && error !== null) return <State tone={tones.failed}>{text.errors[error]}</State>;
  return <State tone={tones[status]}>{text.runs.statuses[status]}</State>;
}
