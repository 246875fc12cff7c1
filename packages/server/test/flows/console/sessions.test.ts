import {
  scopes,
  type ConsoleAuditEntry,
  type PersonLink,
  type ConsoleLink,
  type ConsoleSession,
  type OperatorList,
} from '@trunkcall/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeyring } from '../../../src/authoring/keys.ts';
import { inviteFirstPerson, recognise } from '../../../src/authoring/people.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';
import { statement } from '../../../src/storage/database.ts';
import { insertDeployment } from '../../../src/storage/deployment.ts';
import { exportData, importData } from '../../../src/storage/transfer.ts';
import { databases, freshDatabase } from '../../kit/database.ts';
import { ids, password, startConsole, type ConsoleService } from './service.ts';

const codeOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string } }).error.code;

const ascending = (a: number, b: number) => a - b;

describe.each(databases)('people and sessions on %s', (kind) => {
  let service: ConsoleService;
  beforeAll(async () => {
    service = await startConsole(kind);
  });
  afterAll(() => service.close());

  test('the first person comes by the link that the start printed, once, and runs the deployment', async () => {
    const stranger = service.visitor();
    const look = await stranger.send('POST', '/links/look', { token: service.firstToken });
    expect((await look.json()) as ConsoleLink).toEqual({
      purpose: 'first_person',
      email: null,
      role: 'operator',
    });
    const first = await service.operator();
    const session = await first.get<ConsoleSession>('/session');
    expect(session.person).toMatchObject({ email: 'first@example.org', operator: true });
    expect(session.accounts.map(({ role }) => role)).toEqual(['operator', 'operator']);
    const again = await stranger.send('POST', '/links/follow', {
      token: service.firstToken,
      email: 'second@example.org',
      name: 'Second',
      password,
    });
    expect(again.status).toBe(404);
    expect(await service.database.db.transaction(inviteFirstPerson)).toBeNull();
  });

  test('nobody comes with a name or an address that hides something', async () => {
    const operator = await service.operator();
    const invite = (email: string) =>
      operator.send('POST', `/accounts/${service.accountId}/people`, { email, role: 'viewer' });
    expect((await invite('tru\u202edy@example.org')).status).toBe(400);
    const { token } = (await (await invite('trudy@example.org')).json()) as PersonLink;
    const join = (name: string) => service.visitor().send('POST', '/links/follow', { token, name, password });
    const refused = await join('Tru\u2066dy');
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringMatching(/^name must be one line .* it has U\+2066$/) },
    });
    expect((await join('Trudy')).status).toBe(204);
  });

  test('somebody invited to two accounts gets the second role by the own password', async () => {
    const operator = await service.operator();
    const email = 'both@example.org';
    const invite = async (accountId: string) => {
      const made = await operator.send('POST', `/accounts/${accountId}/people`, { email, role: 'author' });
      return ((await made.json()) as PersonLink).token;
    };
    const [first, second] = [await invite(service.accountId), await invite(service.otherAccountId)];
    const person = service.visitor();
    const joined = await person.send('POST', '/links/follow', { token: first, name: 'Both', password });
    expect(joined.status).toBe(204);
    const look = await person.send('POST', '/links/look', { token: second });
    expect(await look.json()).toEqual({ purpose: 'role', email, role: 'author' });
    const follow = (secret: string) =>
      service.visitor().send('POST', '/links/follow', { token: second, name: 'Thief', password: secret });
    expect((await follow('what the inviter would choose')).status).toBe(403);
    expect((await follow(password)).status).toBe(204);
    expect((await follow(password)).status).toBe(404);
    const { person: self, accounts } = await person.get<ConsoleSession>('/session');
    expect([self.name, accounts.map(({ role }) => role)]).toEqual(['Both', ['author', 'author']]);
  });

  test('of several first links the first that is followed ends the others', async () => {
    const other = await startConsole(kind);
    const second = (await other.database.db.transaction(inviteFirstPerson)) ?? '';
    const tries = await Promise.all(
      [other.firstToken, second].map((token, index) =>
        other
          .visitor()
          .send('POST', '/links/follow', { token, email: `p${index}@example.org`, name: 'P', password }),
      ),
    );
    expect(tries.map(({ status }) => status).sort(ascending)).toEqual([204, 404]);
    await other.close();
  });

  test('a person signs in with address and password, in whatever case, and out again', async () => {
    await service.person('viewer', 'vera@example.org');
    const vera = service.visitor();
    expect((await vera.send('GET', '/session')).status).toBe(401);
    expect((await vera.send('POST', '/session', { email: ' VERA@example.org ', password })).status).toBe(204);
    const { person, accounts } = await vera.get<ConsoleSession>('/session');
    expect(person.email).toBe('vera@example.org');
    expect(accounts).toEqual([
      { id: service.accountId, name: 'Acme', role: 'viewer', actions: ['account.read'] },
    ]);
    const { cookie } = vera;
    expect((await vera.send('DELETE', '/session')).status).toBe(204);
    vera.cookie = cookie;
    expect((await vera.send('GET', '/session')).status).toBe(401);
  });

  test('the cookie is kept from scripts, other sites and other paths', async () => {
    await service.person('viewer', 'cookie@example.org');
    const response = await service
      .visitor()
      .send('POST', '/session', { email: 'cookie@example.org', password });
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(
      /^trunkcall_session=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/console; Max-Age=1209600$/,
    );
  });

  test('a session that was planted before the sign-in is worth nothing after it', async () => {
    const mallory = await service.person('viewer', 'mallory@example.org');
    await service.person('owner', 'victim@example.org');
    const victim = service.visitor();
    victim.cookie = mallory.cookie;
    await victim.send('POST', '/session', { email: 'victim@example.org', password });
    expect(victim.cookie).not.toBe(mallory.cookie);
    expect((await mallory.send('GET', '/session')).status).toBe(401);
    const twice = service.visitor();
    twice.cookie = `${victim.cookie}; ${mallory.cookie}`;
    expect((await twice.send('GET', '/session')).status).toBe(401);
  });

  test.each([
    ['without use', 'update sessions set expires_at = now() where token_hash = sha256($1::bytea)'],
    [
      'at its bound',
      'update sessions set expires_at = now(), ends_at = now() where token_hash = sha256($1::bytea)',
    ],
  ])('a session ends %s, and nothing prolongs it then', async (name, sql) => {
    const visitor = await service.person('viewer');
    const token = Buffer.from(visitor.cookie.split('=')[1] ?? '');
    await service.database.db.query(statement(`end_${name.replaceAll(' ', '_')}`, sql), [token]);
    expect((await visitor.send('POST', '/session/prolong')).status).toBe(401);
    expect((await visitor.send('GET', '/session')).status).toBe(401);
  });

  test('use moves the end of a session on, never beyond its bound', async () => {
    const visitor = await service.person('viewer');
    const token = Buffer.from(visitor.cookie.split('=')[1] ?? '');
    const read = statement<{ left: number }>(
      'session_left',
      'select extract(epoch from expires_at - now())::float8 as left from sessions where token_hash = sha256($1::bytea)',
    );
    const near =
      "update sessions set expires_at = now() + interval '1 minute' where token_hash = sha256($1::bytea)";
    const { db } = service.database;
    await db.query(statement('session_near_end', near), [token]);
    await visitor.get('/session');
    expect((await db.query(read, [token]))[0]?.left).toBeLessThan(61);
    await visitor.send('POST', '/session/prolong');
    expect((await db.query(read, [token]))[0]?.left).toBeGreaterThan(11 * 3_600);
    const bound =
      "update sessions set expires_at = now() + interval '1 minute', ends_at = now() + interval '2 minutes' where token_hash = sha256($1::bytea)";
    await db.query(statement('session_near_bound', bound), [token]);
    await visitor.send('POST', '/session/prolong');
    expect((await db.query(read, [token]))[0]?.left).toBeLessThan(121);
  });

  test('a new password ends all other sessions, and the old one is refused', async () => {
    const one = await service.person('viewer', 'pass@example.org');
    const two = service.visitor();
    await two.send('POST', '/session', { email: 'pass@example.org', password });
    const wrong = await one.send('POST', '/session/password', {
      password: 'not this',
      new_password: 'another long one',
    });
    expect(wrong.status).toBe(403);
    const changed = await one.send('POST', '/session/password', {
      password,
      new_password: 'another long one',
    });
    expect(changed.status).toBe(204);
    expect((await one.send('GET', '/session')).status).toBe(200);
    expect((await two.send('GET', '/session')).status).toBe(401);
    const sign = (text: string) =>
      service.visitor().send('POST', '/session', { email: 'pass@example.org', password: text });
    expect((await sign(password)).status).toBe(401);
    expect((await sign('another long one')).status).toBe(204);
  });

  test('an operator’s link sets a new password, once', async () => {
    const operator = await service.operator();
    const forgetful = await service.person('viewer', 'forget@example.org');
    const { person } = await forgetful.get<ConsoleSession>('/session');
    const made = await operator.send('POST', `/people/${person.id}/password-link`);
    const { token } = (await made.json()) as PersonLink;
    const follow = () =>
      service.visitor().send('POST', '/links/follow', { token, password: 'a fresh password' });
    expect((await follow()).status).toBe(204);
    expect((await follow()).status).toBe(404);
    expect((await forgetful.send('GET', '/session')).status).toBe(401);
  });

  test('who is removed is signed out at once; the last operator can not be', async () => {
    const operator = await service.operator();
    const { person: self } = await operator.get<ConsoleSession>('/session');
    expect(await codeOf(await operator.send('DELETE', `/people/${self.id}`))).toBe('forbidden');
    const gone = await service.person('author', 'gone@example.org');
    const { person } = await gone.get<ConsoleSession>('/session');
    expect((await operator.send('DELETE', `/people/${person.id}`)).status).toBe(204);
    expect((await gone.send('GET', '/session')).status).toBe(401);
    const back = await service.visitor().send('POST', '/session', { email: 'gone@example.org', password });
    expect(back.status).toBe(401);
  });

  test('an API key opens nothing in the console, and a session nothing of the Developer API', async () => {
    const bearer = { authorization: `Bearer ${service.apiKey}` };
    expect((await service.visitor().send('GET', '/session', undefined, bearer)).status).toBe(401);
    const { cookie } = await service.person('owner');
    const token = cookie.split('=')[1] ?? '';
    const goals = (headers: Record<string, string>) => fetch(`${service.origin}/v1/goals`, { headers });
    expect((await goals(bearer)).status).toBe(200);
    expect((await goals({ cookie })).status).toBe(401);
    expect((await goals({ authorization: `Bearer ${token}` })).status).toBe(401);
  });

  test.each<[string, Record<string, string>]>([
    ['another site’s Origin', { origin: 'https://evil.example' }],
    ['an Origin that only begins alike', { origin: 'http://127.0.0.1.evil.example' }],
    ['no origin of a page (null)', { origin: 'null' }],
    ['no mark of the console', { 'x-trunkcall-console': '' }],
  ])('a change with %s is refused, with a good session too', async (_name, headers) => {
    const owner = await service.person('owner');
    const response = await owner.send('DELETE', '/session', undefined, headers);
    expect(response.status).toBe(403);
    expect((await owner.send('GET', '/session')).status).toBe(200);
  });

  test('neither passwords nor tokens stand in the log, in the audit log or, as they are, in the database', async () => {
    const { token } = (await (
      await (
        await service.operator()
      ).send('POST', `/accounts/${service.accountId}/people`, {
        email: 'quiet@example.org',
        role: 'viewer',
      })
    ).json()) as PersonLink;
    const visitor = service.visitor();
    await visitor.send('POST', '/links/look', { token });
    await visitor.send('POST', '/links/follow', { token, name: 'Quiet', password });
    const dump = statement<{ text: string }>(
      'dump_people',
      `select (select json_agg(p)::text from people p) || (select json_agg(a)::text from audit_log a)
        || (select json_agg(s)::text from sessions s) || coalesce((select json_agg(i)::text from invitations i), '') as text`,
    );
    const [row] = await service.database.db.query(dump);
    const stored = (row?.text ?? '') + service.logged();
    expect(stored).toContain('person.joined');
    for (const secret of [password, token ?? '', visitor.cookie.split('=')[1] ?? '']) {
      expect(stored).not.toContain(secret);
    }
  });

  test('every change of a person stands in the audit log, which can not be changed', async () => {
    const operator = await service.operator();
    const { data } = await operator.get<OperatorList<ConsoleAuditEntry>>('/audit?limit=100');
    const actions = new Set(data.map(({ action }) => action));
    for (const action of [
      'person.invited',
      'person.joined',
      'session.began',
      'session.ended',
      'person.removed',
    ]) {
      expect(actions).toContain(action);
    }
    const { db } = service.database;
    for (const sql of ["update audit_log set action = 'x'", 'delete from audit_log', 'truncate audit_log']) {
      await expect(db.execute(sql)).rejects.toThrow('only ever added to');
    }
  });

  test('an export takes people, roles and the audit log along, and leaves sessions and links behind', async () => {
    await service.person('owner', 'moves@example.org');
    const { db } = service.database;
    await db.query(insertDeployment, ['test', Buffer.alloc(32)]);
    const lines: string[] = [];
    await exportData(db, async (line) => {
      lines.push(line);
    });
    const target = await freshDatabase(kind);
    async function* exported(): AsyncGenerator<string> {
      yield* lines;
    }
    await importData(target.db, exported());
    const moved = await recognise(target.db, 'moves@example.org', password);
    expect(moved).toMatchObject({ name: 'owner', operator: false });
    const count = statement<{ roles: number; notes: number; rest: number }>(
      'count_moved',
      `select (select count(*) from memberships) as roles, (select count(*) from audit_log) as notes,
              (select count(*) from sessions) + (select count(*) from invitations) as rest`,
    );
    const [before] = await db.query(count);
    const [after] = await target.db.query(count);
    expect(before?.rest).toBeGreaterThan(0);
    expect(after).toEqual({ ...before, rest: 0 });
    await target.close();
  });

  test('a change whose note can not be written does not happen', async () => {
    const owner = await service.person('owner');
    const { db } = service.database;
    await db.execute('alter table audit_log add constraint nothing_more check (false) not valid');
    const response = await owner.send('POST', `/accounts/${service.accountId}/keys`, {
      scopes: ['goals:read'],
      expires_at: null,
    });
    await db.execute('alter table audit_log drop constraint nothing_more');
    expect(response.status).toBe(500);
    const keyring = createKeyring({ db, clock: systemClock, ids, environment: 'test' });
    expect((await keyring.list(service.accountId)).map((key) => key.scopes)).toEqual([scopes]);
  });
});

describe('the limits of signing in', () => {
  /** The system's time, moved on by hand. */
  const testClock = (): Clock & { advance: (ms: number) => void } => {
    let aheadMs = 0;
    return {
      ...systemClock,
      now: () => systemClock.now() + aheadMs,
      monotonic: () => systemClock.monotonic() + aheadMs,
      advance: (ms) => {
        aheadMs += ms;
      },
    };
  };

  test('ten wrong passwords for an address are enough, wherever they come from and whether it exists', async () => {
    const clock = testClock();
    const service = await startConsole('embedded', { clock });
    await service.person('viewer', 'guessed@example.org');
    for (const email of ['guessed@example.org', 'nobody@example.org']) {
      const sign = (text: string) => service.visitor().send('POST', '/session', { email, password: text });
      const statuses: number[] = [];
      for (let guesses = 0; guesses < 10; guesses += 1) statuses.push((await sign('wrong')).status);
      expect(new Set(statuses)).toEqual(new Set([401]));
      const refused = await sign(password);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      // For the bucket of the network, which is the same for both.
      clock.advance(120_000);
    }
    const right = { email: 'guessed@example.org', password };
    expect((await service.visitor().send('POST', '/session', right)).status).toBe(204);
    await service.close();
  }, 60_000);

  test('twenty wrong tries of one network are enough, for links too', async () => {
    const service = await startConsole('embedded', { clock: testClock() });
    const look = () => service.visitor().send('POST', '/links/look', { token: 'x'.repeat(43) });
    const statuses: number[] = [];
    for (let guesses = 0; guesses < 21; guesses += 1) statuses.push((await look()).status);
    // A link that is none is a refusal of the look-up, so nothing is given back.
    expect(statuses.filter((status) => status === 404)).toHaveLength(20);
    expect(statuses.at(-1)).toBe(429);
    await service.close();
  });

  test('behind HTTPS the cookie is for HTTPS alone, and its origin is the public one', async () => {
    const service = await startConsole('embedded', { publicUrl: 'https://calls.example' });
    const response = await service
      .visitor()
      .send(
        'POST',
        '/links/follow',
        { token: service.firstToken, email: 'a@example.org', name: 'A', password },
        { origin: 'https://calls.example' },
      );
    expect(response.status).toBe(204);
    expect(response.headers.getSetCookie()[0]).toMatch(/; Secure$/);
    await service.close();
  });
});
