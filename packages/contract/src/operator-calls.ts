/** Call tasks and one-shot calls in the operator API. */
import { Type } from 'typebox';
import { enumeration } from './enumeration.ts';
import { callStatuses, CallTask, OneShotCall } from './calls.ts';
import { OperatorEvent } from './operator-runs.ts';
import { nullable } from './schemas.ts';
import type { Shape } from './shape.ts';

const closed = { additionalProperties: false } as const;

export const OperatorCall = Type.Object(
  {
    id: Type.String(),
    account_id: Type.String(),
    kind: enumeration(['task', 'one_shot']),
    status: enumeration(callStatuses),
    error_code: nullable(Type.String()),
    summary: nullable(Type.String()),
    cancel_requested_at: nullable(Type.String({ format: 'date-time' })),
    created_at: Type.String({ format: 'date-time' }),
    completed_at: nullable(Type.String({ format: 'date-time' })),
  },
  {
    ...closed,
    $id: 'OperatorCall',
    description: 'A call task or a one-shot call, as the operator lists it.',
  },
);
export type OperatorCall = Shape<typeof OperatorCall>;

export const OperatorCallDetail = Type.Object(
  {
    ...OperatorCall.properties,
    view: Type.Union([CallTask, OneShotCall], {
      description: 'As its client sees it, with the digits of numbers hidden.',
    }),
    events: Type.Array(OperatorEvent, { description: 'Oldest first.' }),
  },
  { ...closed, $id: 'OperatorCallDetail' },
);
export type OperatorCallDetail = Omit<Shape<typeof OperatorCallDetail>, 'view'> & {
  readonly view: CallTask | OneShotCall;
};

export interface ListCallsQuery {
  readonly account?: string;
  readonly after?: string;
  readonly limit?: number;
}
