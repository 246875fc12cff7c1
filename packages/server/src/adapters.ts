/** Builds the adapters that the settings ask for. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Agent } from './agents/agent.ts';
import { findEspeak } from './agents/audio/espeak.ts';
import { createCascadeAgent } from './agents/cascade/cascade-agent.ts';
import { cascadeParts } from './agents/cascade/parts.ts';
import { createRealtimeAgent } from './agents/realtime/realtime-agent.ts';
import { createScriptedAgent } from './agents/scripted/scripted-agent.ts';
import type { FindRate } from './billing/prices.ts';
import { noRates, RateProblem, readRates } from './billing/rates.ts';
import type { Carrier, Reach } from './carriers/carrier.ts';
import { createSimulatedNetwork, type SimulatedNetwork } from './carriers/simulated/network.ts';
import { createSipCarrier, sipReach } from './carriers/sip/sip-carrier.ts';
import { ConfigError, type Config } from './config.ts';
import { createChat, type Chat } from './platform/chat/chat.ts';
import { openAiUrl } from './platform/chat/provider.ts';
import { systemClock as clock } from './platform/clock.ts';
import type { ProviderKeys } from './platform/key-watch.ts';
import type { Logger } from './platform/log.ts';
import { createDestinations, createResolve, type Destinations } from './publication/destination.ts';
import type { Extractor } from './result/extractor.ts';
import { createModelExtractor } from './result/model/model-extractor.ts';
import { createScriptedExtractor } from './result/scripted-extractor.ts';
import { statement, type Database } from './storage/database.ts';
import { openEmbedded } from './storage/embedded.ts';
import { checkDurability, openPostgres } from './storage/postgres.ts';
import { createTrunkSlots } from './storage/trunk-slots.ts';

export async function openDatabase(
  config: Config,
  log: Logger,
  onFatal: (error: Error) => void,
): Promise<Database> {
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

export async function databaseProblems(db: Database): Promise<string[]> {
  try {
    await db.query(ping);
    return [];
  } catch {
    return ['the database can not be asked'];
  }
}

/**
 * In `test` the simulated network alone, whatever trunks are configured: nobody's phone can ring. In `production` the
 * trunks alone, where a call must be a call. Null without the role `worker`, or without trunks.
 */
export async function carrierOf(
  config: Config,
  db: Database,
  log: Logger,
  onFatal: (error: Error) => void,
): Promise<Carrier | SimulatedNetwork | null> {
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
    recordings: { directory: recordingsOf(config), retentionDays: config.recordingRetentionDays },
    dailyLimits: {
      callsPerNumber: config.maxCallsPerNumberPerDay,
      callsPerAccount: config.maxCallsPerAccountPerDay,
      spendPerAccount: spend === null ? null : BigInt(Math.round(spend * 1_000_000)),
    },
  });
}

/** What the workers of this deployment can call, for a process that is none. */
export function reachOf({ environment, trunks }: Config): Reach | null {
  if (environment === 'test') return createSimulatedNetwork({ clock });
  return trunks.length === 0 ? null : sipReach(trunks);
}

/** The directory of recordings of this process. */
export const recordingsOf = ({ recordingsDir, dataDir }: Config): string =>
  resolve(recordingsDir ?? join(dataDir, 'recordings'));

/** Whoever can speak here; one that lacks something says so when it is asked. */
export async function agentsOf(config: Config, keys: ProviderKeys): Promise<Agent[]> {
  const synthesizer = await findEspeak({ clock });
  const { realtimeDialect: dialect, realtimeUrl: url, realtimeApiKey: apiKey, realtimeModel: model } = config;
  return [
    createScriptedAgent({ clock, synthesizer }),
    createRealtimeAgent({ clock, provider: { dialect, url, apiKey, model }, key: keys.realtime }),
    createCascadeAgent(cascadeParts(config, clock, keys)),
  ];
}

/** Chat models; null where rules do what they would. */
export interface Chats {
  /** Reads tasks. */
  readonly tasks: Chat | null;
  /** Draws results and concludes calls. */
  readonly results: Chat | null;
}

export function chatsOf(config: Config, log: Logger, keys: ProviderKeys): Chats {
  const { chatUrl, chatApiKey: apiKey, chatModel, resultModel } = config;
  if (chatUrl === null && apiKey === null) return { tasks: null, results: null };
  const chatWith = (model: string) =>
    createChat({ clock, url: chatUrl ?? openAiUrl, apiKey, model, key: keys.chat });
  const tasks = chatModel === null ? null : chatWith(chatModel);
  const results = resultModel === null || resultModel === chatModel ? tasks : chatWith(resultModel);
  if (tasks === null) {
    const what = results === null ? 'tasks are read and results drawn' : 'tasks are read';
    log.warn(`TRUNKCALL_CHAT_MODEL is not set: ${what} without a model`);
  }
  return { tasks, results };
}

/** Draws results: by the model, or without one from what the agent noted. */
export function extractorOf(chat: Chat | null): Extractor {
  return chat === null ? createScriptedExtractor() : createModelExtractor(chat);
}

/** PEM; none when there is no such setting. Throws: ConfigError. */
export function readAuthorities({ webhookCaFile: file }: Config): string | null {
  if (file === null) return null;
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError('TRUNKCALL_WEBHOOK_CA_FILE names a file that can not be read', { cause });
  }
}

/** What calls abroad cost; of none that is known when there is no such setting. Throws: ConfigError. */
export function ratesOf({ ratesFile: file }: Config): FindRate {
  if (file === null) return noRates;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError('TRUNKCALL_RATES_FILE names a file that can not be read', { cause });
  }
  try {
    return readRates(text);
  } catch (error) {
    if (error instanceof RateProblem) throw new ConfigError(`TRUNKCALL_RATES_FILE: ${error.message}`);
    throw error;
  }
}

/** Where webhooks may go. */
export function destinationsOf({ webhookAllow }: Config): Destinations {
  return createDestinations({ allow: new Set(webhookAllow), resolve: createResolve(), clock });
}
