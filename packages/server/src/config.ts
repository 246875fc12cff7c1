/**
 * The settings: one table from which the program reads them, explains them, and writes docs/configuration.md.
 *
 * Each is a `TRUNKCALL_…` variable, or the same name in lower case without the prefix in the YAML file that
 * `TRUNKCALL_SETTINGS_FILE` names; the variable wins.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parse } from 'yaml';
import { operatorTokenForm } from './authoring/operator-tokens.ts';

export type Role = 'api' | 'worker';

export interface Config {
  readonly environment: 'test' | 'production';
  readonly roles: readonly Role[];
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | null;
  readonly trustedProxies: readonly string[];
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly databaseConnections: number;
  readonly operatorToken: string | null;
  readonly logLevel: string;
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly drainMs: number;
  readonly maxCallsPerProcess: number;
  readonly maxCalls: number;
  readonly rateLimitPerSecond: number;
  readonly rateLimitBurst: number;
  readonly simulationSpeed: number;
  readonly simulationSeed: string;
}

interface Setting<Value> {
  readonly variable: string;
  readonly takes: string;
  readonly default: string | null;
  readonly about: string;
  readonly secret?: true;
  /** Undefined when the text is not acceptable. */
  readonly read: (text: string) => Value | undefined;
}

/** A setting that can not be used; the message names the variable, what it got and what it takes. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const text = (text: string) => (text === '' ? undefined : text);
const integer = (least: number, most: number) => (text: string) => {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
};
const oneOf =
  <const Values extends readonly string[]>(...values: Values) =>
  (text: string): Values[number] | undefined =>
    values.find((value) => value === text);
const urlOf =
  (...protocols: string[]) =>
  (text: string) =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text : undefined;

function rolesOf(text: string): readonly Role[] | undefined {
  const roles = text.split(',').map((role) => oneOf('api', 'worker')(role.trim()));
  return roles.every((role) => role !== undefined) ? [...new Set(roles)] : undefined;
}

function addressesOf(text: string): readonly string[] | undefined {
  const blocks = text.split(',').map((block) => block.trim());
  if (text.trim() === '') return [];
  return blocks.every(isBlock) ? blocks : undefined;
}

function isBlock(block: string): boolean {
  const [address = '', bits, ...rest] = block.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

function speedOf(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== '' && value >= 1 && value <= 100_000 ? value : undefined;
}

type Settings = { readonly [Name in keyof Config]: Setting<Config[Name]> };

export const settings: Settings = {
  environment: {
    variable: 'TRUNKCALL_ENVIRONMENT',
    takes: '`test` or `production`',
    default: 'test',
    about:
      'In `test` only simulated people are called; nobody’s phone can ring. Fixed for the life of a database.',
    read: oneOf('test', 'production'),
  },
  roles: {
    variable: 'TRUNKCALL_ROLES',
    takes: 'a comma-separated list of `api` and `worker`',
    default: 'api,worker',
    about: 'What this process does: answer HTTP, place calls, or both.',
    read: rolesOf,
  },
  host: {
    variable: 'TRUNKCALL_HOST',
    takes: 'an address of this machine or a host name',
    default: '127.0.0.1',
    about: 'Where HTTP listens.',
    read: text,
  },
  port: {
    variable: 'TRUNKCALL_PORT',
    takes: 'a whole number from 0 to 65535 (0: any free port)',
    default: '8080',
    about: 'Where HTTP listens.',
    read: integer(0, 65_535),
  },
  publicUrl: {
    variable: 'TRUNKCALL_PUBLIC_URL',
    takes: 'an http or https URL',
    default: null,
    about: 'How clients reach the service, when that is not `http://HOST:PORT`.',
    read: urlOf('http:', 'https:'),
  },
  trustedProxies: {
    variable: 'TRUNKCALL_TRUSTED_PROXIES',
    takes: 'a comma-separated list of addresses or CIDR blocks',
    default: '',
    about: 'Proxies whose `X-Forwarded-For` tells the client’s address, for the limit on wrong keys.',
    read: addressesOf,
  },
  dataDir: {
    variable: 'TRUNKCALL_DATA_DIR',
    takes: 'a directory',
    default: './data',
    about: 'Holds the embedded database and `credentials.json`.',
    read: text,
  },
  databaseUrl: {
    variable: 'TRUNKCALL_DATABASE_URL',
    takes: 'a postgres:// or postgresql:// URL',
    default: null,
    about: 'PostgreSQL 15 or newer. Without it the embedded database in the data directory serves.',
    secret: true,
    read: urlOf('postgres:', 'postgresql:'),
  },
  databaseConnections: {
    variable: 'TRUNKCALL_DATABASE_CONNECTIONS',
    takes: 'a whole number from 2 to 200',
    default: '10',
    about: 'Most PostgreSQL connections of this process.',
    read: integer(2, 200),
  },
  operatorToken: {
    variable: 'TRUNKCALL_OPERATOR_TOKEN',
    takes: '32 to 200 printable ASCII characters without spaces',
    default: null,
    about: 'One more token that the operator API accepts, beside those in the database.',
    secret: true,
    read: (text) => (operatorTokenForm.test(text) ? text : undefined),
  },
  logLevel: {
    variable: 'TRUNKCALL_LOG_LEVEL',
    takes: '`fatal`, `error`, `warn`, `info`, `debug` or `silent`',
    default: 'info',
    about: 'What is logged to standard error, one JSON line per request and call.',
    read: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'silent'),
  },
  leaseMs: {
    variable: 'TRUNKCALL_LEASE_MS',
    takes: 'a whole number from 1000 to 60000',
    default: '15000',
    about: 'How long a worker may be silent before its calls are taken to be lost, milliseconds.',
    read: integer(1_000, 60_000),
  },
  pollMs: {
    variable: 'TRUNKCALL_POLL_MS',
    takes: 'a whole number from 10 to 60000',
    default: '250',
    about: 'How long an idle worker waits before it looks at the queue again, milliseconds.',
    read: integer(10, 60_000),
  },
  drainMs: {
    variable: 'TRUNKCALL_DRAIN_MS',
    takes: 'a whole number from 0 to 3600000',
    default: '30000',
    about: 'How long a stopping process lets live calls go on before it hangs up, milliseconds.',
    read: integer(0, 3_600_000),
  },
  maxCallsPerProcess: {
    variable: 'TRUNKCALL_MAX_CALLS_PER_PROCESS',
    takes: 'a whole number from 1 to 10000',
    default: '200',
    about: 'Calls that this process leads at once.',
    read: integer(1, 10_000),
  },
  maxCalls: {
    variable: 'TRUNKCALL_MAX_CALLS',
    takes: 'a whole number from 1 to 100000',
    default: '1000',
    about: 'Calls at once over all processes; also the limit of the carrier.',
    read: integer(1, 100_000),
  },
  rateLimitPerSecond: {
    variable: 'TRUNKCALL_RATE_LIMIT_PER_SECOND',
    takes: 'a whole number from 1 to 1000000',
    default: '500',
    about: 'Requests per second of one API key to one process, in the long run.',
    read: integer(1, 1_000_000),
  },
  rateLimitBurst: {
    variable: 'TRUNKCALL_RATE_LIMIT_BURST',
    takes: 'a whole number from 1 to 1000000',
    default: '1000',
    about: 'Requests of one API key that may come at once.',
    read: integer(1, 1_000_000),
  },
  simulationSpeed: {
    variable: 'TRUNKCALL_SIMULATION_SPEED',
    takes: 'a number from 1 to 100000',
    default: '30',
    about: 'How many times faster than life simulated calls run; 1 lets a person watch.',
    read: speedOf,
  },
  simulationSeed: {
    variable: 'TRUNKCALL_SIMULATION_SEED',
    takes: 'any text',
    default: 'trunkcall',
    about: 'Simulated people behave the same for the same seed.',
    read: text,
  },
};

const fileVariable = 'TRUNKCALL_SETTINGS_FILE';

/**
 * Reads the settings. Throws: ConfigError, which names the first setting that can not be used; the value of a
 * secret is never repeated.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const fromFile = readSettingsFile(env[fileVariable]);
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
    rateLimitPerSecond: read(settings.rateLimitPerSecond),
    rateLimitBurst: read(settings.rateLimitBurst),
    simulationSpeed: read(settings.simulationSpeed),
    simulationSeed: read(settings.simulationSeed),
  };
}

const variables: ReadonlySet<string> = new Set(Object.values(settings).map(({ variable }) => variable));

/** Variables that look like settings but are none: probably misspelt. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const others = [fileVariable, 'TRUNKCALL_URL'];
  return Object.keys(env).filter(
    (name) => name.startsWith('TRUNKCALL_') && !variables.has(name) && !others.includes(name),
  );
}

function readSettingsFile(path: string | undefined): Map<string, string> {
  const found = new Map<string, string>();
  if (path === undefined) return found;
  let content: unknown;
  try {
    content = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new ConfigError(`${fileVariable}: can not read ${path}: ${why}`);
  }
  if (content === null) return found;
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new ConfigError(`${fileVariable}: ${path} must hold "name: value" lines`);
  }
  for (const [name, value] of Object.entries(content)) {
    const variable = `TRUNKCALL_${name.toUpperCase()}`;
    if (name !== name.toLowerCase() || !variables.has(variable)) {
      throw new ConfigError(`${path}: ${name} is not a setting`);
    }
    if (!['string', 'number'].includes(typeof value))
      throw new ConfigError(`${path}: ${name} must be a plain value`);
    found.set(variable, String(value));
  }
  return found;
}
