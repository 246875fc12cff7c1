/**
 * What a Realtime server tells us, reduced to what matters on a call. The names are those of the GA protocol; of
 * the names before it we understand those that servers behind other dialects still use.
 */
import type { ToolCall } from '../tools.ts';

export type ServerEvent =
  | { readonly kind: 'session_created'; readonly expiresAtMs: number | null }
  | { readonly kind: 'session_updated'; readonly expiresAtMs: number | null }
  | { readonly kind: 'speech_started'; readonly itemId: string; readonly audioMs: number | null }
  | { readonly kind: 'speech_stopped'; readonly itemId: string }
  /** The callee's turn is over and is an item of the conversation. */
  | { readonly kind: 'committed'; readonly itemId: string }
  /** Null: it could not be written down. */
  | { readonly kind: 'transcribed'; readonly itemId: string; readonly text: string | null }
  | { readonly kind: 'response_created'; readonly responseId: string }
  | {
      readonly kind: 'audio';
      readonly responseId: string;
      readonly itemId: string;
      readonly audio: Uint8Array;
    }
  | { readonly kind: 'words'; readonly responseId: string; readonly itemId: string; readonly text: string }
  /** All words of an item, in place of those that came piece by piece. */
  | {
      readonly kind: 'all_words';
      readonly responseId: string;
      readonly itemId: string;
      readonly text: string;
    }
  | { readonly kind: 'tool_called'; readonly responseId: string; readonly call: ToolCall }
  | {
      readonly kind: 'response_done';
      readonly responseId: string;
      readonly status: 'completed' | 'cancelled' | 'incomplete' | 'failed';
      readonly errorCode: string | null;
      readonly calls: readonly ToolCall[];
    }
  | { readonly kind: 'error'; readonly code: string; readonly causedBy: string | null };

type Fields = Readonly<Record<string, unknown>>;

/** Null: not JSON, or not an event. `ignored`: an event that does not matter to us. Never throws. */
export function readServerEvent(message: string): ServerEvent | 'ignored' | null {
  let event: unknown;
  try {
    event = JSON.parse(message);
  } catch {
    return null;
  }
  if (!isFields(event) || typeof event['type'] !== 'string') return null;
  return readers.get(event['type'])?.(event) ?? 'ignored';
}

type Reader = (event: Fields) => ServerEvent | null;

const item = (event: Fields) => ({ itemId: text(event['item_id']) });
const part = (event: Fields) => ({ responseId: text(event['response_id']), ...item(event) });
const session = (kind: 'session_created' | 'session_updated') => (event: Fields) => {
  const expiresAt = fields(event['session'])['expires_at'];
  return { kind, expiresAtMs: typeof expiresAt === 'number' && expiresAt > 0 ? expiresAt * 1_000 : null };
};
const audio: Reader = (event) => ({
  kind: 'audio',
  ...part(event),
  audio: Buffer.from(text(event['delta']), 'base64'),
});
const words: Reader = (event) => ({ kind: 'words', ...part(event), text: text(event['delta']) });
const allWords =
  (name: string): Reader =>
  (event) => ({ kind: 'all_words', ...part(event), text: text(event[name]) });

const readers: ReadonlyMap<string, Reader> = new Map(
  Object.entries<Reader>({
    'session.created': session('session_created'),
    'session.updated': session('session_updated'),
    'input_audio_buffer.speech_started': (event) => ({
      kind: 'speech_started',
      ...item(event),
      audioMs: typeof event['audio_start_ms'] === 'number' ? event['audio_start_ms'] : null,
    }),
    'input_audio_buffer.speech_stopped': (event) => ({ kind: 'speech_stopped', ...item(event) }),
    'input_audio_buffer.committed': (event) => ({ kind: 'committed', ...item(event) }),
    'conversation.item.input_audio_transcription.completed': (event) => ({
      kind: 'transcribed',
      ...item(event),
      text: text(event['transcript']),
    }),
    'conversation.item.input_audio_transcription.failed': (event) => ({
      kind: 'transcribed',
      ...item(event),
      text: null,
    }),
    'response.created': (event) => ({
      kind: 'response_created',
      responseId: text(fields(event['response'])['id']),
    }),
    'response.output_audio.delta': audio,
    'response.audio.delta': audio,
    'response.output_audio_transcript.delta': words,
    'response.audio_transcript.delta': words,
    'response.output_text.delta': words,
    'response.text.delta': words,
    'response.output_audio_transcript.done': allWords('transcript'),
    'response.audio_transcript.done': allWords('transcript'),
    'response.output_text.done': allWords('text'),
    'response.text.done': allWords('text'),
    'response.function_call_arguments.done': (event) => {
      const call = callOf(event);
      return call === null ? null : { kind: 'tool_called', responseId: text(event['response_id']), call };
    },
    'response.done': (event) => {
      const response = fields(event['response']);
      const output = Array.isArray(response['output']) ? response['output'] : [];
      return {
        kind: 'response_done',
        responseId: text(response['id']),
        status: statusOf(response['status']),
        errorCode: codeOf(fields(fields(response['status_details'])['error'])),
        calls: output.map(fields).flatMap((item) => {
          const call = item['type'] === 'function_call' ? callOf(item) : null;
          return call === null ? [] : [call];
        }),
      };
    },
    error: (event) => {
      const error = fields(event['error']);
      const causedBy = error['event_id'];
      return {
        kind: 'error',
        code: codeOf(error) ?? 'unknown_error',
        causedBy: typeof causedBy === 'string' ? causedBy : null,
      };
    },
  }),
);

function statusOf(status: unknown): 'completed' | 'cancelled' | 'incomplete' | 'failed' {
  return status === 'cancelled' || status === 'incomplete' || status === 'failed' ? status : 'completed';
}

/** A code, else the type; nothing else of an error may be repeated, since its message may quote the call. */
function codeOf(error: Fields): string | null {
  return [error['code'], error['type']].find(isCode) ?? null;
}

const isCode = (value: unknown): value is string => typeof value === 'string' && /^[a-z_]{1,64}$/.test(value);

/** The name is absent in the older form of the event; the call then comes with the end of the response. */
function callOf(fields: Fields): ToolCall | null {
  const { call_id: callId, name, arguments: given } = fields;
  if (typeof callId !== 'string' || typeof name !== 'string') return null;
  return { callId, name, arguments: text(given) };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const fields = (value: unknown): Fields => (isFields(value) ? value : {});
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
