/** What providers make of the OpenAI Realtime protocol: where they listen, how they know us, what they leave out. */
export type DialectName = 'openai' | 'azure' | 'xai' | 'generic';

export interface Dialect {
  /** Null where every deployment has its own. */
  readonly url: string | null;
  readonly model: string | null;
  readonly needsKey: boolean;
  /** It has no model of its own to fall back to. */
  readonly needsModel: boolean;
  readonly keyHeader: (key: string) => readonly [name: string, value: string];
  /** Where the session settings hold the voice and the turn detection: below `audio`, or beside it. */
  readonly flatSession: boolean;
  /** How sound is coded: as on the line, or as linear samples, little-endian, at the rate of the line. */
  readonly sound: 'g711' | 'linear';
  /** Its events of one turn of the callee name the same item. */
  readonly namesItems: boolean;
  /** It answers every turn of the callee by itself; else it answers when we say so. */
  readonly answersByItself: boolean;
  readonly hasSemanticVad: boolean;
  readonly hasNoiseReduction: boolean;
  /** The model that writes down what the callee says; null leaves that to the provider. */
  readonly transcriptionModel: string | null;
}

const bearer = (key: string) => ['authorization', `Bearer ${key}`] as const;

const openai: Dialect = {
  url: 'wss://api.openai.com/v1/realtime',
  model: 'gpt-realtime-2.1',
  needsKey: true,
  needsModel: false,
  keyHeader: bearer,
  flatSession: false,
  sound: 'g711',
  namesItems: true,
  answersByItself: false,
  hasSemanticVad: true,
  hasNoiseReduction: true,
  transcriptionModel: 'gpt-4o-mini-transcribe',
};

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  openai,
  // The versioned path, `wss://RESOURCE.openai.azure.com/openai/v1/realtime`; the model is a deployment's name.
  azure: { ...openai, url: null, model: null, needsModel: true, keyHeader: (key) => ['api-key', key] },
  xai: {
    ...openai,
    url: 'wss://api.x.ai/v1/realtime',
    model: 'grok-voice-latest',
    flatSession: true,
    answersByItself: true,
    hasSemanticVad: false,
    hasNoiseReduction: false,
    transcriptionModel: null,
  },
  // As LocalAI: it takes linear samples at any rate, and each of its events about a turn has another id or none.
  generic: {
    ...openai,
    url: null,
    model: null,
    needsKey: false,
    sound: 'linear',
    namesItems: false,
    answersByItself: true,
    hasSemanticVad: false,
    hasNoiseReduction: false,
    transcriptionModel: null,
  },
};

/** The deployment's settings of the provider. */
export interface RealtimeProvider {
  readonly dialect: DialectName;
  readonly url: string | null;
  readonly apiKey: string | null;
  readonly model: string | null;
}

/** Names of the settings, as messages for operators name them. */
const variables = {
  url: 'TRUNKCALL_REALTIME_URL',
  apiKey: 'TRUNKCALL_REALTIME_API_KEY',
  model: 'TRUNKCALL_REALTIME_MODEL',
} as const;

export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Which settings are missing, in words; empty when `targetOf` can be asked. */
export function missingSettings({ dialect: name, url, apiKey, model }: RealtimeProvider): string[] {
  const dialect = dialects[name];
  return [
    ...(url === null && dialect.url === null
      ? [`the realtime agent needs ${variables.url} for the dialect ${name}`]
      : []),
    ...(apiKey === null && dialect.needsKey ? [`the realtime agent needs ${variables.apiKey}`] : []),
    ...(model === null && dialect.needsModel
      ? [`the realtime agent needs ${variables.model}, the name of a deployment, for the dialect ${name}`]
      : []),
  ];
}

/** Where and how to connect for a model; null means the one of the settings, or else of the dialect. */
export function targetOf(provider: RealtimeProvider, wanted: string | null): Target {
  const dialect = dialects[provider.dialect];
  const url = new URL(provider.url ?? dialect.url ?? '');
  const model = wanted ?? provider.model ?? dialect.model;
  if (model !== null) url.searchParams.set('model', model);
  const header = provider.apiKey === null ? [] : [dialect.keyHeader(provider.apiKey)];
  return { url: url.href, headers: Object.fromEntries(header) };
}
