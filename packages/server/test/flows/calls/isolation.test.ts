import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { lockTaskLimit } from '../../../src/storage/calls.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { withCallService, yesNo } from './service.ts';

const order = (phone: string) => ({ task: 'Ask whether it suits.', phone, result_schema: yesNo });

describe('calls do not hold one another up', () => {
  it('ends and begins calls of other accounts while one account is locked', async () => {
    await withCallService({ kind: 'postgres' }, async (service) => {
      const stranger = { authorization: `Bearer ${await service.strangersKey()}` };
      const held = await service.database.db.transaction(async (tx) => {
        await tx.query(lockTaskLimit, [service.accountId]);
        const own = await service.send('/v2/calls', order('+12025550102'), { 'idempotency-key': 'own' });
        expect(own.status).toBe(202);
        const sent = await service.send('/v2/calls', order('+12025550120'), {
          'idempotency-key': 'other',
          ...stranger,
        });
        const { id } = (await sent.json()) as { id: string };
        const read = async () =>
          (await (await service.fetch(`/v2/calls/${id}`, { headers: stranger })).json()) as {
            result_status: string;
          };
        // Well within the time after which an idle transaction is ended.
        await expect
          .poll(async () => (await read()).result_status, { timeout: 4_000, interval: 20 })
          .toBe('available');
        return ((await own.json()) as { id: string }).id;
      });
      expect(await service.finalCall(held)).toMatchObject({ status: 'failed', call_outcome: 'busy' });
    });
  });

  it(
    'gives the place of a stream back when its client leaves before it begins',
    { timeout: 60_000 },
    async () => {
      await withCallService(
        { kind: 'embedded', worker: { speed: 1, settings: { drainMs: 0 } } },
        async (service) => {
          const { id } = await service.createCall(order('+12025550113'));
          const request = [
            `GET /v2/calls/${id}/events HTTP/1.1`,
            'host: test',
            'accept: text/event-stream',
            `authorization: Bearer ${service.key}`,
            '\r\n',
          ].join('\r\n');
          for (let client = 0; client < 150; client += 1) {
            const socket = connect(service.port, '127.0.0.1');
            socket.on('error', () => undefined);
            await once(socket, 'connect');
            socket.write(request);
            await systemClock.sleep(client % 4);
            socket.resetAndDestroy();
          }
          const open = new AbortController();
          const tries = async () => {
            const headers = { accept: 'text/event-stream' };
            const response = await service.fetch(`/v2/calls/${id}/events`, { headers, signal: open.signal });
            return response.status;
          };
          await expect.poll(tries, { timeout: 10_000, interval: 200 }).toBe(200);
          open.abort();
          await service.harness.worker.stop();
        },
      );
    },
  );
});
