/** Webhooks in the operator API: endpoints of accounts, and what was delivered to them. */
import { Type, type Static } from 'typebox';
import { webhookTypes } from './calls.ts';
import { enumeration } from './enumeration.ts';
import type { PageQuery } from './operator.ts';
import { printableLine } from './printable.ts';
import { nullable } from './schemas.ts';
import type { Shape } from './shape.ts';

const closed = { additionalProperties: false } as const;

export const CreateWebhookRequest = Type.Object(
  {
    account: Type.String({ description: 'Account id or name.' }),
    url: Type.String({ maxLength: 2_048, description: 'HTTPS URL of a public address.' }),
    types: Type.Optional(
      Type.Array(enumeration(webhookTypes), {
        minItems: 1,
        uniqueItems: true,
        description: 'The events that it wants; all by default.',
      }),
    ),
    description: Type.Optional(printableLine({ maxLength: 200, description: 'For people.' })),
    signed: Type.Optional(
      Type.Boolean({ description: 'Whether deliveries carry Standard Webhooks signatures; not by default.' }),
    ),
  },
  { additionalProperties: false },
);
export type CreateWebhookRequest = Static<typeof CreateWebhookRequest>;

/** The last segment of `POST /operator/v1/webhooks/{webhook_id}/{action}` that changes whether it is used. */
export type WebhookSwitch = 'disable' | 'enable';

export const OperatorWebhook = Type.Object(
  {
    id: Type.String(),
    account_id: Type.String(),
    url: Type.String(),
    types: Type.Array(enumeration(webhookTypes)),
    description: Type.String(),
    signed: Type.Boolean(),
    previous_secret_until: nullable(
      Type.String({ format: 'date-time' }),
      'Until when the secret before the present one signs as well.',
    ),
    enabled: Type.Boolean(),
    disabled_at: nullable(Type.String({ format: 'date-time' })),
    disabled_reason: nullable(
      enumeration(['operator', 'gone', 'failing']),
      'By an operator, because the receiver answered 410, or because it failed for five days.',
    ),
    failing_since: nullable(
      Type.String({ format: 'date-time' }),
      'The first failure since the last success.',
    ),
    created_at: Type.String({ format: 'date-time' }),
  },
  { ...closed, $id: 'OperatorWebhook' },
);
export type OperatorWebhook = Shape<typeof OperatorWebhook>;

export const WebhookWithSecret = Type.Object(
  {
    ...OperatorWebhook.properties,
    secret: nullable(Type.String(), '`whsec_…`; null for an endpoint that is not signed.'),
  },
  {
    ...closed,
    $id: 'WebhookWithSecret',
    description: 'The answer to a creation or a rotation: the only time that the secret is shown.',
  },
);
export type WebhookWithSecret = Shape<typeof WebhookWithSecret>;

export const deliveryStates = ['pending', 'delivered', 'failed', 'abandoned'] as const;
/** `failed`: its tries are used up, or the receiver is gone. `abandoned`: its endpoint was disabled when it was due. */
export type DeliveryState = (typeof deliveryStates)[number];

export const OperatorDelivery = Type.Object(
  {
    id: Type.String(),
    account_id: Type.String(),
    event_id: Type.String(),
    type: Type.String({ description: 'A `WebhookType`, or `webhook.test`.' }),
    call_id: nullable(Type.String(), 'The call, or the Run, that it tells of; null for a test event.'),
    webhook_id: nullable(Type.String(), 'Null: the URL came with the call.'),
    url: Type.String(),
    state: enumeration(deliveryStates),
    tries: Type.Integer({ description: 'Since the delivery was made, or was replayed last.' }),
    next_try_at: nullable(Type.String({ format: 'date-time' })),
    last_status: nullable(Type.Integer(), 'HTTP status of the last try; null when there was no answer.'),
    last_error: nullable(Type.String(), 'Why the last try had no answer.'),
    created_at: Type.String({ format: 'date-time' }),
    ended_at: nullable(Type.String({ format: 'date-time' })),
  },
  { ...closed, $id: 'OperatorDelivery' },
);
export type OperatorDelivery = Shape<typeof OperatorDelivery>;

export const OperatorDeliveryTry = Type.Object(
  {
    started_at: Type.String({ format: 'date-time' }),
    duration_ms: Type.Number(),
    status: nullable(Type.Integer()),
    error: nullable(Type.String()),
    response: nullable(Type.String(), 'The beginning of what the receiver answered.'),
  },
  { ...closed, $id: 'OperatorDeliveryTry' },
);
export type OperatorDeliveryTry = Shape<typeof OperatorDeliveryTry>;

export const OperatorDeliveryDetail = Type.Object(
  {
    ...OperatorDelivery.properties,
    body: Type.String({ description: 'The exact text that is sent.' }),
    try_log: Type.Array(OperatorDeliveryTry, { description: 'Newest first; the newest fifty.' }),
  },
  { ...closed, $id: 'OperatorDeliveryDetail' },
);
export type OperatorDeliveryDetail = Shape<typeof OperatorDeliveryDetail>;

export interface ListWebhooksQuery extends PageQuery {
  /** Id or name. */
  readonly account?: string;
}

export interface ListDeliveriesQuery extends PageQuery {
  /** Endpoint id; not together with `call`. */
  readonly webhook?: string;
  /** Call id. */
  readonly call?: string;
  readonly state?: DeliveryState;
}
