import type { GoalFile } from '@trunkcall/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import { createSimulatedNetwork } from '../../../src/carriers/simulated/network.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createScriptedConcluder } from '../../../src/result/scripted-concluder.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';
import { startWorker, type Worker } from '../../../src/worker/worker.ts';
import { statement } from '../../../src/storage/database.ts';
import { databases } from '../../kit/database.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { ids, startOperatorService, type OperatorService } from './service.ts';

const setLabel = statement<never>('test_set_label', 'update numbers set label = $2 where id = $1');

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

  it('have labels of one line, in which nothing is hidden', async () => {
    const { operator } = service;
    const refused = (character: string) => ({
      status: 400,
      message: expect.stringMatching(`^label must be one line .* it has U\\+${character}$`),
    });
    const add = operator.addNumber({ phone: ownNumber, label: 'Desk\u2028' });
    await expect(add).rejects.toMatchObject(refused('2028'));
    const { id } = await operator.addNumber({ phone: ownNumber, label: 'Desk' });
    await expect(operator.updateNumber(id, { label: 'De\u202esk' })).rejects.toMatchObject(refused('202E'));
    // From before the rule: shown, and no obstacle to other changes.
    await service.database.db.query(setLabel, [id, 'De\u202esk']);
    const kept = { label: 'De\u202esk', account_id: expect.stringMatching(/^acct_/) };
    expect(await operator.updateNumber(id, { account: 'Owner' })).toMatchObject(kept);
    expect(await operator.updateNumber(id, { label: 'Desk' })).toMatchObject({ label: 'Desk' });
    await operator.removeNumber(id);
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

describe.each(databases)('the Goal that answers a number on %s', (kind) => {
  const network = createSimulatedNetwork({ clock: systemClock, speed: Infinity });
  let service: OperatorService;
  let worker: Worker;
  beforeAll(async () => {
    service = await startOperatorService(kind, network);
    worker = await startWorker({
      db: service.database.db,
      clock: systemClock,
      ids,
      log: createLog('silent'),
      carrier: network,
      agents: [createScriptedAgent({ clock: systemClock, synthesizer: null })],
      extractor: createScriptedExtractor(),
      concluder: createScriptedConcluder(),
      onPublished: () => undefined,
      settings: {
        leaseMs: 10_000,
        pollMs: 50,
        maxCallsPerProcess: 10,
        maxDeploymentCalls: 10,
        maxCarrierCalls: 10,
        drainMs: 1_000,
      },
    });
    for (const name of ['Owner', 'Other']) await service.operator.createAccount(name);
  });
  afterAll(async () => {
    await worker.stop();
    await network.close();
    await service.close();
  });

  const inputs = (required: readonly string[]): GoalFile['input_schema'] => ({
    type: 'object',
    additionalProperties: false,
    properties: { name: { type: 'string' } },
    required: [...required],
  });
  const file = (required: readonly string[]) => {
    const input_schema = inputs(required);
    const text = JSON.stringify(goalFile({ instructions: 'Help.', input_schema }));
    return { text, mediaType: 'application/json' } as const;
  };
  async function newGoal(account: string, required: readonly string[] = []): Promise<string> {
    const { id } = await service.operator.applyGoal(account, file(required));
    await service.operator.commandGoal(id, 'publish');
    return id;
  }

  it('is one of its account, needs no variables, and goes with the number’s owner', async () => {
    const { operator } = service;
    const goal = await newGoal('Owner');
    const { id } = await operator.addNumber({ phone: '+12025550151', account: 'Owner', label: 'Support' });
    const shared = await operator.addNumber({ phone: '+12025550152' });
    const refused = async (number: string, inbound_goal: string, message: RegExp) => {
      const error: unknown = await operator
        .updateNumber(number, { inbound_goal })
        .catch((cause: unknown) => cause);
      expect(error).toMatchObject({ status: 400, message: expect.stringMatching(message) as string });
    };
    await refused(id, await newGoal('Other'), /of a Goal of the number’s account/);
    await refused(id, 'goal_nonsense', /of a Goal of the number’s account/);
    await refused(shared.id, goal, /this one is shared/);
    await refused(
      id,
      await newGoal('Owner', ['name']),
      /nobody gives when a call comes in: name; give them defaults/,
    );
    expect(await operator.updateNumber(id, { inbound_goal: goal })).toMatchObject({
      label: 'Support',
      origin: 'entered',
      is_default: false,
      inbound_goal_id: goal,
      refused_today: {},
    });
    expect(await operator.updateNumber(id, { label: 'Help' })).toMatchObject({ inbound_goal_id: goal });
    await operator.updateAccount('Owner', { default_number: id });
    await expect(operator.updateNumber(id, { account: null })).rejects.toMatchObject({ status: 400 });
    await operator.updateAccount('Owner', { default_number: null });
    expect(await operator.updateNumber(id, { account: null })).toMatchObject({
      account_id: null,
      inbound_goal_id: null,
    });
    await expect(operator.updateNumber(id, { account: 'Nobody' })).rejects.toMatchObject({ status: 400 });
    expect((await operator.updateNumber(id, { account: 'Other' })).account_id).toMatch(/^acct_/);
    await expect(operator.updateNumber(id, {})).rejects.toMatchObject({ status: 400 });
    await expect(operator.updateNumber('num_nonsense', { label: 'x' })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('can not be published any more with variables that nobody gives, while it answers', async () => {
    const { operator } = service;
    const goal = await newGoal('Owner');
    const { id } = await operator.addNumber({ phone: '+12025550153', account: 'Owner' });
    await operator.updateNumber(id, { inbound_goal: goal });
    await operator.applyGoal('Owner', file(['name']), goal);
    await expect(operator.commandGoal(goal, 'publish')).rejects.toMatchObject({
      code: 'goal_invalid',
      details: { problems: [{ pointer: '/input_schema/properties/name' }] },
    });
    await operator.updateNumber(id, { inbound_goal: null });
    await expect(operator.commandGoal(goal, 'publish')).resolves.toMatchObject({ latest_version: 2 });
  });

  it('answers when somebody rings, and its owner reads the Run like any other', async () => {
    const { operator } = service;
    const goal = await newGoal('Owner');
    const { id } = await operator.addNumber({ phone: '+12025550154', account: 'Owner' });
    expect(await operator.ringNumber(id)).toEqual({ object: 'ring', outcome: 'not_answered', run: null });
    await operator.updateNumber(id, { inbound_goal: goal });
    const rung = await operator.ringNumber(id, { from: null });
    expect(rung).toMatchObject({ outcome: 'answered', run: { goal_id: goal } });
    const runId = rung.run?.id ?? '';
    for await (const { final } of operator.watchRun(runId)) if (final) break;
    expect(await operator.getRun(runId)).toMatchObject({
      direction: 'inbound',
      phone: null,
      number_id: id,
      attempts: [{ carrier: 'simulated', outcome: 'conversation' }],
    });
    const developer = await service.developer('Owner');
    expect(await developer.getRun(goal, runId)).toMatchObject({
      id: runId,
      status: 'completed',
    });
    const stranger = await service.developer('Other');
    await expect(stranger.getRun(goal, runId)).rejects.toMatchObject({ status: 404 });
    await developer.createRun(goal, { phone: '+12125550100', variables: {} });
    for (const direction of ['inbound', 'outbound'] as const) {
      const { data } = await operator.listRuns({ goal, direction });
      expect(data.map((run) => run.direction)).toEqual([direction]);
    }
    expect((await operator.listNumbers()).data.find((number) => number.id === id)?.refused_today).toEqual({
      not_answered: 1,
    });
    await expect(operator.ringNumber(id, { from: '12' })).rejects.toMatchObject({ status: 400 });
  });

  it('bounds how many calls an account takes', async () => {
    const { operator } = service;
    expect(await operator.updateAccount('Owner', { max_inbound_calls: 7 })).toMatchObject({
      max_inbound_calls: 7,
      active_inbound_calls: 0,
    });
    await expect(operator.updateAccount('Owner', { max_inbound_calls: 0 })).rejects.toMatchObject({
      status: 400,
    });
  });
});

it('nobody can be rung where there is no simulated network', async () => {
  const service = await startOperatorService('embedded');
  const { id } = await service.operator.addNumber({ phone: ownNumber });
  await expect(service.operator.ringNumber(id)).rejects.toMatchObject({
    status: 409,
    code: 'ring_not_possible',
  });
  await service.close();
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
