/**
 * How a call goes on: who is called next, and when it is over. Pure.
 *
 *   recipient:  pending ──▶ in_progress ──▶ completed   a person was reached
 *                  │             └────────▶ failed      nobody was, on any number
 *                  └──────────────────────▶ skipped     stopped before, or all its numbers were called for others
 *
 * The numbers of a recipient are tried in order until somebody answers. No number is called twice in one call. Nothing
 * more is dialled for a recipient after an end that may mean that the person was already on the line: a crash of ours
 * must not make a second phone of theirs ring (I4).
 */
import type { DetailCode } from '@trunkcall/contract';
import type { CallRunState, CallState, RecipientState } from '../storage/calls.ts';

export type Move =
  | { readonly kind: 'dial'; readonly recipientId: string; readonly phone: string }
  | {
      readonly kind: 'settle';
      readonly recipientId: string;
      readonly status: 'completed' | 'failed' | 'skipped';
    }
  /** Everybody was called: the results are drawn, and then the call is over. */
  | { readonly kind: 'conclude' };

/** Ends after which the recipient's next number is tried: surely nobody has spoken to us. */
const triesNext: ReadonlySet<string | null> = new Set<DetailCode>([
  'ring_timeout',
  'unreachable',
  'busy',
  'voicemail',
  'invalid_number',
  'carrier_error',
]);

/** Decides what follows from the present state. The moves stand in the order in which they are made. */
export function nextMoves(
  call: Pick<CallState, 'status' | 'parallel' | 'cancel'>,
  recipients: readonly RecipientState[],
  runs: readonly CallRunState[],
): Move[] {
  const moves: Move[] = [];
  const taken = new Set(runs.map(({ phone }) => phone));
  let busy = 0;
  let open = 0;

  for (const recipient of recipients) {
    if (isSettled(recipient)) continue;
    const own = runs.filter((run) => run.recipient_id === recipient.id);
    const last = own.at(-1);
    if (last !== undefined && !isOver(last)) {
      busy += 1;
      open += 1;
      continue;
    }
    const phone = mayDial(call.cancel, last) ? recipient.phones.find((one) => !taken.has(one)) : undefined;
    if (phone === undefined) {
      moves.push({ kind: 'settle', recipientId: recipient.id, status: settledAs(last) });
      continue;
    }
    open += 1;
    if (busy >= call.parallel) continue;
    busy += 1;
    taken.add(phone);
    moves.push({ kind: 'dial', recipientId: recipient.id, phone });
  }
  if (open === 0) moves.push({ kind: 'conclude' });
  return moves;
}

const isSettled = ({ status }: RecipientState): boolean => status !== 'pending' && status !== 'in_progress';
const isOver = ({ status }: CallRunState): boolean => status !== 'queued' && status !== 'in_progress';

function mayDial(cancel: boolean, last: CallRunState | undefined): boolean {
  if (cancel) return false;
  if (last === undefined) return true;
  const { error_detail_code: detail, answered, rang } = last;
  if (detail === 'voicemail') return true;
  // A carrier that fails a call behind its ringing may have put a person on a line that we never heard.
  if (detail === 'carrier_error' && rang) return false;
  return triesNext.has(detail) && !answered;
}

function settledAs(last: CallRunState | undefined): 'completed' | 'failed' | 'skipped' {
  if (last === undefined) return 'skipped';
  return last.status === 'completed' ? 'completed' : 'failed';
}
