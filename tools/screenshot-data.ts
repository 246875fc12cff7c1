/** What the pictures of the console show: an account that has been at work, made through the same APIs that everybody uses. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PersonLink, GoalRun, OperatorNumber } from '@trunkcall/contract';
import { Trunkcall } from '@trunkcall/sdk';
import { password } from '../packages/console/test/browser.ts';
import { newAnsweringGoal, type RunningService } from '../packages/console/test/service.ts';
import { stereoWave } from '../packages/server/test/kit/wave.ts';

/** Objects whose pages are taken; ids. */
export interface Shown {
  readonly goal: string;
  readonly run: string;
  readonly call: string;
  readonly task: string;
  readonly delivery: string;
}

/** Sends to the service as the signed-in person, and ends with the JSON of the answer. Throws: when it was refused. */
export type SendToConsole = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** The last digits of the simulated people who are called; most of them cooperate. */
const people = ['00', '01', '02', '11', '00', '12', '03', '00', '04', '00', '10', '00'];
const names = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Alan', 'Radia', 'Donald', 'Frances'];

/** Fills a service that was just started. Nothing of it is random, but the ids and times. */
export async function fillService(
  service: RunningService,
  account: string,
  /** Where webhooks arrive; an HTTPS origin. */
  receiver: string,
  send: SendToConsole,
): Promise<Shown> {
  const goal = service.credentials.goals['confirm-delivery'] ?? '';
  await invitePeople(service, account, send);
  await send('POST', '/accounts', { name: 'Northwind' });
  await send('POST', '/accounts', { name: 'Harbour Clinic' });
  await send('PUT', `/accounts/${account}/budget`, { monthly_budget: '1.20' });
  const endpoint = { url: `${receiver}/trunkcall`, description: 'Order desk', signed: true };
  await send('POST', `/accounts/${account}/webhooks`, endpoint);
  const second = { url: `${receiver}/archive`, description: 'Archive', signed: false };
  const { id: archive } = await send<Made>('POST', `/accounts/${account}/webhooks`, second);
  await send('POST', `/webhooks/${archive}/disable`);
  await send('POST', `/accounts/${account}/keys`, { scopes: ['goals:read'], expires_at: null });
  await ringNumbers(service, account, send);
  const runs = await callPeople(service, goal);
  leaveRecording(service, runs[0]?.call_id ?? '');
  const { call, task } = await callWithoutGoal(service);
  const deliveries = await send<{ data: Made[] }>('GET', `/accounts/${account}/webhook_deliveries`);
  await send('POST', '/trunks/simulated/test-calls', { phone: '+12025550100' });
  // The newest delivery may still be on its way.
  return { goal, run: runs[0]?.id ?? '', call, task, delivery: deliveries.data.at(-1)?.id ?? '' };
}

interface Made {
  readonly id: string;
}

async function invitePeople({ origin }: RunningService, account: string, send: SendToConsole): Promise<void> {
  for (const [name, role] of [
    ['Grace Hopper', 'owner'],
    ['Edsger Dijkstra', 'author'],
    ['Barbara Liskov', 'viewer'],
  ] as const) {
    const email = `${name.split(' ', 1)[0]?.toLowerCase()}@example.org`;
    const { token } = await send<PersonLink>('POST', `/accounts/${account}/people`, { email, role });
    const response = await fetch(`${origin}/console/api/links/follow`, {
      method: 'POST',
      headers: { origin, 'x-trunkcall-console': '1', 'content-type': 'application/json' },
      body: JSON.stringify({ token, name, password }),
    });
    if (!response.ok) throw new Error(await response.text());
  }
}

/** Two numbers of the account and a shared one; a Goal answers the first, and a simulated person calls it twice. */
async function ringNumbers(service: RunningService, account: string, send: SendToConsole): Promise<void> {
  const goal = await newAnsweringGoal(service);
  const add = (details: object) => send<OperatorNumber>('POST', '/numbers', details);
  const { id } = await add({ phone: '+12025550142', label: 'Support', account });
  await add({ phone: '+12025550143', label: 'Deliveries', account });
  await add({ phone: '+12025550190', label: 'All accounts' });
  await send('PATCH', `/numbers/${id}`, { inbound_goal: goal });
  for (let call = 0; call < 2; call += 1) await send('POST', `/numbers/${id}/ring`, {});
}

/** Starts Goal Runs with people of several kinds, and waits for the end of all. */
async function callPeople({ origin, credentials }: RunningService, goal: string): Promise<GoalRun[]> {
  const developer = new Trunkcall({ baseUrl: origin, apiKey: credentials.api_key });
  const started: string[] = [];
  for (const [index, digits] of people.entries()) {
    const variables = {
      customer_name: names[index % names.length] ?? '',
      order_reference: `A-${1042 + index}`,
    };
    const { run } = await developer.createRun(goal, { phone: `+121255501${digits}`, variables });
    started.push(run.id);
  }
  return Promise.all(started.map((id) => developer.waitForRun(goal, id)));
}

/** The simulated network has no sound: two people who take turns stand in for it. */
function leaveRecording({ dataDir }: RunningService, callId: string): void {
  const recordings = join(dataDir, 'recordings');
  mkdirSync(recordings, { recursive: true });
  const wave = stereoWave(40, (second) => {
    const swell = 0.35 + 0.25 * Math.sin(second * 9) * Math.sin(second * 2.3);
    return Math.floor(second / 4) % 2 === 0 ? [0.02, swell] : [swell, 0.02];
  });
  writeFileSync(join(recordings, `${callId}.wav`), wave);
}

/** A one-shot call and a call task, to their ends. */
async function callWithoutGoal({
  origin,
  credentials,
}: RunningService): Promise<{ call: string; task: string }> {
  const developer = new Trunkcall({ baseUrl: origin, apiKey: credentials.api_key });
  const schema = (about: string) => ({
    type: 'object',
    properties: { suits: { type: 'boolean', description: about } },
    required: ['suits'],
    additionalProperties: false,
  });
  const { call } = await developer.createCall({
    task: 'Ask Ada whether the delivery on Tuesday suits.',
    phone: '+12025550100',
    result_schema: schema('Does Tuesday suit you?'),
  });
  const { call: task } = await developer.createCallTask({
    task: 'Call and ask whether the meeting on Friday suits.',
    recipients: [{ phones: ['+12025550100'] }],
    recipient_result_schema: schema('Does Friday suit you?'),
  });
  await developer.waitForCall(call.id);
  await developer.waitForCallTask(task.id);
  return { call: call.id, task: task.id };
}
