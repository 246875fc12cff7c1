/** The parts of the cascade that the deployment's settings describe, or which variable is missing. */
import { openAiUrl } from '../../platform/chat/provider.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KeyWatch, ProviderKeys } from '../../platform/key-watch.ts';
import type { CascadeAgentOptions, Part } from './cascade-agent.ts';
import type { ChatModel, Transcriber, Voice } from './ports.ts';
import { createCartesiaVoice } from './providers/cartesia.ts';
import { createDeepgramTranscriber } from './providers/deepgram.ts';
import { createOpenAiChat, createOpenAiTranscriber, createOpenAiVoice } from './providers/openai.ts';

export interface CascadeSettings {
  readonly chatUrl: string | null;
  readonly chatApiKey: string | null;
  readonly chatModel: string | null;
  readonly transcribeKind: 'openai' | 'deepgram';
  readonly transcribeUrl: string | null;
  readonly transcribeApiKey: string | null;
  readonly transcribeModel: string | null;
  readonly speechKind: 'openai' | 'cartesia';
  readonly speechUrl: string | null;
  readonly speechApiKey: string | null;
  readonly speechModel: string | null;
  readonly speechVoice: string | null;
}

export function cascadeParts(
  settings: CascadeSettings,
  clock: Clock,
  keys: ProviderKeys,
): CascadeAgentOptions {
  return {
    chat: chatPart(settings, clock, keys.chat),
    transcriber: transcriberPart(settings, clock, keys.transcribe),
    voice: voicePart(settings, clock, keys.speech),
  };
}

function chatPart(
  { chatUrl, chatApiKey, chatModel }: CascadeSettings,
  clock: Clock,
  key: KeyWatch,
): Part<ChatModel> {
  if (chatUrl === null && chatApiKey === null) return withoutServer('CHAT');
  if (chatModel === null) return missing('TRUNKCALL_CHAT_MODEL is not set');
  const endpoint = { clock, url: chatUrl ?? openAiUrl, apiKey: chatApiKey, model: chatModel, key };
  return { kind: 'ready', key, provider: createOpenAiChat(endpoint) };
}

function transcriberPart(settings: CascadeSettings, clock: Clock, key: KeyWatch): Part<Transcriber> {
  const { transcribeKind, transcribeUrl, transcribeApiKey: apiKey, transcribeModel } = settings;
  if (transcribeUrl === null && apiKey === null) return withoutServer('TRANSCRIBE');
  if (transcribeKind === 'deepgram') {
    const url = transcribeUrl ?? 'wss://api.deepgram.com/v1/listen';
    if (!isSocket(url)) return missing('TRUNKCALL_TRANSCRIBE_URL is no ws or wss URL, as deepgram needs');
    const model = transcribeModel ?? 'nova-3';
    return { kind: 'ready', key, provider: createDeepgramTranscriber({ clock, url, apiKey, model, key }) };
  }
  const url = transcribeUrl ?? openAiUrl;
  if (isSocket(url)) return missing('TRUNKCALL_TRANSCRIBE_URL is no http or https URL, as openai needs');
  const model = transcribeModel ?? 'gpt-4o-mini-transcribe';
  return { kind: 'ready', key, provider: createOpenAiTranscriber({ clock, url, apiKey, model, key }) };
}

function voicePart(settings: CascadeSettings, clock: Clock, key: KeyWatch): Part<Voice> {
  const { speechKind, speechUrl, speechApiKey: apiKey, speechModel, speechVoice } = settings;
  if (speechUrl === null && apiKey === null) return withoutServer('SPEECH');
  if (speechKind === 'cartesia') {
    const url = speechUrl ?? 'wss://api.cartesia.ai/tts/websocket';
    if (!isSocket(url)) return missing('TRUNKCALL_SPEECH_URL is no ws or wss URL, as cartesia needs');
    if (speechVoice === null) return missing('TRUNKCALL_SPEECH_VOICE is not set; cartesia has no default');
    const model = speechModel ?? 'sonic-3.5';
    return {
      kind: 'ready',
      key,
      provider: createCartesiaVoice({ clock, url, apiKey, model, voice: speechVoice, key }),
    };
  }
  const url = speechUrl ?? openAiUrl;
  if (isSocket(url)) return missing('TRUNKCALL_SPEECH_URL is no http or https URL, as openai needs');
  const model = speechModel ?? 'gpt-4o-mini-tts';
  const voice = speechVoice ?? 'alloy';
  return { kind: 'ready', key, provider: createOpenAiVoice({ clock, url, apiKey, model, voice, key }) };
}

function isSocket(url: string): boolean {
  return /^wss?:/.test(url);
}

function withoutServer(part: string): { readonly kind: 'missing'; readonly problem: string } {
  return missing(
    `TRUNKCALL_${part}_API_KEY is not set (nor TRUNKCALL_${part}_URL, for a server of your own): the cascade agent needs it`,
  );
}

function missing(problem: string) {
  return { kind: 'missing', problem } as const;
}
