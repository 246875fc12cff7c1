import type { OperatorCall } from '@trunkcall/contract';
import { State } from '../parts/page.tsx';
import { tones } from '../parts/run-state.tsx';
import { text } from '../text.ts';
import { callFailureText } from './words.ts';

/** How a call stands or ended, in a word. */
export function CallState({ call }: { readonly call: Pick<OperatorCall, 'status' | 'error_code'> }) {
  const { status, error_code: error } = call;
  const failure = status === 'canceled' || error === null ? null : callFailureText(error);
  return (
    <State tone={status === 'completed' && failure !== null ? 'warn' : tones[status]}>
      {failure ?? text.runs.statuses[status]}
    </State>
  );
}
