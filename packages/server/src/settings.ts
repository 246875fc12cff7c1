/**
 * The settings: one table from which the program reads them (config.ts), explains them, and writes
 * docs/reference/configuration.md.
 */
import { isIP } from 'node:net';
import type { CascadeSettings } from './agents/cascade/parts.ts';
import { operatorTokenForm } from './authoring/operator-tokens.ts';
import type { TrunkSettings } from './carriers/sip/trunks.ts';
import { allowedReceivers } from './publication/destination.ts';

export type Role = 'api' | 'worker';

/** Beside the settings of the table: `trunks` and `sip`, which only the file can hold. */
export interface Config extends TrunkSettings, CascadeSettings {
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
  readonly maxCallsPerNumberPerDay: number;
  readonly maxCallsPerAccountPerDay: number;
  readonly maxSpendPerAccountPerDay: number | null;
  readonly rateLimitPerSecond: number;
  readonly rateLimitBurst: number;
  readonly maxQueuedTasks: number;
  readonly recordingsDir: string | null;
  readonly recordingRetentionDays: number;
  readonly callTaskCutoff: 'on' | 'off';
  readonly webhookHeaderPrefix: string;
  readonly webhookAllow: readonly string[];
  readonly webhookCaFile: string | null;
  readonly webhooksPerReceiver: number;
  readonly webhookRetentionDays: number;
  readonly simulationSpeed: number;
  readonly simulationSeed: string;
  readonly realtimeUrl: string | null;
  readonly realtimeApiKey: string | null;
  readonly realtimeDialect: 'openai' | 'azure' | 'xai' | 'generic';
  readonly realtimeModel: string | null;
  readonly ratesFile: string | null;
  readonly resultModel: string | null;
}

export interface Setting<Value> {
  readonly variable: string;
  readonly takes: string;
  readonly default: string | null;
  readonly about: string;
  readonly secret?: true;
  /** Undefined when the text is not acceptable. */
  readonly read: (text: string) => Value | undefined;
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

function socketUrlOf(text: string): string | undefined {
  const url = urlOf('wss:', 'ws:')(text);
  // A key in a URL would be logged by every proxy.
  return url === undefined || /[?#@]/.test(url) ? undefined : url;
}

/** Keys travel in headers: a URL is written to logs by every proxy. */
const endpointOf = (protocols: RegExp) => (text: string) =>
  URL.canParse(text) && protocols.test(text) && !/[?#@]/.test(text) ? text : undefined;

const keyOf = (text: string) => (/^[!-~]{1,1000}$/.test(text) ? text : undefined);

function speedOf(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== '' && value >= 1 && value <= 100_000 ? value : undefined;
}

export type Settings = {
  readonly [Name in Exclude<keyof Config, keyof TrunkSettings>]: Setting<Config[Name]>;
};

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
  maxCallsPerNumberPerDay: {
    variable: 'TRUNKCALL_MAX_CALLS_PER_NUMBER_PER_DAY',
    takes: 'a whole number from 1 to 10000',
    default: '10',
    about: 'Calls to one number in a day (UTC), whoever asks for them. In `production` only.',
    read: integer(1, 10_000),
  },
  maxCallsPerAccountPerDay: {
    variable: 'TRUNKCALL_MAX_CALLS_PER_ACCOUNT_PER_DAY',
    takes: 'a whole number from 1 to 10000000',
    default: '10000',
    about: 'Calls of one account in a day (UTC). In `production` only.',
    read: integer(1, 10_000_000),
  },
  maxSpendPerAccountPerDay: {
    variable: 'TRUNKCALL_MAX_SPEND_PER_ACCOUNT_PER_DAY',
    takes: 'an amount of up to six decimals, such as 250 or 12.50',
    default: null,
    about:
      'What the calls of one account may cost in a day (UTC), by the `rates` of the trunks and in their currency; ' +
      'calls under way are not cut off. In `production` only.',
    read: (text) => (/^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined),
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
  recordingsDir: {
    variable: 'TRUNKCALL_RECORDINGS_DIR',
    takes: 'a directory',
    default: null,
    about:
      'Where calls of Goals with `record` are kept on the machine that leads them, as stereo WAV files; `recordings` in the data directory when not set.',
    read: text,
  },
  recordingRetentionDays: {
    variable: 'TRUNKCALL_RECORDING_RETENTION_DAYS',
    takes: 'a whole number from 1 to 3650',
    default: '30',
    about: 'Days after which recordings are removed.',
    read: integer(1, 3_650),
  },
  maxQueuedTasks: {
    variable: 'TRUNKCALL_MAX_QUEUED_TASKS',
    takes: 'a whole number from 0 to 100000',
    default: '1000',
    about: 'Call tasks of one account that may wait for others of it; one more is answered with `429`.',
    read: integer(0, 100_000),
  },
  callTaskCutoff: {
    variable: 'TRUNKCALL_CALL_TASK_CUTOFF',
    takes: '`on` or `off`',
    default: 'off',
    about:
      'With `on` the deprecated `/v1/calls` endpoints answer `410` from 2026-12-31T16:00:00Z; until then nothing changes.',
    read: oneOf('on', 'off'),
  },
  webhookHeaderPrefix: {
    variable: 'TRUNKCALL_WEBHOOK_HEADER_PREFIX',
    takes: '1 to 40 letters, digits and hyphens',
    default: 'Trunkcall',
    about:
      'Begins the name of the header `Trunkcall-Event-Id`, for receivers that were written for another service.',
    read: (text) => (/^[A-Za-z][A-Za-z0-9-]{0,39}$/.test(text) ? text : undefined),
  },
  webhookAllow: {
    variable: 'TRUNKCALL_WEBHOOK_ALLOW',
    takes: 'a comma-separated list of `host:port`',
    default: '',
    about:
      'Webhook receivers that need not have a public address, for development. Plain http is possible for those on ' +
      'loopback addresses.',
    read: allowedReceivers,
  },
  webhookCaFile: {
    variable: 'TRUNKCALL_WEBHOOK_CA_FILE',
    takes: 'a file of PEM certificates',
    default: null,
    about: 'Authorities whose certificates webhook receivers may have, beside the usual ones.',
    read: text,
  },
  webhooksPerReceiver: {
    variable: 'TRUNKCALL_WEBHOOKS_PER_RECEIVER',
    takes: 'a whole number from 1 to 256',
    default: '16',
    about: 'Webhooks that this process sends to one receiver at once.',
    read: integer(1, 256),
  },
  webhookRetentionDays: {
    variable: 'TRUNKCALL_WEBHOOK_RETENTION_DAYS',
    takes: 'a whole number from 5 to 3650',
    default: '30',
    about: 'How long webhooks are kept, with what was sent and answered, days.',
    read: integer(5, 3_650),
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
  ratesFile: {
    variable: 'TRUNKCALL_RATES_FILE',
    takes: 'a file of rates, YAML or JSON',
    default: null,
    about:
      'What the carrier asks for calls abroad, for the preview of what calls would cost; without a rate that part is ' +
      'shown as unknown. See docs/usage.md for its form.',
    read: text,
  },
  realtimeUrl: {
    variable: 'TRUNKCALL_REALTIME_URL',
    takes: 'a wss or ws URL without query',
    default: null,
    about:
      'Where agents of kind `realtime` connect, such as `wss://api.openai.com/v1/realtime`. The dialects `openai` ' +
      'and `xai` know their own.',
    read: socketUrlOf,
  },
  realtimeApiKey: {
    variable: 'TRUNKCALL_REALTIME_API_KEY',
    takes: '1 to 1000 printable ASCII characters without spaces',
    default: null,
    about: 'The key of that provider. Only the dialect `generic` does without.',
    secret: true,
    read: keyOf,
  },
  realtimeDialect: {
    variable: 'TRUNKCALL_REALTIME_DIALECT',
    takes: '`openai`, `azure`, `xai` or `generic`',
    default: 'openai',
    about: 'What the provider makes of the OpenAI Realtime protocol; `generic` for LocalAI and others.',
    read: oneOf('openai', 'azure', 'xai', 'generic'),
  },
  realtimeModel: {
    variable: 'TRUNKCALL_REALTIME_MODEL',
    takes: 'the name of a model (Azure: of a deployment)',
    default: null,
    about:
      'The model where a Goal names none; `gpt-realtime-2.1` for OpenAI. Azure needs it: it has no model by default.',
    read: text,
  },
  chatUrl: {
    variable: 'TRUNKCALL_CHAT_URL',
    takes: 'an http or https URL without query',
    default: null,
    about:
      'Base URL of an OpenAI-compatible server, such as `http://127.0.0.1:8000/v1`, or OpenAI’s by default. Its chat model draws results and reads tasks, which rules do otherwise, and speaks in `cascade` agents.',
    read: endpointOf(/^https?:/),
  },
  chatApiKey: {
    variable: 'TRUNKCALL_CHAT_API_KEY',
    takes: '1 to 1000 printable ASCII characters without spaces',
    default: null,
    about: 'Key of the chat model’s server; not needed for a server of your own that asks for none.',
    secret: true,
    read: keyOf,
  },
  chatModel: {
    variable: 'TRUNKCALL_CHAT_MODEL',
    takes: 'the name of a model',
    default: null,
    about:
      'The chat model where a Goal names none. One that answers without thinking first suits the telephone.',
    read: text,
  },
  resultModel: {
    variable: 'TRUNKCALL_RESULT_MODEL',
    takes: 'the name of a model',
    default: null,
    about:
      'The model of the same server that draws results and concludes calls; `TRUNKCALL_CHAT_MODEL` by default. Nobody waits on the line for it: it may think.',
    read: text,
  },
  transcribeKind: {
    variable: 'TRUNKCALL_TRANSCRIBE_KIND',
    takes: '`openai` or `deepgram`',
    default: 'openai',
    about:
      'What the transcriber of the `cascade` agent speaks: `/audio/transcriptions`, or Deepgram’s streaming protocol.',
    read: oneOf('openai', 'deepgram'),
  },
  transcribeUrl: {
    variable: 'TRUNKCALL_TRANSCRIBE_URL',
    takes: 'an http, https, ws or wss URL without query',
    default: null,
    about:
      'Base URL of the transcriber (`deepgram`: the whole ws or wss URL). That of OpenAI or Deepgram by default.',
    read: endpointOf(/^(https?|wss?):/),
  },
  transcribeApiKey: {
    variable: 'TRUNKCALL_TRANSCRIBE_API_KEY',
    takes: '1 to 1000 printable ASCII characters without spaces',
    default: null,
    about: 'Key of the transcriber.',
    secret: true,
    read: keyOf,
  },
  transcribeModel: {
    variable: 'TRUNKCALL_TRANSCRIBE_MODEL',
    takes: 'the name of a model',
    default: null,
    about:
      'The transcriber’s model where a Goal names none; `gpt-4o-mini-transcribe` or `nova-3` by default.',
    read: text,
  },
  speechKind: {
    variable: 'TRUNKCALL_SPEECH_KIND',
    takes: '`openai` or `cartesia`',
    default: 'openai',
    about: 'What the voice of the `cascade` agent speaks: `/audio/speech`, or Cartesia’s WebSocket protocol.',
    read: oneOf('openai', 'cartesia'),
  },
  speechUrl: {
    variable: 'TRUNKCALL_SPEECH_URL',
    takes: 'an http, https, ws or wss URL without query',
    default: null,
    about:
      'Base URL of the voice (`cartesia`: the whole ws or wss URL). That of OpenAI or Cartesia by default.',
    read: endpointOf(/^(https?|wss?):/),
  },
  speechApiKey: {
    variable: 'TRUNKCALL_SPEECH_API_KEY',
    takes: '1 to 1000 printable ASCII characters without spaces',
    default: null,
    about: 'Key of the voice.',
    secret: true,
    read: keyOf,
  },
  speechModel: {
    variable: 'TRUNKCALL_SPEECH_MODEL',
    takes: 'the name of a model',
    default: null,
    about: 'The voice’s model; `gpt-4o-mini-tts` or `sonic-3.5` by default.',
    read: text,
  },
  speechVoice: {
    variable: 'TRUNKCALL_SPEECH_VOICE',
    takes: 'the name of a voice, as its provider calls it',
    default: null,
    about: 'The voice where a Goal names none; `alloy` for `openai`.',
    read: text,
  },
};
