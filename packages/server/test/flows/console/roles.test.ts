import {
  consoleRoles,
  type ConsoleGoal,
  type ConsoleRole,
  type ConsoleSession,
  type OperatorKey,
  type OperatorList,
  type OperatorNumber,
} from '@trunkcall/contract';
import { Trunkcall } from '@trunkcall/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actionsOf } from '../../../src/http/console/access.ts';
import { statement } from '../../../src/storage/database.ts';
import { databases } from '../../kit/database.ts';
import { goalFile, publishGoal } from '../../kit/fixtures.ts';
import { ids, startConsole, type ConsoleRoute, type ConsoleService, type Visitor } from './service.ts';

describe.each(databases)('what a role may do in the console on %s', (kind) => {
  let service: ConsoleService;
  let goal: ConsoleGoal;
  let webhook = '';
  let delivery = '';
  let call = '';
  let run = '';
  let numberId: string;
  let key = '';
  const people = {} as Record<ConsoleRole, Visitor>;
  beforeAll(async () => {
    service = await startConsole(kind);
    people.operator = await service.operator();
    for (const role of ['viewer', 'author', 'owner'] as const) people[role] = await service.person(role);
    goal = await newGoal();
    const { db } = service.database;
    const made = await people.owner.send('POST', `/accounts/${service.accountId}/webhooks`, {
      url: 'https://receiver.example/',
    });
    ({ id: webhook } = (await made.json()) as { id: string });
    const tested = await people.owner.send('POST', `/webhooks/${webhook}/test`);
    ({ id: delivery } = (await tested.json()) as { id: string });
    const developer = new Trunkcall({ baseUrl: service.origin, apiKey: service.apiKey });
    const callee = '+12025550100';
    const result_schema = { type: 'object', properties: { suits: { type: 'boolean' } } };
    call = (await developer.createCall({ task: 'Ask.', phone: callee, result_schema })).call.id;
    const published = await publishGoal(db, ids, service.accountId, goalFile());
    run = (await developer.createRun(published, { phone: callee, variables: { name: 'Ada' } })).run.id;
    const added = { phone: '+12025550142', account: service.accountId };
    const entered = await people.operator.send('POST', '/numbers', added);
    ({ id: numberId } = (await entered.json()) as OperatorNumber);
    const [created] = (
      await people.owner.get<OperatorList<OperatorKey>>(`/accounts/${service.accountId}/keys`)
    ).data;
    key = created?.id ?? '';
  });
  afterAll(() => service.close());

  async function newGoal(): Promise<ConsoleGoal> {
    const made = await people.operator.send('POST', `/accounts/${service.accountId}/goals`, goalFile());
    return (await made.json()) as ConsoleGoal;
  }

  /** What a viewer may send that is not GET: it changes nothing, or the own session alone. */
  const forEverybody = [
    'POST /session',
    'POST /links/look',
    'POST /links/follow',
    'DELETE /session',
    'POST /session/prolong',
    'POST /session/password',
    'POST /goals/check',
  ];
  /** Without these the body would be refused before the right is looked at. */
  const bodies: Readonly<Record<string, unknown>> = {
    'PATCH /accounts/:account': { region: 'US' },
    'PATCH /numbers/:number': { label: 'Mine' },
  };

  /** A route's path with objects that are there. Throws: for a parameter that this test does not know. */
  async function pathOf({ path }: ConsoleRoute): Promise<string> {
    const { person } = await people.owner.get<ConsoleSession>('/session');
    const objects: Readonly<Record<string, string | undefined>> = {
      account: service.accountId,
      goal: goal.id,
      version: '1',
      run,
      call,
      webhook,
      delivery,
      key,
      number: numberId,
      person: person.id,
      trunk: 'simulated',
      worker: ids.next('wrk'),
    };
    return path.replaceAll(/:(\w+)/g, (_whole, name: string) => {
      const object = objects[name];
      if (object === undefined) throw new Error(`which object stands for :${name}?`);
      return object;
    });
  }

  test('a viewer can change nothing, by any route that there is', async () => {
    const noted = statement<{ count: bigint }>('count_notes', 'select count(*) from audit_log');
    const notes = () => service.database.db.query(noted);
    const before = await notes();
    const changing = service.routes.filter(({ method }) => method !== 'GET');
    const names = changing.map(({ method, path }) => `${method} ${path}`);
    expect(names).toEqual(expect.arrayContaining(forEverybody));
    expect(names.length).toBeGreaterThan(forEverybody.length + 20);
    const answers: [string, number][] = [];
    for (const [index, route] of changing.entries()) {
      const name = names[index] ?? '';
      if (forEverybody.includes(name)) continue;
      const path = await pathOf(route);
      const { status } = await people.viewer.send(route.method, path, bodies[name], { 'if-match': '"1"' });
      answers.push([name, status]);
    }
    expect(answers.filter(([, status]) => status !== 403)).toEqual([]);
    expect(await notes()).toEqual(before);
  });

  test('no route takes a change that a foreign page could have sent, from whomever', async () => {
    const answers: [string, number][] = [];
    for (const route of service.routes.filter(({ method }) => method !== 'GET')) {
      const path = await pathOf(route);
      for (const headers of [{ origin: 'https://evil.example' }, { 'x-trunkcall-console': '' }]) {
        const { status } = await people.operator.send(route.method, path, undefined, headers);
        answers.push([`${route.method} ${route.path}`, status]);
      }
    }
    expect(answers.filter(([, status]) => status !== 403)).toEqual([]);
  });

  test('no route answers without a session but those that lead to one', async () => {
    const open = ['POST /session', 'POST /links/look', 'POST /links/follow'];
    const stranger = service.visitor();
    const answers: [string, number][] = [];
    for (const route of service.routes) {
      const name = `${route.method} ${route.path}`;
      if (open.includes(name)) continue;
      answers.push([name, (await stranger.send(route.method, await pathOf(route))).status]);
    }
    expect(answers.filter(([, status]) => status !== 401)).toEqual([]);
  });

  type Try = (who: Visitor) => Promise<Response>;
  const missing = ids.next('grun');

  /** Each request, and the least role that is let through to it. Whether it then succeeds does not matter here. */
  const requests: readonly (readonly [string, ConsoleRole, Try])[] = [
    ['read the overview', 'viewer', (who) => who.send('GET', `/accounts/${service.accountId}/overview`)],
    ['list Goals', 'viewer', (who) => who.send('GET', `/accounts/${service.accountId}/goals`)],
    ['read a Goal', 'viewer', (who) => who.send('GET', `/goals/${goal.id}`)],
    ['export a Goal', 'viewer', (who) => who.send('GET', `/goals/${goal.id}/file`)],
    ['see what publishing would do', 'viewer', (who) => who.send('GET', `/goals/${goal.id}/publication`)],
    ['list runs', 'viewer', (who) => who.send('GET', `/accounts/${service.accountId}/runs`)],
    ['list calls', 'viewer', (who) => who.send('GET', `/accounts/${service.accountId}/calls`)],
    ['list webhooks', 'viewer', (who) => who.send('GET', `/accounts/${service.accountId}/webhooks`)],
    [
      'list deliveries',
      'viewer',
      (who) => who.send('GET', `/accounts/${service.accountId}/webhook_deliveries`),
    ],
    [
      'add a webhook endpoint',
      'owner',
      (who) => who.send('POST', `/accounts/${service.accountId}/webhooks`, { url: 'https://x.example/' }),
    ],
    ...['disable', 'enable', 'rotate_secret', 'test'].map((name): [string, ConsoleRole, Try] => [
      `${name} a webhook endpoint`,
      'owner',
      (who) => who.send('POST', `/webhooks/${webhook}/${name}`),
    ]),
    ['replay a delivery', 'owner', (who) => who.send('POST', `/webhook_deliveries/${delivery}/replay`)],
    ['remove a webhook endpoint', 'owner', (who) => who.send('POST', `/webhooks/${webhook}/remove`)],
    ['stop a call', 'author', (who) => who.send('POST', `/calls/${call}/cancel`)],
    ['hear a recording', 'author', (who) => who.send('POST', `/runs/${run}/recording/hearings`)],
    ['listen in on a call', 'owner', (who) => who.send('POST', `/runs/${run}/listenings`)],
    ['stop a run', 'author', (who) => who.send('POST', `/runs/${run}/cancel`)],
    ['list keys', 'viewer', (who) => who.send('GET', `/accounts/${service.accountId}/keys`)],
    [
      'create a Goal',
      'author',
      (who) => who.send('POST', `/accounts/${service.accountId}/goals`, goalFile()),
    ],
    ['test a draft', 'author', (who) => who.send('POST', `/goals/${goal.id}/test`)],
    [
      'save a draft',
      'author',
      (who) => who.send('PUT', `/goals/${goal.id}/draft`, goalFile(), { 'if-match': '"999999"' }),
    ],
    [
      'publish',
      'author',
      (who) => who.send('POST', `/goals/${goal.id}/publish`, undefined, { 'if-match': '"999999"' }),
    ],
    ['pause a Goal', 'author', (who) => who.send('POST', `/goals/${goal.id}/pause`)],
    ['hide a Goal', 'author', (who) => who.send('POST', `/goals/${goal.id}/hide`)],
    ['retire a Goal', 'owner', async (who) => who.send('POST', `/goals/${(await newGoal()).id}/retire`)],
    [
      'create a key',
      'owner',
      (who) =>
        who.send('POST', `/accounts/${service.accountId}/keys`, { scopes: ['goals:read'], expires_at: null }),
    ],
    ['list numbers', 'viewer', (who) => who.send('GET', `/accounts/${service.accountId}/numbers`)],
    [
      'say who answers a number',
      'owner',
      (who) => who.send('PATCH', `/numbers/${numberId}`, { inbound_goal: null }),
    ],
    ['let somebody call a number', 'owner', (who) => who.send('POST', `/numbers/${numberId}/ring`, {})],
    [
      'move a number',
      'operator',
      (who) => who.send('PATCH', `/numbers/${numberId}`, { account: service.accountId }),
    ],
    ['enter a number', 'operator', (who) => who.send('POST', '/numbers', { phone: '+12025550143' })],
    ['remove a number', 'operator', (who) => who.send('POST', `/numbers/${ids.next('num')}/remove`)],
    ['list people', 'owner', (who) => who.send('GET', `/accounts/${service.accountId}/people`)],
    [
      'invite',
      'owner',
      (who) =>
        who.send('POST', `/accounts/${service.accountId}/people`, { email: 'x@example.org', role: 'viewer' }),
    ],
    ['read the audit log', 'owner', (who) => who.send('GET', `/audit?account=${service.accountId}`)],
    [
      'make an operator',
      'operator',
      (who) =>
        who.send('POST', `/accounts/${service.accountId}/people`, {
          email: 'y@example.org',
          role: 'operator',
        }),
    ],
    ['read the audit log of the deployment', 'operator', (who) => who.send('GET', '/audit')],
    ['create an account', 'operator', (who) => who.send('POST', '/accounts', { name: 'Acme' })],
    [
      'read the settings of an account',
      'viewer',
      (who) => who.send('GET', `/accounts/${service.accountId}/settings`),
    ],
    [
      'change a region',
      'owner',
      (who) => who.send('PATCH', `/accounts/${service.accountId}`, { region: 'US' }),
    ],
    ['read the system page', 'operator', (who) => who.send('GET', '/system')],
    ['list trunks', 'operator', (who) => who.send('GET', '/trunks')],
    [
      'place a test call',
      'operator',
      (who) => who.send('POST', '/trunks/simulated/test-calls', { phone: '+12025550100' }),
    ],
    ['drain a worker', 'operator', (who) => who.send('POST', `/workers/${ids.next('wrk')}/drain`)],
    ['resume a worker', 'operator', (who) => who.send('POST', `/workers/${ids.next('wrk')}/resume`)],
    [
      'change a limit',
      'operator',
      (who) => who.send('PATCH', `/accounts/${service.accountId}`, { max_active_calls: 5 }),
    ],
    [
      'switch the first sentence off',
      'operator',
      (who) =>
        who.send('PATCH', `/accounts/${service.accountId}`, {
          disclosure: { off: true, reason: 'Every customer has agreed to it.' },
        }),
    ],
    [
      'make a link to a password',
      'operator',
      (who) => who.send('POST', `/people/${ids.next('prsn')}/password-link`),
    ],
    ['remove a person', 'operator', (who) => who.send('DELETE', `/people/${ids.next('prsn')}`)],
  ];

  test.each(requests)('%s takes the role %s', async (_name, least, request) => {
    for (const role of consoleRoles) {
      const { status } = await request(people[role]);
      const may = consoleRoles.indexOf(role) >= consoleRoles.indexOf(least);
      expect({ role, forbidden: status === 403 }).toEqual({ role, forbidden: !may });
      expect(status).toBeLessThan(500);
    }
  });

  test('to a stranger everything of an account looks as if it were not there', async () => {
    const { otherAccountId } = service;
    const made = await people.operator.send('POST', `/accounts/${otherAccountId}/goals`, goalFile());
    const theirs = (await made.json()) as ConsoleGoal;
    const paths = [
      `/accounts/${otherAccountId}/overview`,
      `/accounts/${otherAccountId}/goals`,
      `/accounts/${otherAccountId}/runs`,
      `/accounts/${otherAccountId}/keys`,
      `/accounts/${otherAccountId}/numbers`,
      `/accounts/${otherAccountId}/people`,
      `/accounts/${otherAccountId}/invitations`,
      `/accounts/${otherAccountId}/settings`,
      `/audit?account=${otherAccountId}`,
      `/goals/${theirs.id}`,
      `/goals/${theirs.id}/file`,
      `/runs/${missing}`,
    ];
    for (const path of paths)
      expect([path, (await people.owner.send('GET', path)).status]).toEqual([path, 404]);
    expect((await people.owner.send('POST', `/goals/${theirs.id}/pause`)).status).toBe(404);
  });

  test('a role that is taken away is gone with the next request', async () => {
    const person = await service.person('author');
    const { person: self } = await person.get<ConsoleSession>('/session');
    const place = `/accounts/${service.accountId}/people/${self.id}`;
    await people.owner.send('PUT', place, { role: 'viewer' });
    expect((await person.send('POST', `/goals/${goal.id}/pause`)).status).toBe(403);
    await people.owner.send('DELETE', place);
    expect((await person.send('GET', `/goals/${goal.id}`)).status).toBe(404);
  });

  test('an account keeps an owner, unless an operator takes the role', async () => {
    const place = async (who: Visitor, accountId: string) =>
      `/accounts/${accountId}/people/${(await who.get<ConsoleSession>('/session')).person.id}`;
    const email = 'sole@example.org';
    const sole = await service.person('viewer', email);
    const { otherAccountId } = service;
    await people.operator.send('POST', `/accounts/${otherAccountId}/people`, { email, role: 'owner' });
    const own = await place(sole, otherAccountId);
    expect((await sole.send('DELETE', own)).status).toBe(403);
    expect((await sole.send('PUT', own, { role: 'viewer' })).status).toBe(403);
    const again = { email, role: 'author' };
    expect((await sole.send('POST', `/accounts/${otherAccountId}/people`, again)).status).toBe(403);
    expect((await people.operator.send('PUT', own, { role: 'viewer' })).status).toBe(204);
    const second = await service.person('owner', 'second-owner@example.org');
    expect((await second.send('DELETE', await place(second, service.accountId))).status).toBe(204);
  });

  test('who is there already gets the role without a link', async () => {
    await service.person('viewer', 'known@example.org');
    const again = await people.owner.send('POST', `/accounts/${service.accountId}/people`, {
      email: 'KNOWN@example.org',
      role: 'author',
    });
    expect(await again.json()).toEqual({ token: null, expires_at: null });
  });
});

test('each role may do all that the ones before it may', () => {
  const rights = consoleRoles.map(actionsOf);
  for (const [index, right] of rights.entries()) {
    const before = rights[index - 1] ?? [];
    expect(right).toEqual(expect.arrayContaining(before));
    expect(right.length).toBeGreaterThan(before.length);
  }
});
