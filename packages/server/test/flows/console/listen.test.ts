/** Who may listen in on a call, and what becomes of it; the call is the test's own. */
import { once } from 'node:events';
import type { PersonLink, ConsoleRunDetail, Listening } from '@trunkcall/contract';
import { Trunkcall } from '@trunkcall/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Leg, LegEnd, LegListener } from '../../../src/carriers/carrier.ts';
import { goalFile, publishGoal } from '../../kit/fixtures.ts';
import { createPushedClock } from '../../kit/pushed-clock.ts';
import { until } from '../../kit/until.ts';
import { ask, listenIn, noteOf, refusedListener } from './listen-client.ts';
import { ids, password, startConsole, type ConsoleService, type Visitor } from './service.ts';

const clock = createPushedClock();
let service: ConsoleService;
let owner: Visitor;
const calls = new Map<string, Call>();

/** A leg that sounds as the test says. */
class Call {
  readonly listeners = new Set<LegListener>();
  readonly #end = Promise.withResolvers<LegEnd>();
  readonly #transferred = new AbortController();
  readonly leg: Leg;

  constructor(hasSound: boolean) {
    const listen = (listener: LegListener) => {
      this.listeners.add(listener);
      return () => void this.listeners.delete(listener);
    };
    this.leg = {
      ended: this.#end.promise,
      transferred: this.#transferred.signal,
      ...(hasSound && { listenIn: listen }),
    } as Partial<Leg> as Leg;
  }

  /** 20 ms, the number of which is in each byte. */
  sound(number: number): void {
    for (const listener of this.listeners) {
      listener(new Uint8Array(160).fill(number), new Uint8Array(160).fill(255 - number));
    }
  }

  transfer(): void {
    this.#transferred.abort();
  }

  end(): void {
    this.#end.resolve({ reason: 'hung_up', endedBy: 'callee', sipStatus: null, q850: null });
  }
}

beforeAll(async () => {
  service = await startConsole('embedded', { clock, legOf: (id) => calls.get(id)?.leg ?? null });
  owner = await service.person('owner');
});
afterAll(() => service.close());

interface NewRun {
  readonly record?: boolean;
  readonly state?: 'ringing' | 'answered' | 'ended';
  readonly here?: boolean;
  readonly sound?: boolean;
}

/** A run whose call stands somewhere. */
async function newRun(over: NewRun = {}): Promise<{ readonly id: string; readonly call: Call }> {
  const { record = true, state = 'answered', here = true, sound = true } = over;
  const { db } = service.database;
  const goal = await publishGoal(db, ids, service.accountId, goalFile({ record }));
  const developer = new Trunkcall({ baseUrl: service.origin, apiKey: service.apiKey });
  const { run } = await developer.createRun(goal, { phone: '+12025550100', variables: { name: 'Ada' } });
  const attempt = ids.next('att');
  const ended = state === 'ended' ? `'conversation', now()` : 'null, null';
  await db.execute(`
    insert into attempts (id, run_id, number, carrier, state, outcome, ended_at)
      values ('${attempt}', '${run.run_id}', 1, 'sip', '${state}', ${ended});
    update runs set attempt_id = '${attempt}', status = 'in_progress' where id = '${run.run_id}';
    update jobs set worker = 'wrk_elsewhere', leased_until = now() + interval '1 hour' where subject_id = '${run.run_id}';`);
  const call = new Call(sound);
  if (here) calls.set(run.run_id, call);
  return { id: run.id, call };
}

const problemOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; details: Record<string, unknown> } };
  return { status: response.status, code: error.code, details: error.details };
};

async function stranger(): Promise<Visitor> {
  const operator = await service.operator();
  const invitation = { email: 'rival@example.org', role: 'owner' };
  const invited = await operator.send('POST', `/accounts/${service.otherAccountId}/people`, invitation);
  const { token } = (await invited.json()) as PersonLink;
  const rival = service.visitor();
  await rival.send('POST', '/links/follow', { token, password, name: 'Rival' });
  return rival;
}

describe('listening in is refused', () => {
  test('to viewers and authors, and to a stranger as if there were no such Run', async () => {
    const { id } = await newRun();
    const note = await noteOf(owner, id);
    for (const role of ['viewer', 'author'] as const) {
      const person = await service.person(role);
      expect(await problemOf(await ask(person, id))).toMatchObject({
        code: 'forbidden',
        details: { needs: 'owner' },
      });
      expect(await refusedListener(service, person, id, note)).toEqual({ status: 403, code: 'forbidden' });
    }
    const rival = await stranger();
    expect((await ask(rival, id)).status).toBe(404);
    expect(await refusedListener(service, rival, id, note)).toEqual({ status: 404, code: 'not_found' });
  });

  test('without a note of one’s own for this call, and to pages of others and nobody', async () => {
    const { id } = await newRun();
    const { id: other } = await newRun();
    const operator = await service.operator();
    const notes = ['', 'x', ids.next('aud'), await noteOf(operator, id), await noteOf(owner, other)];
    for (const note of notes) {
      expect(await refusedListener(service, owner, id, note)).toEqual({ status: 403, code: 'forbidden' });
    }
    const note = await noteOf(owner, id);
    for (const origin of [null, 'https://evil.example']) {
      expect(await refusedListener(service, owner, id, note, { origin })).toMatchObject({ status: 403 });
    }
    expect(await refusedListener(service, owner, id, note, { cookie: '' })).toMatchObject({ status: 401 });
    expect(
      (await owner.send('GET', `/runs/${id}/listen?listening=${note}`, undefined, { origin: service.origin }))
        .status,
    ).toBe(426);
  });

  test.each<[Listening, NewRun]>([
    ['not_recorded', { record: false }],
    ['not_answered', { state: 'ringing', here: false }],
    ['elsewhere', { here: false }],
    ['no_sound', { sound: false }],
    ['over', { state: 'ended', here: false }],
  ])('when it is %s; the Run says so, and nothing is noted', async (listening, over) => {
    const { id } = await newRun(over);
    expect((await owner.get<ConsoleRunDetail>(`/runs/${id}`)).listening).toBe(listening);
    const refused = { status: 409, code: 'listening_not_possible' };
    expect(await problemOf(await ask(owner, id))).toEqual({ ...refused, details: { listening } });
    // Who runs the deployment is told where the call is.
    const details = { listening, ...(listening === 'elsewhere' && { worker: 'wrk_elsewhere' }) };
    expect(await problemOf(await ask(await service.operator(), id))).toEqual({ ...refused, details });
    const { data } = await owner.get<{ data: { object_id: string }[] }>(
      `/audit?account=${service.accountId}`,
    );
    expect(data.filter(({ object_id }) => object_id === id)).toEqual([]);
  });

  test('to a third person, until one of the two has left', async () => {
    const { id } = await newRun();
    const [first, note] = [await listenIn(service, owner, id), await noteOf(owner, id)];
    const second = await listenIn(service, await service.operator(), id);
    const full = { status: 409, code: 'listening_not_possible' };
    expect(await problemOf(await ask(owner, id))).toEqual({ ...full, details: { listening: 'full' } });
    expect(await refusedListener(service, owner, id, note)).toEqual(full);
    first.socket.close();
    await first.closed;
    await expect.poll(async () => (await ask(owner, id)).status).toBe(201);
    const third = await listenIn(service, owner, id);
    for (const { socket } of [second, third]) socket.close();
  });
});

describe('who listens in', () => {
  test('hears the callee and then us in each message, and no more once the call is over', async () => {
    const { id, call } = await newRun();
    const listener = await listenIn(service, owner, id);
    await until(() => call.listeners.size === 1, 'the listener');
    call.sound(7);
    call.end();
    expect(await listener.closed).toBe(1000);
    expect(listener.sound).toEqual([Buffer.concat([Buffer.alloc(160, 7), Buffer.alloc(160, 248)])]);
    expect(listener.messages).toEqual([{ type: 'ended', reason: 'call_ended' }]);
    expect(call.listeners.size).toBe(0);
  });

  test('hears nothing more, and is told why, once the callee is connected with somebody; nobody listens from then on', async () => {
    const { id, call } = await newRun();
    const [listener, note] = [await listenIn(service, owner, id), await noteOf(owner, id)];
    await until(() => call.listeners.size === 1, 'the listener');
    call.transfer();
    expect(await listener.closed).toBe(1000);
    expect(listener.messages).toEqual([{ type: 'ended', reason: 'transferred' }]);
    expect(call.listeners.size).toBe(0);
    expect((await owner.get<ConsoleRunDetail>(`/runs/${id}`)).listening).toBe('transferred');
    const refused = { status: 409, code: 'listening_not_possible' };
    expect(await problemOf(await ask(owner, id))).toEqual({
      ...refused,
      details: { listening: 'transferred' },
    });
    expect(await refusedListener(service, owner, id, note)).toEqual(refused);
  });

  test('and leaves is forgotten by the call', async () => {
    const { id, call } = await newRun();
    const listener = await listenIn(service, owner, id);
    await until(() => call.listeners.size === 1, 'the listener');
    listener.socket.terminate();
    await expect.poll(() => call.listeners.size).toBe(0);
  });

  test('and does not read loses sound: little of it waits, and the other one hears everything', async () => {
    const { id, call } = await newRun();
    const [slow, quick] = [
      await listenIn(service, owner, id),
      await listenIn(service, await service.operator(), id),
    ];
    await until(() => call.listeners.size === 2, 'both');
    slow.socket.pause();
    const frames = 40_000;
    for (let number = 0; number < frames; number += 1) {
      call.sound(number % 256);
      // The quick one reads along.
      if (number % 80 === 0) await until(() => quick.sound.length > number, 'the quick one');
    }
    await until(() => quick.sound.length === frames, 'everything', 30_000);
    call.end();
    expect(await quick.closed).toBe(1000);
    slow.socket.resume();
    await slow.closed;
    // What the kernel holds, and two seconds.
    expect(slow.sound.length).toBeLessThan(frames * 0.8);
    await until(() => service.logged().includes('"lost_frames":'), 'the log');
    const logged = service
      .logged()
      .split('\n')
      .filter((line) => line.includes('listened in'))
      .join('\n');
    expect(logged).toMatch(/"lost_frames":[1-9]\d{3}/);
    expect(logged).not.toContain('+12025550100');
  });

  test('and says anything is cut off', async () => {
    const { id } = await newRun();
    const { socket, closed } = await listenIn(service, owner, id);
    socket.send('hello');
    expect(await closed).toBe(1008);
  });

  test('is cut off when the session ends', async () => {
    const { id, call } = await newRun();
    const person = await service.person('owner');
    const listener = await listenIn(service, person, id);
    await until(() => call.listeners.size === 1, 'the listener');
    await person.send('DELETE', '/session');
    await expect
      .poll(() => (clock.advance(15_000), listener.messages))
      .toEqual([{ type: 'ended', reason: 'not_allowed' }]);
  });

  test('is thanked after an hour', async () => {
    const { id, call } = await newRun();
    const listener = await listenIn(service, owner, id);
    await until(() => call.listeners.size === 1, 'the listener');
    const pinged = once(listener.socket, 'ping');
    clock.advance(59 * 60_000);
    await pinged;
    call.sound(1);
    await until(() => listener.sound.length === 1, 'sound');
    // Its answer to the ping has come by then, too.
    await owner.get('/session');
    expect(listener.messages).toEqual([]);
    clock.advance(60_000);
    await expect
      .poll(() => (clock.advance(1_000), listener.messages), { timeout: 10_000, interval: 100 })
      .toEqual([{ type: 'ended', reason: 'limit' }]);
  });

  test('is told when the process ends', async () => {
    const other = await startConsole('embedded', { legOf: () => new Call(true).leg });
    const before = service;
    service = other;
    try {
      const { id } = await newRun({ here: false });
      const listener = await listenIn(other, await other.operator(), id);
      await other.close();
      expect(await listener.closed).toBe(1001);
      expect(listener.messages).toEqual([{ type: 'ended', reason: 'closing' }]);
    } finally {
      service = before;
    }
  });
});
