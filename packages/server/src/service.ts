/**
 * The running service: builds its parts from the settings, starts the roles and stops them again.
 *
 *   database ─▶ migrations ─▶ deployment (first start founds it) ─▶ HTTP ─▶ worker, deliverer
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Credentials } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { createCallAcceptance } from './acceptance/accept-call.ts';
import { createAcceptance } from './acceptance/accept.ts';
import { createModelReader } from './acceptance/task-reader/model-reader.ts';
import { createRuleReader } from './acceptance/task-reader/rule-reader.ts';
import {
  agentsOf,
  carrierOf,
  chatsOf,
  databaseProblems,
  destinationsOf,
  extractorOf,
  openDatabase,
  ratesOf,
  ownIdentity,
  providersOf,
  reachOf,
  readAuthorities,
  recordingsOf,
  trunkBookOf,
  watchedAgent,
  watchedChat,
} from './adapters.ts';
import { findEspeak } from './agents/audio/espeak.ts';
import { prepareDeployment } from './authoring/first-start.ts';
import { startKeyUses } from './authoring/key-uses.ts';
import { createKeyring } from './authoring/keys.ts';
import { inviteFirstPerson } from './authoring/people.ts';
import { createReadiness } from './authoring/readiness.ts';
import { startUsageSweep } from './billing/sweep.ts';
import type { Carrier } from './carriers/carrier.ts';
import { settingsInForce } from './config.ts';
import { readCredentials, writeCredentials } from './credentials.ts';
import { buildApp } from './http/app.ts';
import { consoleRoutes } from './http/console/routes.ts';
import { operatorRoutes } from './http/operator/routes.ts';
import { defaultHttpSettings } from './http/settings.ts';
import { callTaskRoutes } from './legacy/routes.ts';
import { createRingNumber } from './inbound/ring.ts';
import { systemClock } from './platform/clock.ts';
import { systemIds } from './platform/ids.ts';
import { createProviderKeys, neededKeys, rejectedKeys, type KeysOf } from './platform/key-watch.ts';
import type { Logger } from './platform/log.ts';
import { onlyOnce } from './platform/only-once.ts';
import { createProviderHealth } from './platform/provider-health.ts';
import { startDeliverer, type Deliverer } from './publication/deliverer.ts';
import { createEndpoints } from './publication/endpoints.ts';
import { createModelConcluder } from './result/model/model-concluder.ts';
import { createScriptedConcluder } from './result/scripted-concluder.ts';
import { createRehearsals } from './rehearsal/rehearse.ts';
import type { Config } from './settings.ts';
import { expireAllLeases } from './storage/jobs.ts';
import { migrate } from './storage/migrate.ts';
import { forgetAllWorkers } from './storage/workers.ts';
import { createRunReader } from './storage/runs.ts';
import { createGoalTester } from './rehearsal/test-goal.ts';
import { stopCall, takeBackCall } from './worker/cancel-call.ts';
import { cancelRun } from './worker/cancel-run.ts';
import { startPresence, type Presence } from './worker/presence.ts';
import { createTestCaller, type TestCaller } from './worker/test-calls.ts';
import { startWorker, type Worker } from './worker/worker.ts';

export interface Service {
  /** Where HTTP listens, `http://host:port`; null without the role `api`. */
  readonly url: string | null;
  /** What this start founded; null when the deployment was there before. */
  readonly founded: Credentials | null;
  /** Of the link by which the first person comes to the console; null when there are people. */
  readonly firstPersonToken: string | null;
  /** Ends what is under way within the settings' bounds and releases everything. Safe to repeat. */
  stop(): Promise<void>;
}

/** Example Goals lie beside the packages in a checkout. */
const examples = fileURLToPath(new URL('../../../examples/goals', import.meta.url));

/** What `npm run build:console` makes. */
const consoleBuild = fileURLToPath(new URL('../../console/dist', import.meta.url));

const clock = systemClock;
const ids = systemIds(clock);

export interface ServiceOptions {
  readonly log: Logger;
  /** Told that the process can not go on; it must end. */
  readonly onFatal: (error: Error) => void;
  /** Wraps the carrier, for tests that watch what leaves the service. */
  readonly watchCarrier?: (carrier: Carrier) => Carrier;
}

/**
 * Starts the service.
 *
 * Throws: ConfigError, DirectoryInUse, SchemaMismatch, WrongEnvironment, DatabaseUnavailable, the system's error of
 * a port in use; whatever it had opened is closed then.
 */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const { log } = options;
  const undo: (() => Promise<unknown>)[] = [];
  const stop = onlyOnce(async () => {
    for (const step of undo.reverse()) {
      await step().catch((error: unknown) => log.error({ err: error }, 'stopping failed'));
    }
  });
  try {
    return { ...(await start(config, options, undo)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  config: Config,
  { log, onFatal, watchCarrier = (carrier) => carrier }: ServiceOptions,
  undo: (() => Promise<unknown>)[],
): Promise<Omit<Service, 'stop'>> {
  const db = await openDatabase(config, log, onFatal);
  undo.push(() => db.close());
  await migrate(db);
  if (db.kind === 'embedded') {
    await db.query(expireAllLeases);
    await db.query(forgetAllWorkers);
  }

  const dataDir = resolve(config.dataDir);
  // Found out now rather than when the port is open.
  readCredentials(dataDir);
  const baseUrl = config.publicUrl ?? urlOf(config.host, config.port);
  const { deployment, credentials: founded } = await prepareDeployment({
    db,
    ids,
    clock,
    environment: config.environment,
    goalsDirectory: examples,
    baseUrl,
    save: async (credentials) => writeCredentials(dataDir, credentials),
  });

  const carrier = await carrierOf(config, db, log, onFatal);
  if (carrier !== null) undo.push(() => carrier.close());
  const network = carrier !== null && 'ring' in carrier ? carrier : null;
  const ringNumber = createRingNumber({ db, ids, network });
  const reach = carrier ?? reachOf(config);
  const providerKeys = createProviderKeys(clock);
  const models = chatsOf(config, log, providerKeys);
  const health = createProviderHealth(clock, (provider) =>
    provider === 'chat' ? Math.max(models.tasks?.pauseMs() ?? 0, models.results?.pauseMs() ?? 0) : 0,
  );
  const chats = { tasks: watchedChat(models.tasks, health), results: watchedChat(models.results, health) };
  const synthesizer = await findEspeak({ clock });
  const agents = agentsOf(config, synthesizer, providerKeys).map((agent) => watchedAgent(agent, health));
  const keysOf: KeysOf = (kind) => neededKeys(kind, providerKeys, chats.results !== null);
  const readiness = createReadiness({ agents, carrier: reach, keysOf });
  const providerProblems = () => rejectedKeys(providerKeys);
  const forbids = (phone: string) => reach?.forbids(phone) ?? null;
  const keyUses = startKeyUses({ db, clock, log });
  undo.push(() => keyUses.stop());
  const keys = createKeyring({
    db,
    clock,
    ids,
    environment: config.environment,
    onUse: (id) => keyUses.note(id),
  });

  const destinations = destinationsOf(config);
  const authorities = readAuthorities(config);
  const findRate = ratesOf(config);
  let deliverer: Deliverer | null = null;
  const onDue = () => deliverer?.wake();
  // Stopped behind the worker, whose last calls still publish.
  undo.push(async () => deliverer?.stop());

  // Behind the worker, too: others see that it drains.
  let presence: Presence | null = null;
  undo.push(async () => presence?.stop());

  // One slow client must not keep live calls waiting for their end, nor the other way round.
  const intake: (() => Promise<unknown>)[] = [];
  undo.push(() => Promise.all(intake.map((close) => close())));
  let worker: Worker | null = null;
  let testCaller: TestCaller | null = null;
  const identity = { id: ids.next('wrk'), ...ownIdentity() };
  const facts = {
    version: identity.version,
    startedAt: new Date(clock.now()),
    book: trunkBookOf(config),
    providers: providersOf(config),
    settings: settingsInForce(config),
  };
  const onWanted = () => presence?.wake();
  if (reach === null) log.warn('no carrier is configured: no Goal is ready to run');
  const speaks = (locale: string) =>
    agents.some(
      (agent) => agent.kind === 'scripted' && agent.problems(locale, reach?.media ?? 'speech').length === 0,
    );
  const extractor = extractorOf(chats.results);
  const goalTester = createGoalTester({ clock, agents, extractor });
  const callAcceptance = createCallAcceptance({
    db,
    clock,
    ids,
    reader:
      chats.tasks === null ? createRuleReader({ speaks }) : createModelReader({ speaks, chat: chats.tasks }),
    speaks,
    agent: { kind: 'scripted' },
    readiness,
    forbids,
    urlProblem: (url) => destinations.checkDestination(url),
    maxQueuedTasks: config.maxQueuedTasks,
    onAccepted: () => worker?.wake(),
  });
  const endpoints = createEndpoints({ db, clock, ids, destinations, onDue });
  const app = buildApp({
    db,
    clock,
    ids,
    log,
    keys,
    cursorSecret: deployment.cursor_secret,
    acceptance: createAcceptance({
      db,
      clock,
      ids,
      readiness,
      forbids,
      onAccepted: () => worker?.wake(),
    }),
    findRun: createRunReader(db),
    readiness,
    ready: () => databaseProblems(db),
    calls: {
      acceptance: callAcceptance,
      takeBack: (callId) => takeBackCall(db, { clock, ids }, callId),
    },
    legacy: (legacyApp, shared) =>
      callTaskRoutes(legacyApp, { ...shared, cutoffActive: config.callTaskCutoff === 'on' }),
    settings: {
      ...defaultHttpSettings,
      baseUrl: config.publicUrl,
      trustedProxies: config.trustedProxies,
      drainTimeoutMs: requestDrainMs(config),
      keyRate: { perSecond: config.rateLimitPerSecond, burst: config.rateLimitBurst },
    },
    operator: operatorRoutes({
      db,
      ids,
      clock,
      environment: config.environment,
      configuredToken: config.operatorToken,
      keys,
      readiness,
      providerProblems,
      goalTester,
      facts,
      onWanted,
      recordings: recordingsOf(config),
      endpoints,
      ringNumber,
      cancelRun: (runId, note) => cancelRun(db, { clock, ids }, (id) => worker?.stopRun(id), runId, note),
      stopCall: (callId, note) => stopCall(db, { clock, ids }, (id) => worker?.stopRun(id), callId, note),
    }),
    console: consoleRoutes({
      db,
      ids,
      clock,
      environment: config.environment,
      readiness,
      providerProblems,
      goalTester,
      rehearsals: createRehearsals({ clock, agents, extractor }),
      log,
      facts,
      onWanted,
      publicUrl: config.publicUrl,
      directory: consoleBuild,
      endpoints,
      recordings: recordingsOf(config),
      ringNumber,
      cancelRun: (runId, note) => cancelRun(db, { clock, ids }, (id) => worker?.stopRun(id), runId, note),
      stopCall: (callId, note) => stopCall(db, { clock, ids }, (id) => worker?.stopRun(id), callId, note),
      legOf: (runId) => worker?.legOf(runId) ?? null,
    }),
  });
  intake.push(() => app.close());
  let url: string | null = null;
  let firstPersonToken: string | null = null;
  if (config.roles.includes('api')) {
    url = await listen(app, config);
    rememberUrl(dataDir, config.publicUrl ?? url);
    firstPersonToken = await db.transaction(inviteFirstPerson);
  }

  // Behind the port: a process that can not listen, and so ends, must not have anybody on the line.
  if (carrier !== null) {
    const watchedCarrier = watchCarrier(carrier);
    const started = await startWorker({
      name: identity.id,
      db,
      clock,
      ids,
      log,
      carrier: watchedCarrier,
      agents,
      keysOf,
      extractor,
      concluder: chats.results === null ? createScriptedConcluder() : createModelConcluder(chats.results),
      onPublished: onDue,
      settings: { ...config, maxDeploymentCalls: config.maxCalls, maxCarrierCalls: config.maxCalls },
    });
    const caller = createTestCaller({
      db,
      clock,
      log,
      carrier: watchedCarrier,
      synthesizer,
      name: identity.id,
    });
    intake.push(
      () => started.stop(),
      () => caller.stop(),
    );
    worker = started;
    testCaller = caller;
  }
  if (config.roles.includes('worker')) {
    const sweep = startUsageSweep({ db, clock, ids, log, findRate });
    // Stopped before the database is closed; what it has not counted is counted after the next start.
    undo.push(() => sweep.stop());
    deliverer = await startDeliverer({
      db,
      clock,
      ids,
      log,
      destinations,
      settings: {
        headerPrefix: config.webhookHeaderPrefix,
        authorities,
        perReceiver: config.webhooksPerReceiver,
        retentionDays: config.webhookRetentionDays,
        pollMs: config.pollMs,
      },
    });
  }
  presence = await startPresence({
    db,
    clock,
    log,
    ...identity,
    roles: config.roles,
    report: () => ({
      liveCalls: worker?.liveCalls ?? 0,
      draining: worker?.draining ?? false,
      trunks: carrier?.states() ?? [],
      providers: health.reports(),
    }),
    async onBeat({ drain, testCalls }) {
      worker?.drain(drain);
      if (testCalls) await testCaller?.look(drain);
    },
  });
  return { url, founded, firstPersonToken };
}

/** A request that is under way gets as long as a call, but no longer than any request may take. */
const requestDrainMs = ({ drainMs }: Config): number => Math.min(drainMs, defaultHttpSettings.drainTimeoutMs);

async function listen(app: FastifyInstance, { host, port }: Config): Promise<string> {
  await app.listen({ host, port });
  const address = app.server.address();
  return urlOf(host, typeof address === 'object' && address !== null ? address.port : port);
}

function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host;
  return `http://${reachable.includes(':') && !reachable.startsWith('[') ? `[${reachable}]` : reachable}:${port}`;
}

/** Keeps the address in the credentials true when the service moved to another port. */
function rememberUrl(dataDir: string, url: string): void {
  const credentials = readCredentials(dataDir);
  if (credentials !== null && credentials.base_url !== url)
    writeCredentials(dataDir, { ...credentials, base_url: url });
}
