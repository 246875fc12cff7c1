import type { InboundWebhookBody } from '@trunkcall/contract';
import { assert } from '../platform/assert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Queryable } from '../storage/database.ts';
import { findInboundRun } from '../storage/inbound.ts';
import { enqueueWebhooks } from '../storage/webhooks.ts';
import { goalRunView } from './goal-run-view.ts';

/**
 * Hands the end of an inbound run to the outbox, in the transaction that made it final (I8): nobody sent a request
 * for it, so nobody knows its id to ask for.
 */
export async function publishInboundRun(
  tx: Queryable,
  deps: { readonly ids: Ids; readonly clock: Clock },
  runId: string,
): Promise<void> {
  const [run] = await tx.query(findInboundRun, [runId]);
  assert(run !== undefined, 'an inbound run that ends is there');
  const body: InboundWebhookBody = {
    id: deps.ids.next('evt'),
    type: 'inbound.completed',
    created_at: new Date(deps.clock.now()).toISOString(),
    data: { ...goalRunView(run), direction: 'inbound', to: run.line, from: run.phone },
  };
  const values = [body.id, run.account_id, body.data.id, body.type, JSON.stringify(body), null];
  await tx.query(enqueueWebhooks, values);
}
