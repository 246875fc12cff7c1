/** What we tell a Realtime server, in the GA shape of the protocol. */
import type { RealtimeAgentSettings } from '@trunkcall/contract';
import { lineRate } from '../audio/resampler.ts';
import type { Dialect } from './dialect.ts';
import type { Tool } from '../tools.ts';

export type ClientEvent =
  | { readonly type: 'session.update'; readonly session: SessionSettings }
  | { readonly type: 'input_audio_buffer.append'; readonly audio: string }
  | { readonly type: 'input_audio_buffer.commit' }
  | { readonly type: 'conversation.item.create'; readonly item: Item }
  | { readonly type: 'conversation.item.delete'; readonly item_id: string }
  | {
      readonly type: 'conversation.item.truncate';
      readonly item_id: string;
      readonly content_index: 0;
      readonly audio_end_ms: number;
    }
  | {
      readonly type: 'response.create';
      readonly event_id: string;
      readonly response?: { readonly instructions: string };
    }
  | { readonly type: 'response.cancel' };

type Item =
  | {
      readonly type: 'message';
      readonly role: 'user' | 'system';
      readonly content: readonly [{ readonly type: 'input_text'; readonly text: string }];
    }
  | {
      readonly type: 'message';
      readonly role: 'assistant';
      readonly content: readonly [{ readonly type: 'output_text'; readonly text: string }];
    }
  | { readonly type: 'function_call_output'; readonly call_id: string; readonly output: string };

type SessionSettings = Readonly<Record<string, unknown>>;

export interface SessionPlan {
  readonly dialect: Dialect;
  readonly settings: RealtimeAgentSettings;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** The language that the callee speaks, ISO 639. */
  readonly language: string;
  /** How sound is coded on the leg; null on a leg at the level of sentences. */
  readonly law: 'mu' | 'a' | null;
}

/** The settings of a session. On a leg at the level of sentences it works by text alone. */
export function sessionUpdate(plan: SessionPlan): ClientEvent {
  const { law, instructions, tools } = plan;
  const common = { type: 'realtime', instructions, tools, tool_choice: 'auto' };
  const session =
    law === null
      ? { ...common, output_modalities: ['text'] }
      : { ...common, output_modalities: ['audio'], ...audioSettings(plan, law) };
  return { type: 'session.update', session };
}

function audioSettings({ dialect, settings, language }: SessionPlan, law: 'mu' | 'a'): SessionSettings {
  const g711 = { type: law === 'mu' ? 'audio/pcmu' : 'audio/pcma' };
  const format = dialect.sound === 'g711' ? g711 : { type: 'audio/pcm', rate: lineRate };
  const voice = settings.voice === undefined ? {} : { voice: settings.voice };
  const detection = { turn_detection: turnDetection(dialect, settings.vad) };
  const transcription =
    dialect.transcriptionModel === null
      ? {}
      : { transcription: { model: dialect.transcriptionModel, language } };
  const noise = dialect.hasNoiseReduction ? { noise_reduction: noiseReduction(settings) } : {};
  if (dialect.flatSession)
    return { audio: { input: { format }, output: { format } }, ...voice, ...detection };
  return {
    audio: {
      input: { format, ...noise, ...transcription, ...detection },
      output: { format, ...voice },
    },
  };
}

function noiseReduction({ noise_reduction: type = 'near_field' }: RealtimeAgentSettings) {
  return type === 'off' ? null : { type };
}

function turnDetection(dialect: Dialect, vad: RealtimeAgentSettings['vad']): SessionSettings {
  const answering = { create_response: dialect.answersByItself, interrupt_response: true };
  if (vad?.kind === 'semantic_vad' && dialect.hasSemanticVad) {
    return { type: 'semantic_vad', eagerness: vad.eagerness ?? 'auto', ...answering };
  }
  return {
    type: 'server_vad',
    threshold: vad?.threshold ?? 0.5,
    prefix_padding_ms: 300,
    silence_duration_ms: vad?.silence_ms ?? 500,
    ...answering,
  };
}

/** Something for the model to know: what the callee said or did, or what we said. */
export function message(role: 'user' | 'system' | 'assistant', text: string): ClientEvent {
  return {
    type: 'conversation.item.create',
    item:
      role === 'assistant'
        ? { type: 'message', role, content: [{ type: 'output_text', text }] }
        : { type: 'message', role, content: [{ type: 'input_text', text }] },
  };
}

export function toolOutput(callId: string, output: string): ClientEvent {
  return {
    type: 'conversation.item.create',
    item: { type: 'function_call_output', call_id: callId, output },
  };
}

/** The callee heard no more than this of an item, whole milliseconds. */
export function truncate(itemId: string, heardMs: number): ClientEvent {
  return {
    type: 'conversation.item.truncate',
    item_id: itemId,
    content_index: 0,
    audio_end_ms: Math.floor(heardMs),
  };
}
