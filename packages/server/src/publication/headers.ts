import { Webhook } from 'standardwebhooks';

export interface Signed {
  readonly eventId: string;
  readonly body: string;
  /** `whsec_…`; each signs. Empty leaves the delivery unsigned. */
  readonly secrets: readonly string[];
}

/**
 * The headers of one try. Signatures are those of Standard Webhooks (standardwebhooks.com), made anew for each try
 * because they cover its time; `prefix` is the deployment's, as in `Trunkcall-Event-Id`.
 */
export function webhookHeaders({ eventId, body, secrets }: Signed, prefix: string, nowMs: number) {
  const at = new Date(nowMs);
  const signature = secrets.map((secret) => new Webhook(secret).sign(eventId, at, body)).join(' ');
  return {
    'content-type': 'application/json',
    'user-agent': `${prefix}-Webhooks/1`,
    [`${prefix}-Event-Id`]: eventId,
    ...(secrets.length > 0 && {
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
      'webhook-signature': signature,
    }),
  };
}
