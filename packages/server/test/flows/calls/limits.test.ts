import type { CallTask } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import { retiresAt } from '../../../src/legacy/retirement.ts';
import { fingerprintOfCall } from '../../../src/acceptance/fingerprint.ts';
import type { Concluder } from '../../../src/result/conclude.ts';
import { createScriptedConcluder } from '../../../src/result/scripted-concluder.ts';
import { statement } from '../../../src/storage/database.ts';
import { reserveCallKey } from '../../../src/storage/call-acceptance.ts';
import { expectIdle } from '../execution/harness.ts';
import { databases } from '../../kit/database.ts';
import { ids } from '../http/service.ts';
import { withCallService, yesNo, type CallServiceOptions } from './service.ts';

const cooperates = '+12025550100';
const task = { task: `Call ${cooperates} about the delivery.` };

/** A worker that takes nothing before it is woken. */
const asleep = {
  calls: { onAccepted: () => undefined },
  worker: { settings: { pollMs: 60_000 } },
} satisfies CallServiceOptions;

const makeDue = statement<never>(
  'test_conclusion_due',
  `update jobs set due_at = now() where queue = 'conclude' and worker is null`,
);
const expireCreation = statement<never>(
  'test_expire_creation',
  `update call_keys set creating_until = now() - interval '1 second' where creator is not null`,
);
const setLimit = statement<never>(
  'test_task_limit',
  'update accounts set max_active_tasks = $2 where id = $1',
);

describe.each(databases)('limits of call tasks on %s', (kind) => {
  it('lets the tasks of an account on shared lines begin one after the other, in order', async () => {
    await withCallService(
      { kind, calls: { maxQueuedTasks: 2, ...asleep.calls }, worker: asleep.worker },
      async (service) => {
        const first = await service.createTask(task);
        const second = await service.createTask(task);
        const third = await service.createTask(task);
        expect([first.status, second.status, third.status]).toEqual(['in_progress', 'queued', 'queued']);
        const key = { 'idempotency-key': ids.next('req') };
        const fourth = await service.send('/v1/calls', task, key);
        expect(fourth.status).toBe(429);
        expect(fourth.headers.get('retry-after')).not.toBeNull();

        service.harness.worker.wake();
        const ends = await Promise.all([first, second, third].map(({ id }) => service.finalTask(id)));
        const times = ends.map((end) => end.completed_at ?? '');
        expect(times).toEqual(times.toSorted());
        const began = (end: CallTask) => end.recipients[0]?.attempts[0]?.started_at ?? '';
        expect(ends.slice(1).every((end, index) => began(end) >= (ends[index]?.completed_at ?? ''))).toBe(
          true,
        );
        // The refusal for want of room did not stay with the key.
        expect((await service.send('/v1/calls', task, key)).status).toBe(201);
      },
    );
  });

  it('lets an account’s own limit take precedence', async () => {
    await withCallService({ kind, ...asleep }, async (service) => {
      await service.database.db.query(setLimit, [service.accountId, 2]);
      const states = [
        await service.createTask(task),
        await service.createTask(task),
        await service.createTask(task),
      ];
      expect(states.map(({ status }) => status)).toEqual(['in_progress', 'in_progress', 'queued']);
      service.harness.worker.wake();
      await Promise.all(states.map(({ id }) => service.finalTask(id)));
    });
  });

  it('tells others that a creation is under way, and takes over one whose process has died', async () => {
    await withCallService({ kind }, async (service) => {
      const { db } = service.database;
      const key = ids.next('req');
      const reserve = [service.accountId, 'v1', key, fingerprintOfCall(task), 'req_dead', 60_000];
      await db.query(reserveCallKey, reserve);
      const early = await service.send('/v1/calls', task, { 'idempotency-key': key });
      expect(early.status).toBe(409);
      expect(await early.json()).toMatchObject({
        error: { details: { reason_code: 'creation_in_progress' } },
      });
      const other = await service.send('/v1/calls', { task: 'x' }, { 'idempotency-key': key });
      expect(other.status).toBe(409);
      await db.query(expireCreation);
      const created = await service.createTask(task, key);
      expect((await service.createTask(task, key)).id).toBe(created.id);
      await service.finalTask(created.id);
      expect(service.dialled()).toEqual([cooperates]);
    });
  });

  it('concludes again after a failure, and ends without a conclusion when none can be had', async () => {
    let failures = 1;
    const scripted = createScriptedConcluder();
    const concluder: Concluder = {
      conclude: (asked, signal) => {
        failures -= 1;
        return failures >= 0 ? Promise.reject(new Error('away')) : scripted.conclude(asked, signal);
      },
    };
    await withCallService({ kind, worker: { concluder } }, async (service) => {
      const again = () => service.database.db.query(makeDue);
      const hurry = setInterval(() => void again(), 20);
      try {
        const first = await service.createTask({ ...task, result_schema: yesNo });
        expect(await service.finalTask(first.id)).toMatchObject({
          status: 'completed',
          task_completed: true,
        });
        failures = 1_000;
        const second = await service.createTask({ ...task, result_schema: yesNo });
        expect(await service.finalTask(second.id)).toMatchObject({
          status: 'completed',
          task_completed: null,
          structured_result: null,
          summary: null,
          evidence: [],
        });
        expect(JSON.parse((await service.published(second.id))[0] ?? '{}')).toMatchObject({
          type: 'call.result_validation_failed',
        });
        await expectIdle(service.database.db);
      } finally {
        clearInterval(hurry);
      }
    });
  });

  it('announces its end with every answer, and ends at its date', async () => {
    await withCallService({ kind }, async (service) => {
      const created = await service.send('/v1/calls', task);
      const { id } = (await created.json()) as { id: string };
      const answers = [
        created,
        await service.fetch(`/v1/calls/${id}`),
        await service.fetch(`/v1/calls/${id}/events`),
        await service.fetch('/v1/calls/call_unknown'),
        await service.send('/v1/calls', { nothing: true }),
        await service.fetch('/v1/calls'),
        await service.send(`/v1/calls/${id}/cancel`, {}),
      ];
      expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 404, 400, 405, 404]);
      for (const { headers } of answers) {
        expect(headers.get('deprecation')).toMatch(/^@\d+$/);
        expect(headers.get('sunset')).toBe('Thu, 31 Dec 2026 16:00:00 GMT');
        expect(headers.get('link')).toContain('rel="deprecation"');
      }
      await service.finalTask(id);
      const remaining = retiresAt.getTime() - service.clock.now();
      service.clock.advance(remaining + 1_000);
      for (const path of [`/v1/calls/${id}`, `/v1/calls/${id}/events`]) {
        expect((await service.fetch(path)).status).toBe(410);
      }
      expect((await service.send('/v1/calls', task)).status).toBe(410);
      expect((await service.fetch('/v1/goals')).status).toBe(200);
    });
  });
});
