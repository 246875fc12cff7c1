/** Goal Runs in the operator API, with what their API clients do not see. */
import { Type } from 'typebox';
import { enumeration } from './enumeration.ts';
import { AnsweredBy, directions, type Direction } from './goal-file.ts';
import { MediaQuality } from './operator-trunks.ts';
import type { PageQuery } from './operator.ts';
import { GoalRun, jsonObject, nullable, type GoalRunStatus } from './schemas.ts';
import { scalar, type Shape } from './shape.ts';
import { UsageAmounts } from './usage.ts';

const closed = { additionalProperties: false } as const;

const values = Type.Record(Type.String(), scalar('A value.'), { description: 'As they were sent.' });

export interface ListRunsQuery extends PageQuery {
  /** Goal id. */
  readonly goal?: string;
  /** Id or name. */
  readonly account?: string;
  readonly status?: GoalRunStatus;
  readonly direction?: Direction;
}

export const OperatorRun = Type.Object(
  {
    ...GoalRun.properties,
    account_id: Type.String(),
    direction: enumeration(directions, {
      description: 'Who called whom: us a callee, or a caller one of our numbers.',
    }),
    phone: nullable(
      Type.String(),
      "The other party's number, all but the last two digits hidden; null for a caller who does not show it.",
    ),
    number_id: nullable(Type.String(), 'The number of ours that was called; null for an outbound Run.'),
    cancel_requested_at: nullable(Type.String({ format: 'date-time' })),
  },
  { ...closed, $id: 'OperatorRun', description: 'A Goal Run with what its API client does not see.' },
);
export type OperatorRun = Shape<typeof OperatorRun>;

export const OperatorAttempt = Type.Object(
  {
    id: Type.String({ description: 'The `call_id` of the Run that selected it.' }),
    number: Type.Integer(),
    carrier: Type.String(),
    state: enumeration(['dialing', 'ringing', 'answered', 'ended']),
    outcome: nullable(Type.String()),
    answered_by: nullable(
      AnsweredBy,
      'Who answered, as far as the agent could tell; null when nobody did, and for a Run that somebody called for.',
    ),
    ended_by: nullable(Type.String(), 'Whose doing the end was.'),
    provider_call_id: nullable(Type.String()),
    sip_status: nullable(Type.Integer()),
    q850: nullable(Type.Integer()),
    note: nullable(Type.String()),
    media: nullable(MediaQuality, 'Null where no sound was measured.'),
    dialed_at: Type.String({ format: 'date-time' }),
    answered_at: nullable(Type.String({ format: 'date-time' })),
    ended_at: nullable(Type.String({ format: 'date-time' })),
  },
  { ...closed, $id: 'OperatorAttempt' },
);
export type OperatorAttempt = Shape<typeof OperatorAttempt>;

export const OperatorNote = Type.Union(
  [
    Type.Object(
      {
        kind: Type.Literal('answer'),
        field: Type.String({ description: 'Of the result.' }),
        value: scalar('As it was understood.'),
        quote: Type.String({ description: 'What it was taken from.' }),
      },
      closed,
    ),
    Type.Object(
      { kind: Type.Literal('not_understood'), field: Type.String() },
      { ...closed, description: 'A reply without a usable value.' },
    ),
    Type.Object({ kind: Type.Literal('opted_out') }, closed),
    Type.Object(
      { kind: Type.Literal('transferred'), to: Type.String() },
      { ...closed, description: 'Of a turn of ours: from here on the callee talks to somebody else.' },
    ),
  ],
  { $id: 'OperatorNote', description: 'What the agent understood from a turn.' },
);
export type OperatorNote = Shape<typeof OperatorNote>;

export const TurnLatency = Type.Object(
  {
    endpointing_ms: nullable(Type.Number(), 'Until it was decided that the callee’s turn is over.'),
    model_ms: nullable(Type.Number(), 'Until the model’s first words or sound.'),
    speech_ms: nullable(
      Type.Number(),
      'Until the first synthesized sound; null when the model speaks itself.',
    ),
    transport_ms: nullable(Type.Number(), 'Until the first frame left for the callee.'),
    total_ms: Type.Number(),
  },
  {
    ...closed,
    $id: 'TurnLatency',
    description:
      '* What the callee waited for between their last sound and our first, milliseconds. A part that there was not is null; the others add up to the whole.',
  },
);
export type TurnLatency = Shape<typeof TurnLatency>;

export const OperatorTurn = Type.Object(
  {
    attempt: Type.Integer({ description: 'Number of the attempt.' }),
    index: Type.Integer(),
    speaker: enumeration(['bot', 'user', 'unknown']),
    text: Type.String(),
    offset_seconds: Type.Number({ description: 'Since the answer.' }),
    interrupted: Type.Boolean(),
    notes: Type.Array(OperatorNote, { description: 'What the agent understood from it.' }),
    latency: nullable(
      TurnLatency,
      'How long the callee waited for this turn of ours; null when it answers nothing, or was not measured.',
    ),
  },
  { ...closed, $id: 'OperatorTurn' },
);
export type OperatorTurn = Shape<typeof OperatorTurn>;

export const OperatorEvent = Type.Object(
  {
    id: Type.String(),
    type: Type.String(),
    details: jsonObject('More about it; ids and codes, never spoken words.'),
    created_at: Type.String({ format: 'date-time' }),
  },
  { ...closed, $id: 'OperatorEvent' },
);
export type OperatorEvent = Shape<typeof OperatorEvent>;

export const OperatorEvidence = Type.Object(
  {
    value: scalar('What the result holds.'),
    turns: Type.Array(Type.Integer(), { description: 'Indexes of the turns that support the value.' }),
    quote: Type.String(),
    confidence: Type.Optional(Type.Number({ description: 'Of a model, 0–1.' })),
  },
  { ...closed, $id: 'OperatorEvidence' },
);
export type OperatorEvidence = Shape<typeof OperatorEvidence>;

export const OperatorRunDetail = Type.Object(
  {
    ...OperatorRun.properties,
    variables: values,
    attempts: Type.Array(OperatorAttempt),
    transcript: Type.Array(OperatorTurn),
    events: Type.Array(OperatorEvent, { description: 'Oldest first; the first is `call.accepted`.' }),
    evidence: Type.Record(Type.String(), OperatorEvidence),
    cost: nullable(
      UsageAmounts,
      'What its attempts would cost; null until they are counted, a few seconds after their end.',
    ),
  },
  { ...closed, $id: 'OperatorRunDetail' },
);
export type OperatorRunDetail = Shape<typeof OperatorRunDetail>;

export const RunProgress = Type.Object(
  {
    run: OperatorRun,
    events: Type.Array(OperatorEvent),
    turns: Type.Array(OperatorTurn),
    position: Type.String({ description: 'Opaque; pass it as `after` to go on from here.' }),
    final: Type.Boolean({ description: 'The Run has a result or an error: nothing more will follow.' }),
  },
  {
    ...closed,
    $id: 'RunProgress',
    description: 'What happened to a Run since the `position` that was sent.',
  },
);
export type RunProgress = Shape<typeof RunProgress>;
