/** The real app with the operator API on a real socket, a real database behind it, and its clients. */
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { operatorOpenApiDocument, operatorPrefix } from '@trunkcall/contract';
import { OperatorClient, Trunkcall } from '@trunkcall/sdk';
import { createAcceptance } from '../../../src/acceptance/accept.ts';
import { createKeyring } from '../../../src/authoring/keys.ts';
import { hashOperatorToken, newOperatorToken } from '../../../src/authoring/operator-tokens.ts';
import { buildApp } from '../../../src/http/app.ts';
import { operatorRoutes } from '../../../src/http/operator/routes.ts';
import { defaultHttpSettings } from '../../../src/http/settings.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import type { SimulatedNetwork } from '../../../src/carriers/simulated/network.ts';
import { createRingNumber } from '../../../src/inbound/ring.ts';
import { callTaskRoutes } from '../../../src/legacy/routes.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createDestinations } from '../../../src/publication/destination.ts';
import { createEndpoints } from '../../../src/publication/endpoints.ts';
import { insertOperatorToken } from '../../../src/storage/operator-tokens.ts';
import { createRunReader } from '../../../src/storage/runs.ts';
import { stopCall } from '../../../src/worker/cancel-call.ts';
import { cancelRun } from '../../../src/worker/cancel-run.ts';
import { callDependencies } from '../../kit/calls.ts';
import { scriptedGoalTester } from '../../kit/goal-tester.ts';
import { watchAnswers } from '../../kit/documented.ts';
import { facts } from '../../kit/facts.ts';
import { freshDatabase, type TestDatabase } from '../../kit/database.ts';

export const ids = systemIds(systemClock);

/** Accepted beside those in the database. */
export const configuredToken = 'a-token-of-the-settings-of-this-process';

export interface OperatorService {
  readonly database: TestDatabase;
  readonly origin: string;
  readonly token: string;
  readonly operator: OperatorClient;
  /** A client of the Developer API with a key that may do everything. */
  developer(account: string): Promise<Trunkcall>;
  /** The log so far. */
  readonly logged: () => string;
  /** Fails when an answer of the operator API was not as its OpenAPI document says. */
  close(): Promise<void>;
}

/** Not ready are the Goals whose locale is `de-DE`. */
const readiness = ({ locale }: { readonly locale: string }) =>
  locale === 'de-DE' ? ['no agent speaks de-DE'] : [];

/** What the check-up is to find wrong with providers. */
export const providerProblems: string[] = [];

/** Every name is that of a public address. */
const destinations = createDestinations({
  allow: new Set(),
  resolve: async () => ['8.8.8.8'],
  clock: systemClock,
});

/** Nobody can be rung unless the test brings a network, and a worker that answers on it. */
export async function startOperatorService(
  kind: 'postgres' | 'embedded',
  network: SimulatedNetwork | null = null,
): Promise<OperatorService> {
  const database = await freshDatabase(kind);
  const { db } = database;
  const token = newOperatorToken();
  await db.query(insertOperatorToken, [hashOperatorToken(token)]);
  const keys = createKeyring({ db, clock: systemClock, ids, environment: 'test' });
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const app = buildApp({
    db,
    clock: systemClock,
    ids,
    log: createLog('info', destination),
    keys,
    cursorSecret: Buffer.alloc(32, 7),
    acceptance: createAcceptance({
      db,
      clock: systemClock,
      ids,
      readiness,
      forbids: () => null,
      onAccepted: () => undefined,
    }),
    findRun: createRunReader(db),
    readiness,
    ready: async () => [],
    calls: callDependencies(db, systemClock, ids),
    legacy: (legacyApp, shared) => callTaskRoutes(legacyApp, { ...shared, cutoffActive: false }),
    settings: defaultHttpSettings,
    operator: operatorRoutes({
      db,
      ids,
      clock: systemClock,
      environment: 'test',
      keys,
      readiness,
      facts,
      onWanted: () => undefined,
      endpoints: createEndpoints({ db, clock: systemClock, ids, destinations, onDue: () => undefined }),
      ringNumber: createRingNumber({ db, ids, network }),
      providerProblems: () => providerProblems,
      goalTester: scriptedGoalTester(systemClock),
      configuredToken,
      recordings: '/nonexistent',
      stopCall: (callId, note) => stopCall(db, { ids, clock: systemClock }, () => undefined, callId, note),
      cancelRun: (runId, note) => cancelRun(db, { ids, clock: systemClock }, () => undefined, runId, note),
    }),
  });
  const departures = watchAnswers(app, operatorOpenApiDocument(), operatorPrefix);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const operator = new OperatorClient({ baseUrl: origin, operatorToken: token });
  return {
    database,
    origin,
    token,
    operator,
    async developer(account) {
      const { key } = await operator.createKey({ account });
      return new Trunkcall({ baseUrl: origin, apiKey: key });
    },
    logged: () => lines.join(''),
    async close() {
      await app.close();
      await database.close();
      if (departures().length > 0)
        throw new Error(`answers that are not as documented:\n${departures().join('\n')}`);
    },
  };
}
