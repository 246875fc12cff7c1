import type { CallEvent, CallTask } from '@trunkcall/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases } from '../../kit/database.ts';
import { ids } from '../http/service.ts';
import { startCallService, yesNo, type CallService } from './service.ts';

/** Simulated people (DESIGN: "Simulated phone network"). */
const cooperates = '+12025550100';
const ringsOut = '+12025550101';
const busy = '+12025550102';
const declines = '+12025550103';
const voicemail = '+12025550104';
const otherCooperates = '+12025550120';

const one = (...phones: string[]) => ({ phones });

describe.each(databases)('call tasks on %s', (kind) => {
  let service: CallService;
  beforeAll(async () => {
    service = await startCallService({ kind });
  });
  afterAll(() => service.close());

  /** Creates a task and waits for its end. */
  async function carryOut(body: unknown): Promise<CallTask> {
    return service.finalTask((await service.createTask(body)).id);
  }

  it('calls the number in the text of the task and draws both results', async () => {
    const created = await service.createTask({
      task: `Call Ada at ${cooperates} and ask whether the delivery suits.`,
      result_schema: yesNo,
      recipient_result_schema: {
        type: 'object',
        properties: {
          delivery: { type: 'object', properties: { suits: { type: 'boolean' } }, required: ['suits'] },
        },
        required: ['delivery'],
      },
      metadata: { order: 7 },
    });
    // How far it has come by the time of the answer is open.
    expect(created).toMatchObject({ object: 'call_task', metadata: { order: 7 }, failure_code: null });
    const task = await service.finalTask(created.id);
    expect(task).toMatchObject({
      status: 'completed',
      structured_result: { confirmed: expect.any(Boolean) as unknown },
      task_completed: true,
      completion_confidence: { label: expect.stringMatching(/^(medium|high)$/) as unknown },
      recipients: [
        {
          phones: [cooperates],
          region: 'US',
          locale: 'en-US',
          status: 'completed',
          structured_result: { delivery: { suits: expect.any(Boolean) as unknown } },
        },
      ],
    });
    expect(task.evidence.length).toBeGreaterThan(0);
    const [attempt] = task.recipients[0]?.attempts ?? [];
    expect(attempt).toMatchObject({ phone: cooperates, status: 'completed', failure_code: null });
    expect(attempt?.transcript_turns.length).toBeGreaterThan(3);
    expect(
      task.evidence.every((quote) => attempt?.transcript_turns.some(({ text }) => text.includes(quote))),
    ).toBe(true);
  });

  it('publishes to webhooks exactly what a GET answers', async () => {
    const task = await carryOut({ task: `Call ${cooperates} about the delivery.`, result_schema: yesNo });
    const [body, second] = await service.published(task.id);
    expect(second).toBeUndefined();
    const event = JSON.parse(body ?? '{}') as { id: string; type: string; data: unknown };
    expect(event.type).toBe('call.completed');
    expect(event.id).toMatch(/^evt_/);
    expect(event.data).toEqual(task);
  });

  it('tells the whole story as events, in pages that lose and repeat nothing', async () => {
    const task = await carryOut({ task: `Call ${cooperates} about the delivery.` });
    const events: CallEvent[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const response = await service.fetch(`/v1/calls/${task.id}/events?limit=2${query}`);
      const page = (await response.json()) as { data: CallEvent[]; next_cursor: string | null };
      events.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null);
    const types = events.map(({ type }) => type);
    expect(types.slice(0, 4)).toEqual([
      'call.accepted',
      'call.in_progress',
      'call.attempt_started',
      'call.ringing',
    ]);
    expect(types.slice(-4)).toEqual([
      'call.attempt_ended',
      'call.ended',
      'call.result_ready',
      'call.completed',
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(new Set(events.map((event) => event.call_id))).toEqual(new Set([task.id]));
    expect(events.map(({ status }) => status).filter((status, at, all) => status !== all[at - 1])).toEqual([
      'queued',
      'in_progress',
      'completed',
    ]);
  });

  it('asks for what is missing, and gives the same answer to the same request for ever', async () => {
    const key = { 'idempotency-key': ids.next('req') };
    const body = { task: 'Call the restaurant and book a table for {{party_size}}.' };
    const first = await service.send('/v1/calls', body, key);
    const text = await first.text();
    expect(first.status).toBe(422);
    expect(JSON.parse(text)).toMatchObject({
      error: {
        code: 'call_not_ready',
        details: {
          reason_code: 'missing_information',
          questions: expect.arrayContaining([expect.any(String)]) as unknown,
        },
      },
    });
    const again = await service.send('/v1/calls', body, key);
    expect(again.status).toBe(422);
    expect(await again.text()).toBe(text);
    const changed = await service.send('/v1/calls', { task: `Call ${cooperates}.` }, key);
    expect(changed.status).toBe(409);
    expect(await changed.json()).toMatchObject({ error: { code: 'idempotency_conflict' } });
  });

  it('makes one task of a hundred equal requests at the same time', async () => {
    const key = { 'idempotency-key': ids.next('req') };
    const body = { task: `Call ${otherCooperates} about the delivery.` };
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const response = await service.send('/v1/calls', body, key);
        return { status: response.status, body: (await response.json()) as { id?: string; error?: unknown } };
      }),
    );
    const created = new Set(answers.flatMap((answer) => answer.body.id ?? []));
    expect(created.size).toBe(1);
    for (const { status, body: sent } of answers) {
      if (status === 201) continue;
      expect({ status, sent }).toMatchObject({
        status: 409,
        sent: { error: { details: { reason_code: 'creation_in_progress' } } },
      });
    }
    const [id = ''] = created;
    await service.finalTask(id);
    expect(service.dialled().filter((phone) => phone === otherCooperates)).toHaveLength(1);
  });

  it('calls several numbers only from a number of the account’s own', async () => {
    const several = { task: 'Ask about the delivery.', recipients: [one(cooperates), one(otherCooperates)] };
    const refused = await service.send('/v1/calls', several);
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      error: { code: 'call_not_ready', details: { reason_code: 'dedicated_number_required' } },
    });
  });

  it.each([
    [ringsOut, 'no_answer'],
    [busy, 'no_answer'],
    [voicemail, 'no_answer'],
    [declines, 'declined'],
    ['+12025550108', 'call_failed'],
    ['+12025550109', 'call_failed'],
    ['+12025550113', 'timed_out'],
  ])('ends as failed when %s is not reached: %s', async (phone, code) => {
    const task = await carryOut({
      task: 'Ask about the delivery.',
      recipients: [one(phone)],
      result_schema: yesNo,
    });
    expect(task).toMatchObject({
      status: 'failed',
      failure_code: code,
      failure_message: expect.any(String) as unknown,
      structured_result: null,
      recipients: [{ status: 'failed', structured_result: null }],
    });
    expect(JSON.parse((await service.published(task.id))[0] ?? '{}')).toMatchObject({ type: 'call.failed' });
  });
});

describe.each(databases)('call tasks of an account with a number of its own on %s', (kind) => {
  let service: CallService;
  beforeAll(async () => {
    service = await startCallService({ kind });
    await service.giveNumber('+12025550199');
  });
  afterAll(() => service.close());

  async function carryOut(recipients: unknown[], more: object = {}): Promise<CallTask> {
    const { id } = await service.createTask({ task: 'Ask about the delivery.', recipients, ...more });
    return service.finalTask(id);
  }

  it('calls all recipients, shows its number, and is completed with one of them reached', async () => {
    const task = await carryOut([one(cooperates), one(busy), one(otherCooperates)], {
      recipient_result_schema: yesNo,
    });
    expect(task.status).toBe('completed');
    expect(task.recipients.map(({ status }) => status)).toEqual(['completed', 'failed', 'completed']);
    expect(task.recipients.map((recipient) => recipient.structured_result !== null)).toEqual([
      true,
      false,
      true,
    ]);
    expect(new Set(service.harness.dialled.map(({ from }) => from))).toEqual(new Set(['+12025550199']));
  });

  it('tries a recipient’s numbers in order until a person answers', async () => {
    const before = service.dialled().length;
    const task = await carryOut([one(busy, voicemail, cooperates, otherCooperates)]);
    expect(service.dialled().slice(before)).toEqual([busy, voicemail, cooperates]);
    expect(task.recipients[0]?.attempts.map(({ status }) => status)).toEqual([
      'failed',
      'failed',
      'completed',
    ]);
    expect(task.recipients[0]?.status).toBe('completed');
  });

  it('does not ring a second phone of somebody who declined', async () => {
    const before = service.dialled().length;
    const task = await carryOut([one(declines, cooperates)]);
    expect(service.dialled().slice(before)).toEqual([declines]);
    expect(task).toMatchObject({ status: 'failed', failure_code: 'declined' });
  });

  it('calls no number twice in a task, and skips whom it would call only there', async () => {
    const before = service.dialled().length;
    const task = await carryOut([one(cooperates), one(cooperates), one(cooperates, otherCooperates)]);
    expect(service.dialled().slice(before).toSorted()).toEqual([cooperates, otherCooperates].toSorted());
    expect(task.recipients.map(({ status }) => status)).toEqual(['completed', 'skipped', 'completed']);
  });

  it('names the failure that all have in common, or says that they differ', async () => {
    expect(await carryOut([one(busy), one(ringsOut)])).toMatchObject({ failure_code: 'no_answer' });
    expect(await carryOut([one(busy), one(declines)])).toMatchObject({
      failure_code: 'no_recipient_reached',
    });
  });

  it('does not call a number of its own', async () => {
    const refused = await service.send('/v1/calls', { task: 'Call.', recipients: [one('+12025550199')] });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'invalid_phone',
        message: expect.stringContaining('recipients[0].phones[0]') as unknown,
      },
    });
  });
});
