import type { WebhookType } from '@trunkcall/contract';
import { assert } from '../platform/assert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { findCall, type CallRow } from '../storage/call-views.ts';
import type { Queryable } from '../storage/database.ts';
import { enqueueWebhooks } from '../storage/webhooks.ts';
import { renderCall } from './call-views.ts';

/**
 * Hands the terminal event of a call to the outbox, in the transaction that made it final (I8): its body is what a GET
 * answers from this commit on.
 */
export async function publishCall(
  tx: Queryable,
  deps: { readonly ids: Ids; readonly clock: Clock },
  callId: string,
): Promise<void> {
  const [call] = await tx.query(findCall, [callId]);
  assert(call !== undefined, 'a call that ends is there');
  const id = deps.ids.next('evt');
  const type = webhookType(call);
  const body = JSON.stringify({
    id,
    type,
    created_at: new Date(deps.clock.now()).toISOString(),
    data: await renderCall(tx, call),
  });
  await tx.query(enqueueWebhooks, [id, call.account_id, call.id, type, body, call.webhook_url]);
}

function webhookType(call: CallRow): WebhookType {
  if (call.status !== 'completed') return 'call.failed';
  return call.result_schema !== null && call.result === null
    ? 'call.result_validation_failed'
    : 'call.completed';
}
