import type { CallEvent } from '@trunkcall/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases } from '../../kit/database.ts';
import { ids } from '../http/service.ts';
import { startCallService, yesNo, type CallService } from './service.ts';

const cooperates = '+12025550100';

const order = (over: object = {}) => ({
  task: 'Ask Ada whether the delivery on Tuesday suits.',
  phone: cooperates,
  result_schema: yesNo,
  ...over,
});

describe.each(databases)('one-shot calls on %s', (kind) => {
  let service: CallService;
  beforeAll(async () => {
    service = await startCallService({ kind });
  });
  afterAll(() => service.close());

  it('calls the number once and gives the result', async () => {
    const created = await service.createCall(order({ metadata: { order: 7 }, locale: 'es-US' }));
    // How far it has come by the time of the answer is open.
    expect(created).toMatchObject({
      object: 'call',
      call_id: created.id,
      phone: cooperates,
      region: 'US',
      locale: 'es-US',
      error: null,
      metadata: { order: 7 },
    });
    const call = await service.finalCall(created.id);
    expect(call).toMatchObject({
      status: 'completed',
      call_outcome: 'completed',
      result_status: 'available',
      result: { confirmed: expect.any(Boolean) as unknown },
      error: null,
    });
    expect(call.transcript.length).toBeGreaterThan(3);
    const [body] = await service.published(call.id);
    expect(JSON.parse(body ?? '{}')).toMatchObject({ type: 'call.completed', data: call });
  });

  it.each([
    ['+12025550101', 'no_answer', 'no_answer', 'ring_timeout'],
    ['+12025550102', 'busy', 'no_answer', 'busy'],
    ['+12025550103', 'declined', 'declined', 'declined'],
    ['+12025550108', null, 'call_failed', 'invalid_number'],
    ['+12025550113', null, 'timed_out', 'call_limit'],
  ])('ends on %s with the outcome %s', async (phone, outcome, code, detail) => {
    const { id } = await service.createCall(order({ phone }));
    const call = await service.finalCall(id);
    expect(call).toMatchObject({
      status: 'failed',
      call_outcome: outcome,
      result_status: 'not_applicable',
      result: null,
      error: { code, detail_code: detail },
    });
    expect(await service.published(id)).toHaveLength(1);
  });

  it('says that the result is not to be had when nothing was said', async () => {
    const { id } = await service.createCall(order({ phone: '+12025550107' }));
    expect(await service.finalCall(id)).toMatchObject({
      status: 'completed',
      result_status: 'unavailable',
      error: { code: 'result_unavailable' },
    });
  });

  it('answers a hundred equal requests with one call, and a different one with a conflict', async () => {
    const key = ids.next('req');
    const calls = await Promise.all(Array.from({ length: 100 }, () => service.createCall(order(), key)));
    expect(new Set(calls.map(({ id }) => id)).size).toBe(1);
    const other = await service.send('/v2/calls', order({ phone: '+12025550120' }), {
      'idempotency-key': key,
    });
    expect(other.status).toBe(409);
    expect(await other.json()).toMatchObject({ error: { code: 'idempotency_conflict' } });
  });

  it('does not bind the key of a rejected request', async () => {
    const key = { 'idempotency-key': ids.next('req') };
    const rejected = await service.send('/v2/calls', order({ task: 'Ask {{name}} about it.' }), key);
    expect(rejected.status).toBe(422);
    expect(await rejected.json()).toMatchObject({
      error: { code: 'input_incomplete', details: { missing_inputs: [expect.any(String)] } },
    });
    expect((await service.send('/v2/calls', order(), key)).status).toBe(202);
  });

  it('is unknown to the other interface, to other accounts and under other ids', async () => {
    const call = await service.createCall(order());
    const task = await service.createTask({ task: `Call ${cooperates}.` });
    for (const path of [
      `/v1/calls/${call.id}`,
      `/v2/calls/${task.id}`,
      '/v2/calls/call_1',
      '/v2/calls/grun_1',
    ]) {
      expect((await service.fetch(path)).status).toBe(404);
      expect((await service.fetch(`${path}/events`)).status).toBe(404);
    }
    const stranger = { authorization: `Bearer ${await service.strangersKey()}` };
    for (const path of [`/v2/calls/${call.id}`, `/v2/calls/${call.id}/events`, `/v1/calls/${task.id}`]) {
      expect((await service.fetch(path, { headers: stranger })).status).toBe(404);
    }
    const cancel = await service.send(`/v2/calls/${call.id}/cancel`, {}, stranger);
    expect(cancel.status).toBe(404);
  });

  it('streams its events to the end, and goes on behind the last one that was seen', async () => {
    const { id } = await service.createCall(order());
    const all = await stream(service, id);
    expect(all.map(({ type }) => type).at(-1)).toBe('call.completed');
    expect(all[0]?.type).toBe('call.accepted');
    const rest = await stream(service, id, all[2]?.id);
    expect(rest).toEqual(all.slice(3));
    const page = (await (await service.fetch(`/v2/calls/${id}/events?limit=100`)).json()) as {
      data: CallEvent[];
    };
    expect(page.data).toEqual(all);
    const resumed = await service.fetch(`/v2/calls/${id}/events?limit=100&cursor=${all[2]?.id}`);
    expect(((await resumed.json()) as { data: CallEvent[] }).data).toEqual(rest);
  });

  it('takes a cursor only for the call and the owner that it was made for', async () => {
    const [first, second] = [await service.createCall(order()), await service.createCall(order())];
    await service.finalCall(first.id);
    await service.finalCall(second.id);
    const page = (await (await service.fetch(`/v2/calls/${first.id}/events?limit=1`)).json()) as {
      next_cursor: string;
      data: CallEvent[];
    };
    for (const cursor of [page.next_cursor, page.data[0]?.id, 'nonsense']) {
      const answer = await service.fetch(`/v2/calls/${second.id}/events?cursor=${cursor}`);
      expect(answer.status).toBe(400);
    }
  });
});

describe.each(databases)('canceling one-shot calls on %s', (kind) => {
  it('takes back a call that was not dialled, and no other', async () => {
    // No worker takes the second call while the first holds the only slot.
    const service = await startCallService({
      kind,
      worker: { speed: 20, settings: { maxCallsPerProcess: 1 } },
    });
    try {
      const live = await service.createCall(order());
      const waiting = await service.createCall(order({ phone: '+12025550120' }));
      const canceled = await service.send(`/v2/calls/${waiting.id}/cancel`, {});
      expect(canceled.status).toBe(200);
      expect(await canceled.json()).toMatchObject({
        status: 'canceled',
        result_status: 'not_applicable',
        error: { code: 'canceled' },
      });
      expect((await service.send(`/v2/calls/${waiting.id}/cancel`, {})).status).toBe(200);
      await service.finalCall(live.id);
      const late = await service.send(`/v2/calls/${live.id}/cancel`, {});
      expect(late.status).toBe(409);
      expect(await late.json()).toMatchObject({ error: { code: 'call_cannot_cancel' } });
      expect(service.dialled()).toEqual([cooperates]);
      expect(JSON.parse((await service.published(waiting.id))[0] ?? '{}')).toMatchObject({
        type: 'call.failed',
      });
    } finally {
      await service.close();
    }
  });
});

/** Reads a call's stream of server-sent events to its end. */
async function stream(service: CallService, id: string, lastSeen?: string): Promise<CallEvent[]> {
  const response = await service.fetch(`/v2/calls/${id}/events`, {
    headers: {
      accept: 'text/event-stream',
      ...(lastSeen === undefined ? {} : { 'last-event-id': lastSeen }),
    },
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('id: '));
  return frames.map((frame) => {
    const event = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '') as CallEvent;
    expect(frame).toContain(`id: ${event.id}\nevent: ${event.type}\n`);
    return event;
  });
}
