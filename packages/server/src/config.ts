/**
 * Reads the settings. Each is a `TRUNKCALL_…` variable, or the same name in lower case without the prefix in the YAML
 * file that `TRUNKCALL_SETTINGS_FILE` names; the variable wins.
 */
import { readFileSync } from 'node:fs';
import type { SettingInForce, Trunk } from '@trunkcall/contract';
import { parse } from 'yaml';
import { readTrunks, TrunkProblem, type TrunkSettings } from './carriers/sip/trunks.ts';
import { settings, type Config, type Setting, type Settings } from './settings.ts';

/** A setting that can not be used; the message names the variable, what it got and what it takes. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const fileVariable = 'TRUNKCALL_SETTINGS_FILE';

/**
 * Reads the settings. Throws: ConfigError, which names the first setting that can not be used; the value of a
 * secret is never repeated.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const { plain: fromFile, structured } = readSettingsFile(env[fileVariable]);
  const read = <Value>(setting: Setting<Value>): Value => {
    const given = env[setting.variable] ?? fromFile.get(setting.variable) ?? setting.default;
    // Only settings whose type allows null have no default.
    if (given === null) return null as Value;
    const value = setting.read(given);
    if (value === undefined) {
      const got = setting.secret === true ? '(hidden)' : JSON.stringify(given.slice(0, 100));
      throw new ConfigError(`${setting.variable} is ${got}; it takes ${setting.takes}`);
    }
    return value;
  };
  return {
    environment: read(settings.environment),
    roles: read(settings.roles),
    host: read(settings.host),
    port: read(settings.port),
    publicUrl: read(settings.publicUrl),
    trustedProxies: read(settings.trustedProxies),
    dataDir: read(settings.dataDir),
    databaseUrl: read(settings.databaseUrl),
    databaseConnections: read(settings.databaseConnections),
    operatorToken: read(settings.operatorToken),
    logLevel: read(settings.logLevel),
    leaseMs: read(settings.leaseMs),
    pollMs: read(settings.pollMs),
    drainMs: read(settings.drainMs),
    maxCallsPerProcess: read(settings.maxCallsPerProcess),
    maxCalls: read(settings.maxCalls),
    maxCallsPerNumberPerDay: read(settings.maxCallsPerNumberPerDay),
    maxCallsPerAccountPerDay: read(settings.maxCallsPerAccountPerDay),
    maxSpendPerAccountPerDay: read(settings.maxSpendPerAccountPerDay),
    rateLimitPerSecond: read(settings.rateLimitPerSecond),
    rateLimitBurst: read(settings.rateLimitBurst),
    recordingsDir: read(settings.recordingsDir),
    recordingRetentionDays: read(settings.recordingRetentionDays),
    maxQueuedTasks: read(settings.maxQueuedTasks),
    callTaskCutoff: read(settings.callTaskCutoff),
    webhookHeaderPrefix: read(settings.webhookHeaderPrefix),
    webhookAllow: read(settings.webhookAllow),
    webhookCaFile: read(settings.webhookCaFile),
    webhooksPerReceiver: read(settings.webhooksPerReceiver),
    webhookRetentionDays: read(settings.webhookRetentionDays),
    simulationSpeed: read(settings.simulationSpeed),
    simulationSeed: read(settings.simulationSeed),
    realtimeUrl: read(settings.realtimeUrl),
    realtimeApiKey: read(settings.realtimeApiKey),
    realtimeDialect: read(settings.realtimeDialect),
    realtimeModel: read(settings.realtimeModel),
    ratesFile: read(settings.ratesFile),
    chatUrl: read(settings.chatUrl),
    chatApiKey: read(settings.chatApiKey),
    chatModel: read(settings.chatModel),
    resultModel: read(settings.resultModel),
    transcribeKind: read(settings.transcribeKind),
    transcribeUrl: read(settings.transcribeUrl),
    transcribeApiKey: read(settings.transcribeApiKey),
    transcribeModel: read(settings.transcribeModel),
    speechKind: read(settings.speechKind),
    speechUrl: read(settings.speechUrl),
    speechApiKey: read(settings.speechApiKey),
    speechModel: read(settings.speechModel),
    speechVoice: read(settings.speechVoice),
    ...readTelephony(structured, env),
  };
}

/** The settings of the table as they are in force; secrets only say whether they are set. */
export function settingsInForce(config: Config): SettingInForce[] {
  return Object.entries(settings).map(([name, setting]) => {
    const { variable, about, secret = false, default: byDefault } = setting;
    const value = config[name as keyof Settings];
    const shown = value === null ? null : withoutUser(Array.isArray(value) ? value.join(',') : String(value));
    return {
      variable,
      about,
      value: secret ? null : shown,
      is_set: value !== null && shown !== '',
      secret,
      is_default: !secret && shown === byDefault,
    };
  });
}

/** A URL may name a user with a password, which is shown to nobody. */
const withoutUser = (text: string): string => text.replace(/^([a-z]+:\/\/)[^/@]*@/, '$1');

const variables: ReadonlySet<string> = new Set(Object.values(settings).map(({ variable }) => variable));

/** Variables that look like settings but are none: probably misspelt. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const others = [fileVariable, 'TRUNKCALL_URL'];
  return Object.keys(env).filter(
    (name) => name.startsWith('TRUNKCALL_') && !variables.has(name) && !others.includes(name),
  );
}

/** `password: ${NAME}` takes the password from the environment. */
function readTelephony(
  structured: Structured,
  env: Readonly<Record<string, string | undefined>>,
): TrunkSettings {
  try {
    const { trunks, sip } = readTrunks(structured);
    return { sip, trunks: trunks.map((trunk) => withPassword(trunk, env)) };
  } catch (error) {
    if (error instanceof TrunkProblem) throw new ConfigError(`${fileVariable}: ${error.message}`);
    throw error;
  }
}

function withPassword(trunk: Trunk, env: Readonly<Record<string, string | undefined>>): Trunk {
  const { name, credentials } = trunk;
  const variable = /^\$\{(\w{1,100})\}$/.exec(credentials?.password ?? '')?.[1];
  if (credentials === undefined || variable === undefined) return trunk;
  const password = env[variable];
  if (password === undefined || password === '')
    throw new TrunkProblem(`trunk ${name}: credentials.password wants ${variable}, which is not set`);
  return { ...trunk, credentials: { ...credentials, password } };
}

/** The keys of the settings file that no variable can hold. */
interface Structured {
  readonly trunks?: unknown;
  readonly sip?: unknown;
}

function readSettingsFile(path: string | undefined): {
  plain: ReadonlyMap<string, string>;
  structured: Structured;
} {
  const plain = new Map<string, string>();
  if (path === undefined) return { plain, structured: {} };
  let content: unknown;
  try {
    content = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new ConfigError(`${fileVariable}: can not read ${path}: ${why}`);
  }
  if (content === null) return { plain, structured: {} };
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new ConfigError(`${fileVariable}: ${path} must hold "name: value" lines`);
  }
  const { trunks, sip, ...others }: Structured = content;
  for (const [name, value] of Object.entries(others)) {
    const variable = `TRUNKCALL_${name.toUpperCase()}`;
    if (name !== name.toLowerCase() || !variables.has(variable)) {
      throw new ConfigError(`${path}: ${name} is not a setting`);
    }
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new ConfigError(`${path}: ${name} must be a plain value`);
    plain.set(variable, String(value));
  }
  return { plain, structured: { trunks, sip } };
}
