/** Webhooks in the operator API: endpoints of accounts, and what was delivered to them. */
import { Type, type Static } from 'typebox';
import { webhookTypes, type WebhookType } from './calls.ts';
import { enumeration } from './enumeration.ts';
import type { PageQuery } from './operator.ts';

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
    description: Type.Optional(
      Type.String({ maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$', description: 'For people.' }),
    ),
    signed: Type.Optional(
      Type.Boolean({ description: 'Whether deliveries carry Standard Webhooks signatures; not by default.' }),
    ),
  },
  { additionalProperties: false },
);
export type CreateWebhookRequest = Static<typeof CreateWebhookRequest>;

/** The last segment of `POST /operator/v1/webhooks/{webhook_id}/{action}` that changes whether it is used. */
export type WebhookSwitch = 'disable' | 'enable';

export interface OperatorWebhook {
  readonly id: string;
  readonly account_id: string;
  readonly url: string;
  readonly types: readonly WebhookType[];
  readonly description: string;
  readonly signed: boolean;
  /** Until when the secret before the present one signs as well. */
  readonly previous_secret_until: string | null;
  readonly enabled: boolean;
  readonly disabled_at: string | null;
  /** By an operator, because the receiver answered 410, or because it failed for five days. */
  readonly disabled_reason: 'operator' | 'gone' | 'failing' | null;
  /** The first failure since the last success. */
  readonly failing_since: string | null;
  readonly created_at: string;
}

/** The answer to a creation or a rotation: the only time that the secret is shown. */
export interface WebhookWithSecret extends OperatorWebhook {
  /** `whsec_…`; null for an endpoint that is not signed. */
  readonly secret: string | null;
}

export const deliveryStates = ['pending', 'delivered', 'failed', 'abandoned'] as const;
/** `failed`: its tries are used up, or the receiver is gone. `abandoned`: its endpoint was disabled when it was due. */
export type DeliveryState = (typeof deliveryStates)[number];

export interface OperatorDelivery {
  readonly id: string;
  readonly account_id: string;
  readonly event_id: string;
  /** A `WebhookType`, or `webhook.test`. */
  readonly type: string;
  readonly call_id: string | null;
  /** Null: the URL came with the call. */
  readonly webhook_id: string | null;
  readonly url: string;
  readonly state: DeliveryState;
  /** Since the delivery was made, or was replayed last. */
  readonly tries: number;
  readonly next_try_at: string | null;
  /** HTTP status of the last try; null when there was no answer. */
  readonly last_status: number | null;
  /** Why the last try had no answer. */
  readonly last_error: string | null;
  readonly created_at: string;
  readonly ended_at: string | null;
}

export interface OperatorDeliveryTry {
  readonly started_at: string;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  /** The beginning of what the receiver answered. */
  readonly response: string | null;
}

export interface OperatorDeliveryDetail extends OperatorDelivery {
  /** The exact text that is sent. */
  readonly body: string;
  /** Newest first; the newest fifty. */
  readonly try_log: readonly OperatorDeliveryTry[];
}

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
