/**
 * The program: reads the environment, builds the adapters and runs the roles. Nothing else does either.
 *
 *   settings ─▶ database ─▶ migrations ─▶ deployment (first start founds it) ─▶ HTTP ─▶ worker
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Credentials } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { createCallAcceptance } from './acceptance/accept-call.ts';
import { createAcceptance } from './acceptance/accept.ts';
import { createModelReader } from './acceptance/task-reader/model-reader.ts';
import { createRuleReader } from './acceptance/task-reader/rule-reader.ts';
import { findEspeak } from './agents/audio/espeak.ts';
import { createCascadeAgent } from './agents/cascade/cascade-agent.ts';
import { cascadeParts } from './agents/cascade/parts.ts';
import type { RealtimeProvider } from './agents/realtime/dialect.ts';
import { createRealtimeAgent } from './agents/realtime/realtime-agent.ts';
import { createScriptedAgent } from './agents/scripted/scripted-agent.ts';
import { prepareDeployment, WrongEnvironment } from './authoring/first-start.ts';
import { createKeyring } from './authoring/keys.ts';
import { inviteFirstPerson } from './authoring/people.ts';
import { createReadiness } from './authoring/readiness.ts';
import type { Carrier, Reach } from './carriers/carrier.ts';
import { createSimulatedNetwork } from './carriers/simulated/network.ts';
import { createSipCarrier, sipReach } from './carriers/sip/sip-carrier.ts';
import { TrunkProblem } from './carriers/sip/trunks.ts';
import { ConfigError, readConfig, unknownVariables, type Config } from './config.ts';
import { CredentialsUnreadable, readCredentials, writeCredentials } from './credentials.ts';
import { buildApp } from './http/app.ts';
import { consoleRoutes } from './http/console/routes.ts';
import { operatorRoutes } from './http/operator/routes.ts';
import { defaultHttpSettings } from './http/settings.ts';
import { callTaskRoutes } from './legacy/routes.ts';
import { createChat, type Chat } from './platform/chat/chat.ts';
import { openAiUrl } from './platform/chat/provider.ts';
import { systemClock } from './platform/clock.ts';
import { systemIds } from './platform/ids.ts';
import { createLog, type Logger } from './platform/log.ts';
import { startDeliverer, type Deliverer } from './publication/deliverer.ts';
import { createDestinations, createResolve } from './publication/destination.ts';
import { createEndpoints } from './publication/endpoints.ts';
import { createModelConcluder } from './result/model/model-concluder.ts';
import { createModelExtractor } from './result/model/model-extractor.ts';
import { createScriptedConcluder } from './result/scripted-concluder.ts';
import { createScriptedExtractor } from './result/scripted-extractor.ts';
import { DatabaseUnavailable, statement, type Database } from './storage/database.ts';
import { DirectoryInUse } from './storage/embedded-lock.ts';
import { openEmbedded } from './storage/embedded.ts';
import { expireAllLeases } from './storage/jobs.ts';
import { migrate, SchemaMismatch } from './storage/migrate.ts';
import { checkDurability, openPostgres, ServerTooOld } from './storage/postgres.ts';
import { createRunReader } from './storage/runs.ts';
import { createTrunkSlots } from './storage/trunk-slots.ts';
import { exportData, importData, TransferRefused } from './storage/transfer.ts';
import { stopCall, takeBackCall } from './worker/cancel-call.ts';
import { cancelRun } from './worker/cancel-run.ts';
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
  if (db.kind === 'embedded') await db.query(expireAllLeases);

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
  const reach = carrier ?? reachOf(config);
  const synthesizer = reach?.media === 'audio' ? await findEspeak({ clock }) : null;
  const agents = [
    createScriptedAgent({ clock, synthesizer }),
    createRealtimeAgent({ clock, provider: realtimeProviderOf(config) }),
    createCascadeAgent(cascadeParts(config, clock)),
  ];
  const readiness = createReadiness({ agents, carrier: reach });
  const forbids = (phone: string) => reach?.forbids(phone) ?? null;
  const keys = createKeyring({ db, clock, ids, environment: config.environment });

  const destinations = createDestinations({
    allow: new Set(config.webhookAllow),
    resolve: createResolve(),
    clock,
  });
  const authorities = readAuthorities(config);
  let deliverer: Deliverer | null = null;
  const onDue = () => deliverer?.wake();
  // Stopped behind the worker, whose last calls still publish.
  undo.push(async () => deliverer?.stop());

  // One slow client must not keep live calls waiting for their end, nor the other way round.
  const intake: (() => Promise<unknown>)[] = [];
  undo.push(() => Promise.all(intake.map((close) => close())));
  let worker: Worker | null = null;
  if (reach === null) log.warn('no carrier is configured: no Goal is ready to run');
  const speaks = (locale: string) =>
    agents.some(
      (agent) => agent.kind === 'scripted' && agent.problems(locale, reach?.media ?? 'speech').length === 0,
    );
  const chat = chatOf(config, log);
  const callAcceptance = createCallAcceptance({
    db,
    clock,
    ids,
    reader: chat === null ? createRuleReader({ speaks }) : createModelReader({ speaks, chat }),
    speaks,
    agent: { kind: 'scripted' },
    readiness,
    forbids,
    maxQueuedTasks: config.maxQueuedTasks,
    onAccepted: () => worker?.wake(),
  });
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
      urlProblem: (url) => destinations.checkDestination(url),
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
      endpoints: createEndpoints({ db, clock, ids, destinations, onDue }),
      cancelRun: (runId) => cancelRun(db, { clock, ids }, (id) => worker?.stopRun(id), runId),
      stopCall: (callId) => stopCall(db, { clock, ids }, (id) => worker?.stopRun(id), callId),
    }),
    console: consoleRoutes({
      db,
      ids,
      clock,
      environment: config.environment,
      readiness,
      publicUrl: config.publicUrl,
      directory: consoleBuild,
      cancelRun: (runId, note) => cancelRun(db, { clock, ids }, (id) => worker?.stopRun(id), runId, note),
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
    const started = await startWorker({
      db,
      clock,
      ids,
      log,
      carrier: watchCarrier(carrier),
      agents,
      extractor: chat === null ? createScriptedExtractor() : createModelExtractor(chat),
      concluder: chat === null ? createScriptedConcluder() : createModelConcluder(chat),
      onPublished: onDue,
      settings: { ...config, maxDeploymentCalls: config.maxCalls, maxCarrierCalls: config.maxCalls },
    });
    intake.push(() => started.stop());
    worker = started;
  }
  if (config.roles.includes('worker')) {
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
  return { url, founded, firstPersonToken };
}

/** Reads tasks and draws results; null where no chat model is configured: then rules do. */
function chatOf({ chatUrl, chatApiKey: apiKey, chatModel: model }: Config, log: Logger): Chat | null {
  if (chatUrl === null && apiKey === null) return null;
  if (model !== null) return createChat({ clock, url: chatUrl ?? openAiUrl, apiKey, model });
  log.warn('TRUNKCALL_CHAT_MODEL is not set: tasks are read and results drawn without a model');
  return null;
}

/** PEM; none when there is no such setting. Throws: ConfigError. */
function readAuthorities({ webhookCaFile: file }: Config): string | null {
  if (file === null) return null;
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError('TRUNKCALL_WEBHOOK_CA_FILE names a file that can not be read', { cause });
  }
}

function realtimeProviderOf(config: Config): RealtimeProvider {
  const { realtimeDialect: dialect, realtimeUrl: url, realtimeApiKey: apiKey, realtimeModel: model } = config;
  return { dialect, url, apiKey, model };
}

/** A request that is under way gets as long as a call, but no longer than any request may take. */
const requestDrainMs = ({ drainMs }: Config): number => Math.min(drainMs, defaultHttpSettings.drainTimeoutMs);

/**
 * In `test` the simulated network alone, whatever trunks are configured: nobody's phone can ring. In `production` the
 * trunks alone, where a call must be a call. Null without the role `worker`, or without trunks.
 */
async function carrierOf(
  config: Config,
  db: Database,
  log: Logger,
  onFatal: (error: Error) => void,
): Promise<Carrier | null> {
  const { environment, simulationSeed: seed, simulationSpeed: speed, trunks, sip } = config;
  if (environment === 'test' && trunks.length > 0)
    log.warn({ trunks: trunks.length }, 'trunks are not used in the environment test');
  if (!config.roles.includes('worker')) return null;
  if (environment === 'test') return createSimulatedNetwork({ clock, seed, speed });
  if (trunks.length === 0) return null;
  const spend = config.maxSpendPerAccountPerDay;
  return createSipCarrier({
    trunks,
    sip,
    clock,
    log,
    slots: createTrunkSlots(db, clock),
    onFatal,
    dailyLimits: {
      callsPerNumber: config.maxCallsPerNumberPerDay,
      callsPerAccount: config.maxCallsPerAccountPerDay,
      spendPerAccount: spend === null ? null : BigInt(Math.round(spend * 1_000_000)),
    },
  });
}

/** What the workers of this deployment can call, for a process that is none. */
function reachOf({ environment, trunks }: Config): Reach | null {
  if (environment === 'test') return createSimulatedNetwork({ clock });
  return trunks.length === 0 ? null : sipReach(trunks);
}

async function openDatabase(config: Config, log: Logger, onFatal: (error: Error) => void): Promise<Database> {
  if (config.databaseUrl === null) {
    return openEmbedded({ dataDir: config.dataDir, onLost: onFatal });
  }
  const db = openPostgres({
    url: config.databaseUrl,
    maxConnections: config.databaseConnections,
    onConnectionLost: (error) => log.warn({ err: error }, 'database connection lost'),
  });
  try {
    for (const warning of await checkDurability(db)) log.warn({ ...warning }, 'the database is not safe');
  } catch (error) {
    await db.close();
    throw error;
  }
  return db;
}

const ping = statement<{ readonly one: number }>('ping', 'select 1 as one');

async function databaseProblems(db: Database): Promise<string[]> {
  try {
    await db.query(ping);
    return [];
  } catch {
    return ['the database can not be asked'];
  }
}

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

function onlyOnce(work: () => Promise<void>): () => Promise<void> {
  let begun: Promise<void> | undefined;
  return () => (begun ??= work());
}

/** Of the system (port, directory) and of PostgreSQL (wrong password or role: class 28; no such database: 3D000). */
const expectedCodes =
  /^(EADDRINUSE|EADDRNOTAVAIL|EACCES|EPERM|ENOTFOUND|EROFS|ENOSPC|ENOTDIR|EEXIST|EISDIR|ENOENT|28.{3}|3D000)$/;

/** Endings that need one line, not a stack. */
function isExpected(error: unknown): error is Error {
  const named = [
    ConfigError,
    CredentialsUnreadable,
    DirectoryInUse,
    ServerTooOld,
    SchemaMismatch,
    WrongEnvironment,
    DatabaseUnavailable,
    TransferRefused,
    TrunkProblem,
  ];
  if (named.some((kind) => error instanceof kind)) return true;
  return error instanceof Error && 'code' in error && expectedCodes.test(String(error.code));
}

/** Prints why the program can not go on, and ends it. */
function giveUp(error: unknown): never {
  const text = isExpected(error) ? describe(error) : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`trunkcall: ${text}\n`);
  process.exit(1);
}

/** Opens the database of the settings for a command that needs nothing else of the service. */
async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  try {
    const config = readConfig(process.env);
    const db = await openDatabase(config, createLog('warn'), giveUp);
    try {
      await migrate(db);
      return await work(db);
    } finally {
      await db.close();
    }
  } catch (error) {
    return giveUp(error);
  }
}

/** Writes all data of the settings' database to standard output, as JSON lines. The service must not be running. */
export async function exportToStdout(): Promise<void> {
  const rows = await withDatabase((db) =>
    exportData(db, async (line) => {
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
    }),
  );
  process.stderr.write(`exported ${rows} rows\n`);
}

/** Begins to read with the first line that is asked for: what arrived before would be lost. */
async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  yield* createInterface({ input });
}

/** Takes the lines of `exportToStdout` from standard input into the settings' database, which must be empty. */
export async function importFromStdin(): Promise<void> {
  const rows = await withDatabase((db) => importData(db, linesOf(process.stdin)));
  process.stderr.write(`imported ${rows} rows\n`);
}

/** How long a stop may take beyond the time that live calls are given, milliseconds. */
const stopGraceMs = 15_000;

/** Runs the program until a signal ends it. Exit code 0 after an orderly stop, 1 otherwise. */
export async function serve(): Promise<void> {
  let config: Config;
  let log: Logger;
  let service: Service;
  const fatal = (error: Error) => {
    log.fatal({ err: error }, 'can not go on');
    process.exit(1);
  };
  try {
    config = readConfig(process.env);
    log = createLog(config.logLevel);
    for (const name of unknownVariables(process.env))
      log.warn({ variable: name }, 'not a setting of Trunkcall');
    service = await startService(config, { log, onFatal: fatal });
  } catch (error) {
    return giveUp(error);
  }
  announce(service, config);

  const end = onlyOnce(async () => {
    const tooLate = setTimeout(
      () => fatal(new Error('stopping took too long')),
      config.drainMs + stopGraceMs,
    );
    await service.stop();
    clearTimeout(tooLate);
    process.exit(0);
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      // The second one means now.
      process.once(signal, () => process.exit(1));
      log.info({ signal }, 'stopping');
      void end();
    });
  }
}

function describe(error: Error): string {
  const cause = error.cause instanceof Error && error.cause.message !== '' ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`.replaceAll('\n', ' ');
}

function announce({ url, founded, firstPersonToken }: Service, config: Config): void {
  const lines = [
    url === null ? 'Trunkcall places calls.' : `Trunkcall listens on ${url} (${config.environment}).`,
    ...(url === null ? [] : consoleLines(config.publicUrl ?? url, firstPersonToken)),
    ...(founded === null || url === null ? [] : firstSteps(founded, url, resolve(config.dataDir))),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** The secret stands behind `#`, where no server and no log sees it. */
function consoleLines(url: string, firstPersonToken: string | null): string[] {
  const console = `${url.replace(/\/+$/, '')}/console`;
  if (firstPersonToken === null) return [`Console: ${console}`];
  return [`Console: ${console}/join#${firstPersonToken}  (makes you its first person; good for an hour)`];
}

function firstSteps(founded: Credentials, url: string, dataDir: string): string[] {
  const file = join(dataDir, 'credentials.json');
  const goal = founded.goals?.['confirm-delivery'];
  if (founded.api_key === undefined || goal === undefined) return [`Credentials: ${file}`];
  return [
    `Credentials: ${file}`,
    '',
    'Call a simulated person:',
    '',
    `  curl -s ${url}/v1/goals/${goal}/runs \\`,
    `    -H 'Authorization: Bearer ${founded.api_key}' \\`,
    `    -H 'Idempotency-Key: first-call' -H 'Content-Type: application/json' \\`,
    `    -d '{"phone":"+12025550100","variables":{"customer_name":"Ada","order_reference":"A-1042"}}'`,
    '',
    'and a few seconds later read its result, with the id that came back:',
    '',
    `  curl -s ${url}/v1/goals/${goal}/runs/GOAL_RUN_ID -H 'Authorization: Bearer ${founded.api_key}'`,
    '',
  ];
}

if (import.meta.main) await serve();
