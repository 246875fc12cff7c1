/** Builds the adapters that the settings ask for. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { ProviderReport } from '@trunkcall/contract';
import type { Agent } from './agents/agent.ts';
import type { Synthesizer } from './agents/audio/synthesizer.ts';
import { createCascadeAgent } from './agents/cascade/cascade-agent.ts';
import { cascadeParts } from './agents/cascade/parts.ts';
import { createRealtimeAgent } from './agents/realtime/realtime-agent.ts';
import { createScriptedAgent } from './agents/scripted/scripted-agent.ts';
import type { TrunkBook } from './authoring/test-calls.ts';
import type { FindRate } from './billing/prices.ts';
import { noRates, RateProblem, readRates } from './billing/rates.ts';
import type { Carrier, Reach } from './carriers/carrier.ts';
import {
  createSimulatedNetwork,
  simulatedTrunk,
  type SimulatedNetwork,
} from './carriers/simulated/network.ts';
import { createSipCarrier, sipReach } from './carriers/sip/sip-carrier.ts';
import { allows, whyForbidden } from './carriers/sip/toll-fraud.ts';
import { ConfigError } from './config.ts';
import { createChat, type Chat } from './platform/chat/chat.ts';
import { openAiUrl } from './platform/chat/provider.ts';
import { systemClock as clock } from './platform/clock.ts';
import type { ProviderKeys } from './platform/key-watch.ts';
import type { Logger } from './platform/log.ts';
import type { ProviderHealth } from './platform/provider-health.ts';
import { createDestinations, createResolve, type Destinations } from './publication/destination.ts';
import type { Extractor } from './result/extractor.ts';
import { createModelExtractor } from './result/model/model-extractor.ts';
import { createScriptedExtractor } from './result/scripted-extractor.ts';
import type { Config } from './settings.ts';
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

/** The trunks of this deployment, for who looks at them and tries them; in `test` the simulated one. */
export function trunkBookOf({ environment, trunks }: Config): TrunkBook {
  if (environment === 'test') return { trunks: [simulatedTrunk], forbids: () => null };
  return {
    trunks: trunks.map(({ countries = [], allow_prefixes = [], ...trunk }) => ({
      name: trunk.name,
      proxy: trunk.proxy,
      max_calls: trunk.max_calls,
      calls_per_second: trunk.calls_per_second,
      caller_numbers: trunk.caller_numbers,
      countries,
      allow_prefixes,
    })),
    forbids(name, phone) {
      const forbidden = whyForbidden(trunks, phone, () => false);
      const own = trunks.find((trunk) => trunk.name === name);
      if (forbidden !== null || (own !== undefined && allows(own, phone))) return forbidden;
      return 'phone is no number that this trunk may call';
    },
  };
}

/** Which providers the settings name, whether or not they answer. */
export function providersOf(config: Config): ProviderReport['provider'][] {
  const { chatUrl, chatApiKey, realtimeUrl, realtimeApiKey, transcribeUrl, transcribeApiKey } = config;
  const chat = chatUrl !== null || chatApiKey !== null;
  const realtime = realtimeUrl !== null || realtimeApiKey !== null;
  const cascade = chat && (transcribeUrl !== null || transcribeApiKey !== null);
  return [
    ...(chat ? (['chat'] as const) : []),
    ...(realtime ? (['realtime'] as const) : []),
    ...(cascade ? (['cascade'] as const) : []),
  ];
}

/** What operators know this process by. */
export function ownIdentity(): { readonly host: string; readonly version: string } {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(text) as { readonly version: string };
  return { host: hostname(), version };
}

/** The directory of recordings of this process. */
export const recordingsOf = ({ recordingsDir, dataDir }: Config): string =>
  resolve(recordingsDir ?? join(dataDir, 'recordings'));

/** Whoever can speak here; one that lacks something says so when it is asked. */
export function agentsOf(config: Config, synthesizer: Synthesizer | null, keys: ProviderKeys): Agent[] {
  const { realtimeDialect: dialect, realtimeUrl: url, realtimeApiKey: apiKey, realtimeModel: model } = config;
  return [
    createScriptedAgent({ clock, synthesizer }),
    createRealtimeAgent({ clock, provider: { dialect, url, apiKey, model }, key: keys.realtime }),
    createCascadeAgent(cascadeParts(config, clock, keys)),
  ];
}

/** An agent whose conversations tell how its providers do. Who left at once, or was cut off, says nothing of them. */
export function watchedAgent(agent: Agent, health: ProviderHealth): Agent {
  const provider = agent.kind;
  if (provider === 'scripted') return agent;
  return {
    ...agent,
    async converse(brief, leg, transcript, signal) {
      const end = await agent.converse(brief, leg, transcript, signal);
      if (end.kind === 'failed' && !signal.aborted) health.failed(provider, end.note);
      else if (end.kind === 'finished' || end.kind === 'opted_out') health.answered(provider);
      return end;
    },
  };
}

/** A chat model whose answers tell how its provider does. */
export function watchedChat(chat: Chat | null, health: ProviderHealth): Chat | null {
  if (chat === null) return null;
  return {
    ...chat,
    async ask(question, signal) {
      const reply = await chat.ask(question, signal);
      if (reply.kind !== 'failed') health.answered('chat');
      else if (!signal.aborted) health.failed('chat', reply.note);
      return reply;
    },
  };
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
