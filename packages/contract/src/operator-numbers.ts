/** Our telephone numbers in the operator API: whose they are, who answers calls to them, and simulated calls to them. */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import { callerBehaviors } from './goal-file.ts';
import { phonePattern } from './schemas.ts';

const closed = { additionalProperties: false } as const;

const numberLabel = Type.String({
  maxLength: 100,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  description: 'For people.',
});

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

/** What became of a simulated call to one of our numbers. */
export interface RungNumber {
  readonly object: 'ring';
  /** `gave_up`: the caller hung up first. */
  readonly outcome: 'answered' | 'gave_up' | RefusalReason;
  /** The Goal Run that answers, or was about to; null when the call left none. */
  readonly run: { readonly id: string; readonly goal_id: string } | null;
}

/** A number that callees may see, that is never dialled, and that a Goal may answer. */
export interface OperatorNumber {
  readonly id: string;
  readonly phone: string;
  readonly label: string;
  /** How it became ours: an operator entered it. */
  readonly origin: 'entered';
  /** Null: shared by all accounts. */
  readonly account_id: string | null;
  /** Whether callees of its account see it. */
  readonly is_default: boolean;
  /** The Goal that answers calls to it. */
  readonly inbound_goal_id: string | null;
  /** Calls to it that were refused today (UTC), by reason. */
  readonly refused_today: Readonly<Partial<Record<RefusalReason, number>>>;
  readonly created_at: string;
}
