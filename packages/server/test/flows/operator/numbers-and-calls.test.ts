import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases } from '../../kit/database.ts';
import { startOperatorService, type OperatorService } from './service.ts';

const ownNumber = '+12025550199';
const callee = '+12025550100';
const schema = { type: 'object', properties: { suits: { type: 'boolean' } }, required: ['suits'] };

describe.each(databases)('our own numbers on %s', (kind) => {
  let service: OperatorService;
  beforeAll(async () => {
    service = await startOperatorService(kind);
    await service.operator.createAccount('Owner');
    await service.operator.createAccount('Other');
  });
  afterAll(() => service.close());

  it('are entered once, shown by their account alone, and kept while they are shown', async () => {
    const { operator } = service;
    const added = await operator.addNumber({ phone: ownNumber, account: 'Owner' });
    expect(added.id).toMatch(/^num_/);
    await expect(operator.addNumber({ phone: ownNumber })).rejects.toMatchObject({ status: 409 });
    await expect(operator.addNumber({ phone: '+1202' })).rejects.toMatchObject({ status: 400 });
    await expect(operator.updateAccount('Other', { default_number: added.id })).rejects.toMatchObject({
      status: 400,
    });
    const changed = await operator.updateAccount('Owner', {
      default_number: added.id,
      region: 'DE',
      max_active_tasks: 3,
    });
    expect(changed).toMatchObject({
      default_number: added.id,
      region: 'DE',
      max_active_tasks: 3,
      max_active_calls: 10,
    });
    await expect(operator.removeNumber(added.id)).rejects.toMatchObject({ status: 400 });
    await operator.updateAccount('Owner', { default_number: null, max_active_tasks: null });
    expect(await operator.removeNumber(added.id)).toEqual(added);
    await expect(operator.removeNumber(added.id)).rejects.toMatchObject({ status: 404 });
    expect((await operator.listNumbers()).data).toEqual([]);
  });

  it('take only settings that make sense', async () => {
    for (const change of [
      {},
      { region: 'XX' },
      { max_active_tasks: 0 },
      { default_number: 'num_1' },
      { name: 'x' },
    ]) {
      await expect(service.operator.updateAccount('Owner', change)).rejects.toMatchObject({ status: 400 });
    }
  });
});

describe.each(databases)('calls as the operator sees them on %s', (kind) => {
  let service: OperatorService;
  beforeAll(async () => {
    service = await startOperatorService(kind);
    await service.operator.createAccount('Owner');
  });
  afterAll(() => service.close());

  it('are listed, shown with numbers hidden, and stopped', async () => {
    const { operator } = service;
    const developer = await service.developer('Owner');
    const { call } = await developer.createCall({ task: 'Ask.', phone: callee, result_schema: schema });
    const { call: task } = await developer.createCallTask({ task: `Call ${callee}.` });
    const { call: waiting } = await developer.createCallTask({ task: `Call ${callee} again.` });
    expect(waiting.status).toBe('queued');

    const page = await operator.listCalls({ account: 'Owner', limit: 2 });
    expect(page.data.map(({ id }) => id)).toEqual([waiting.id, task.id]);
    const rest = await operator.listCalls({ after: page.next_cursor ?? '' });
    expect(rest.data).toMatchObject([{ id: call.id, kind: 'one_shot', status: 'queued' }]);

    const detail = await operator.getCall(call.id);
    expect(detail.view).toMatchObject({ object: 'call', phone: '+•••••••••00' });
    expect(detail.events.map(({ type }) => type)).toEqual(['call.accepted']);

    expect(await operator.cancelCall(call.id)).toMatchObject({ status: 'canceled' });
    await expect(operator.cancelCall(call.id)).rejects.toMatchObject({ status: 409 });
    // Of a task the results are drawn before it ends, by a worker; nobody is called any more.
    for (const { id } of [task, waiting]) {
      expect(await operator.cancelCall(id)).toMatchObject({
        cancel_requested_at: expect.any(String) as unknown,
      });
      const recipients = (await developer.getCallTask(id)).recipients.map(({ status }) => status);
      expect(recipients).toEqual([id === waiting.id ? 'skipped' : 'failed']);
    }
    await expect(operator.getCall('call_1')).rejects.toMatchObject({ status: 404 });
  });
});
