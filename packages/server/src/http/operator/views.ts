/** Rows of the database as the operator API shows them. */
import type {
  OperatorAttempt,
  OperatorEvent,
  OperatorList,
  OperatorRun,
  OperatorTurn,
} from '@trunkcall/contract';
import type { EventRow } from '../../storage/events.ts';
import type { AttemptRow, OperatorRunRow, TurnRow } from '../../storage/run-views.ts';
import { goalRunView } from '../../publication/goal-run-view.ts';

export const listOf = <Item>(
  data: readonly Item[],
  nextCursor: string | null = null,
): OperatorList<Item> => ({
  object: 'list',
  data,
  next_cursor: nextCursor,
});

export const timeOrNull = (time: Date | null): string | null => time?.toISOString() ?? null;

export function runView(row: OperatorRunRow): OperatorRun {
  return {
    ...goalRunView(row),
    account_id: row.account_id,
    direction: row.direction,
    phone: row.phone === null ? null : maskPhone(row.phone),
    number_id: row.number_id,
    cancel_requested_at: timeOrNull(row.cancel_requested_at),
  };
}

/** Enough to recognise a number that one knows, too little to phone it (I10). */
export function maskPhone(phone: string): string {
  return `+${'•'.repeat(phone.length - 3)}${phone.slice(-2)}`;
}

export function attemptView({ dial_intent_at, answered_at, ended_at, ...rest }: AttemptRow): OperatorAttempt {
  return {
    ...rest,
    dialed_at: dial_intent_at.toISOString(),
    answered_at: timeOrNull(answered_at),
    ended_at: timeOrNull(ended_at),
  };
}

export function turnView({ offset_ms, ...rest }: TurnRow): OperatorTurn {
  return { ...rest, offset_seconds: offset_ms / 1_000 };
}

export function eventView({ id, type, details, created_at }: EventRow): OperatorEvent {
  return { id, type, details, created_at: created_at.toISOString() };
}

/** The first event of every run is its acceptance: the row of the run itself. */
export function acceptedEvent(run: OperatorRunRow): OperatorEvent {
  return {
    id: run.id.replace(/^run_/, 'evt_'),
    type: 'call.accepted',
    details: { run_spec_id: run.run_spec_id, run_spec_version: run.run_spec_version },
    created_at: run.created_at.toISOString(),
  };
}
