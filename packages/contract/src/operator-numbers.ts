/** Our telephone numbers in the operator API: whose they are, who answers calls to them, and simulated calls to them. */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import { callerBehaviors } from './goal-file.ts';
import { printableLine } from './printable.ts';
import { nullable, phonePattern } from './schemas.ts';
import type { Shape } from './shape.ts';

const closed = { additionalProperties: false } as const;

const numberLabel = printableLine({ maxLength: 100, description: 'For people.' });

export const AddNumberRequest = Type.Object(
  {
    phone: Type.String({ pattern: phonePattern, description: 'Canonical E.164, and one of ours.' }),
    account: Type.Optional(
      Type.String({ description: 'Account id or name whose own it is; without it all share it.' }),
    ),
    label: Type.Optional(numberLabel),
  },
  closed,
);
export type AddNumberRequest = Static<typeof AddNumberRequest>;

export const UpdateNumberRequest = Type.Object(
  {
    label: Type.Optional(numberLabel),
    account: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          'Account id or name whose own it becomes; null shares it with all. Whoever answered it before does so no more.',
      }),
    ),
    inbound_goal: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Id of the Goal that answers calls to it, one of the number’s account; null: nobody.',
      }),
    ),
  },
  { ...closed, minProperties: 1 },
);
export type UpdateNumberRequest = Static<typeof UpdateNumberRequest>;

export const RingRequest = Type.Object(
  {
    from: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        pattern: phonePattern,
        description: 'The simulated caller’s number, E.164; null hides it. +12025550100 by default.',
      }),
    ),
    does: Type.Optional(
      enumeration(callerBehaviors, {
        description: 'How the caller behaves; `cooperates` by default.',
      }),
    ),
  },
  closed,
);
export type RingRequest = Static<typeof RingRequest>;

/** Why a call to a number of ours was not answered. */
export const refusalReasons = [
  'unknown_number',
  'not_answered',
  'outside_hours',
  'busy',
  'unavailable',
  'duplicate',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export const RungNumber = Type.Object(
  {
    object: Type.Literal('ring'),
    outcome: Type.Union([Type.Literal('answered'), Type.Literal('gave_up'), enumeration(refusalReasons)], {
      description: '`gave_up`: the caller hung up first.',
    }),
    run: nullable(
      Type.Object({ id: Type.String(), goal_id: Type.String() }, closed),
      'The Goal Run that answers, or was about to; null when the call left none.',
    ),
  },
  { ...closed, $id: 'RungNumber', description: 'What became of a simulated call to one of our numbers.' },
);
export type RungNumber = Shape<typeof RungNumber>;

export const OperatorNumber = Type.Object(
  {
    id: Type.String(),
    phone: Type.String(),
    label: Type.String(),
    origin: Type.Literal('entered', { description: 'How it became ours: an operator entered it.' }),
    account_id: nullable(Type.String(), 'Null: shared by all accounts.'),
    is_default: Type.Boolean({ description: 'Whether callees of its account see it.' }),
    inbound_goal_id: nullable(Type.String(), 'The Goal that answers calls to it.'),
    refused_today: Type.Partial(
      Type.Record(Type.String(), Type.Integer(), {
        description: 'Calls to it that were refused today (UTC), by reason.',
      }),
    ),
    created_at: Type.String({ format: 'date-time' }),
  },
  {
    ...closed,
    $id: 'OperatorNumber',
    description: 'A number that callees may see, that is never dialled, and that a Goal may answer.',
  },
);
export type OperatorNumber = Shape<typeof OperatorNumber>;
