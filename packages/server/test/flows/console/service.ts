/** The console's API on a real socket, and people who use it. */
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { scopes, type PersonLink, type ConsoleRole } from '@trunkcall/contract';
import type { FastifyPluginAsync } from 'fastify';
import { createAcceptance } from '../../../src/acceptance/accept.ts';
import { createAccount } from '../../../src/authoring/accounts.ts';
import type { Agent } from '../../../src/agents/agent.ts';
import type { Synthesizer } from '../../../src/agents/audio/synthesizer.ts';
import type { Leg } from '../../../src/carriers/carrier.ts';
import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import { createKeyring } from '../../../src/authoring/keys.ts';
import { inviteFirstPerson } from '../../../src/authoring/people.ts';
import { buildApp } from '../../../src/http/app.ts';
import { consoleRoutes } from '../../../src/http/console/routes.ts';
import { defaultHttpSettings } from '../../../src/http/settings.ts';
import { callTaskRoutes } from '../../../src/legacy/routes.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { createRingNumber } from '../../../src/inbound/ring.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createDestinations } from '../../../src/publication/destination.ts';
import { createEndpoints } from '../../../src/publication/endpoints.ts';
import { createRehearsals } from '../../../src/rehearsal/rehearse.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';
import { createRunReader } from '../../../src/storage/runs.ts';
import { stopCall } from '../../../src/worker/cancel-call.ts';
import { cancelRun } from '../../../src/worker/cancel-run.ts';
import { callDependencies } from '../../kit/calls.ts';
import { scriptedGoalTester } from '../../kit/goal-tester.ts';
import { facts } from '../../kit/facts.ts';
import { freshDatabase, type TestDatabase } from '../../kit/database.ts';

export const ids = systemIds(systemClock);
export const password = 'correct horse battery';

/** Every name is that of a public address. */
const destinations = createDestinations({
  allow: new Set(),
  resolve: async () => ['8.8.8.8'],
  clock: systemClock,
});

/** A browser: keeps the cookie, and says where it stands. */
export interface Visitor {
  cookie: string;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The JSON of an answer that must be good. */
  get<T>(path: string): Promise<T>;
}

export interface ConsoleRoute {
  readonly method: string;
  /** Below `/console/api`, with parameters as `:name`. */
  readonly path: string;
}

export interface ConsoleService {
  readonly database: TestDatabase;
  readonly origin: string;
  /** Of the link by which the first person comes. */
  readonly firstToken: string;
  readonly accountId: string;
  readonly otherAccountId: string;
  /** Every route of the console's API but the two that answer for paths that are not there. */
  readonly routes: readonly ConsoleRoute[];
  /** An API key of the account, with all scopes. */
  readonly apiKey: string;
  /** The directory of recordings. */
  readonly recordings: string;
  readonly logged: () => string;
  visitor(): Visitor;
  /** The first person, signed in; an operator. */
  operator(): Promise<Visitor>;
  /** Somebody with a role in the account, signed in. */
  person(role: ConsoleRole, email?: string): Promise<Visitor>;
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly clock?: Clock;
  /** Who speaks when somebody talks to a draft, beside the scripted agent. */
  readonly moreAgents?: readonly Agent[];
  /** The scripted agent's voice; without one it can only write. */
  readonly synthesizer?: Synthesizer;
  readonly publicUrl?: string;
  /** The legs on which a worker of the test talks. */
  readonly legOf?: (runId: string) => Leg | null;
}

export async function startConsole(
  kind: 'postgres' | 'embedded',
  { clock = systemClock, publicUrl, moreAgents = [], synthesizer, legOf = () => null }: ServiceOptions = {},
): Promise<ConsoleService> {
  const database = await freshDatabase(kind);
  const { db } = database;
  const keys = createKeyring({ db, clock, ids, environment: 'test' });
  const { id: accountId } = await createAccount(db, ids, 'Acme');
  const { id: otherAccountId } = await createAccount(db, ids, 'Rival');
  const { key: apiKey } = await keys.create({ accountId, scopes, regions: null, expiresAt: null });
  const firstToken = (await db.transaction(inviteFirstPerson)) ?? '';
  const directory = writeBuild();
  const recordings = mkdtempSync(join(tmpdir(), 'trunkcall-recordings-'));
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const routes: ConsoleRoute[] = [];
  const readiness = () => [];
  const log = createLog('info', destination);
  const app = buildApp({
    db,
    clock,
    ids,
    log,
    keys,
    cursorSecret: Buffer.alloc(32, 7),
    acceptance: createAcceptance({
      db,
      clock,
      ids,
      readiness,
      forbids: () => null,
      onAccepted: () => undefined,
    }),
    calls: callDependencies(db, clock, ids),
    legacy: (legacyApp, shared) => callTaskRoutes(legacyApp, { ...shared, cutoffActive: false }),
    findRun: createRunReader(db),
    readiness,
    ready: async () => [],
    settings: defaultHttpSettings,
    console: noting(
      routes,
      consoleRoutes({
        db,
        ids,
        clock,
        environment: 'test',
        readiness,
        providerProblems: () => [],
        goalTester: scriptedGoalTester(clock),
        rehearsals: createRehearsals({
          clock,
          agents: [createScriptedAgent({ clock, synthesizer: synthesizer ?? null }), ...moreAgents],
          extractor: createScriptedExtractor(),
        }),
        log,
        facts,
        onWanted: () => undefined,
        publicUrl: publicUrl ?? null,
        directory,
        recordings,
        endpoints: createEndpoints({ db, clock, ids, destinations, onDue: () => undefined }),
        ringNumber: createRingNumber({ db, ids, network: null }),
        legOf,
        cancelRun: (runId, note) => cancelRun(db, { ids, clock }, () => undefined, runId, note),
        stopCall: (callId, note) => stopCall(db, { ids, clock }, () => undefined, callId, note),
      }),
    ),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  function visitor(): Visitor {
    const self: Visitor = {
      cookie: '',
      async send(method, path, body, headers = {}) {
        const own: Record<string, string> = self.cookie === '' ? {} : { cookie: self.cookie };
        if (method !== 'GET') Object.assign(own, { origin, 'x-trunkcall-console': '1' });
        if (body !== undefined) own['content-type'] = 'application/json';
        const response = await fetch(`${origin}/console/api${path}`, {
          method,
          headers: { ...own, ...headers },
          ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        });
        const [set] = response.headers.getSetCookie();
        if (set !== undefined) self.cookie = set.split(';', 1)[0] ?? '';
        return response;
      },
      async get<T>(path: string) {
        const response = await self.send('GET', path);
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        return (await response.json()) as T;
      },
    };
    return self;
  }

  async function follow(token: string, person: { email?: string; name: string }): Promise<Visitor> {
    const self = visitor();
    const response = await self.send('POST', '/links/follow', { token, password, ...person });
    if (response.status !== 204) throw new Error(await response.text());
    return self;
  }

  let first: Promise<Visitor> | undefined;
  const operator = () => (first ??= follow(firstToken, { email: 'first@example.org', name: 'First' }));
  let people = 0;
  return {
    database,
    origin,
    firstToken,
    accountId,
    otherAccountId,
    routes,
    apiKey,
    recordings,
    logged: () => lines.join(''),
    visitor,
    operator,
    async person(role, email = `person-${(people += 1)}@example.org`) {
      const invited = await (await operator()).send('POST', `/accounts/${accountId}/people`, { email, role });
      const { token } = (await invited.json()) as PersonLink;
      return follow(token ?? '', { name: role });
    },
    async close() {
      await app.close();
      await database.close();
      rmSync(directory, { recursive: true, force: true });
      rmSync(recordings, { recursive: true, force: true });
    },
  };
}

/** A plugin that leaves the routes of the console's API in a list. */
function noting(routes: ConsoleRoute[], plugin: FastifyPluginAsync): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRoute', ({ method, url }) => {
      const path = /^\/console\/api(\/[^*]+)$/.exec(url)?.[1];
      if (path === undefined || path === '/') return;
      for (const one of [method].flat().filter((name) => name !== 'HEAD')) routes.push({ method: one, path });
    });
    await app.register(plugin);
  };
}

/** What a build of the console looks like to the server. */
function writeBuild(): string {
  const directory = mkdtempSync(join(tmpdir(), 'trunkcall-console-'));
  mkdirSync(join(directory, 'assets'));
  const page =
    '<meta property="csp-nonce" nonce="__CSP_NONCE__"><script src="/console/assets/app.js"></script>';
  writeFileSync(join(directory, 'index.html'), page);
  writeFileSync(join(directory, 'assets', 'app.js'), 'console.log("plain")');
  writeFileSync(join(directory, 'assets', 'app.js.br'), 'brotli');
  writeFileSync(join(directory, 'assets', 'app.js.gz'), 'gzip');
  return directory;
}
