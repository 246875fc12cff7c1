import { callEvents, type CallEvent, type CallEventType, type CallStatus } from '@trunkcall/contract';
import type { CallKind } from '../storage/calls.ts';
import type { EventRow } from '../storage/events.ts';

/** Events whose details say what the call's state is from then on. */
const tellsStatus: ReadonlySet<string> = new Set<CallEventType>([
  'call.accepted',
  'call.in_progress',
  'call.result_ready',
  'call.completed',
  'call.failed',
  'call.canceled',
]);

/** An event of a call's trace as API clients see it. */
export function callEventView(
  call: { readonly id: string; readonly kind: CallKind },
  row: EventRow,
): CallEvent {
  const type = row.type as CallEventType;
  // With the end of its only phone call a one-shot call is over; a call task goes on to its results.
  const told = tellsStatus.has(type) || (type === 'call.ended' && call.kind === 'one_shot');
  return {
    id: row.id,
    type,
    call_id: call.id,
    created_at: row.created_at.toISOString(),
    ...callEvents[type],
    status: told ? (row.details['status'] as CallStatus) : 'in_progress',
    details: row.details,
  };
}
