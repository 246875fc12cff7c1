/** What a strict Realtime server takes from a client: the GA shapes, nothing more. */
import { Ajv2020 } from 'ajv/dist/2020.js';

const text = { type: 'string', minLength: 1 };
const closed = (properties: Readonly<Record<string, object>>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const format = {
  oneOf: [
    closed({ type: { enum: ['audio/pcmu', 'audio/pcma'] } }),
    // Of servers that take any rate, not of OpenAI's.
    closed({ type: { const: 'audio/pcm' }, rate: { const: 8_000 } }),
  ],
};
const turnDetection = {
  oneOf: [
    closed({
      type: { const: 'server_vad' },
      threshold: { type: 'number', minimum: 0, maximum: 1 },
      prefix_padding_ms: { type: 'integer', minimum: 0 },
      silence_duration_ms: { type: 'integer', minimum: 0 },
      create_response: { type: 'boolean' },
      interrupt_response: { type: 'boolean' },
    }),
    closed({
      type: { const: 'semantic_vad' },
      eagerness: { enum: ['low', 'medium', 'high', 'auto'] },
      create_response: { type: 'boolean' },
      interrupt_response: { type: 'boolean' },
    }),
  ],
};
const tools = {
  type: 'array',
  items: closed({
    type: { const: 'function' },
    name: text,
    description: text,
    parameters: { type: 'object' },
  }),
};
const common = {
  type: { const: 'realtime' },
  instructions: text,
  tools,
  tool_choice: { enum: ['auto'] },
};
const session = {
  oneOf: [
    closed({ ...common, output_modalities: { const: ['text'] } }),
    closed({
      ...common,
      output_modalities: { const: ['audio'] },
      audio: closed({
        input: closed(
          {
            format,
            turn_detection: turnDetection,
            noise_reduction: {
              oneOf: [{ type: 'null' }, closed({ type: { enum: ['near_field', 'far_field'] } })],
            },
            transcription: closed({ model: text, language: { type: 'string', pattern: '^[a-z]{2,3}$' } }),
          },
          ['format', 'turn_detection'],
        ),
        output: closed({ format, voice: text }, ['format']),
      }),
    }),
  ],
};
const content = (type: string) => ({
  type: 'array',
  minItems: 1,
  maxItems: 1,
  items: closed({ type: { const: type }, text }),
});
const item = {
  oneOf: [
    closed({
      type: { const: 'message' },
      role: { enum: ['user', 'system'] },
      content: content('input_text'),
    }),
    closed({ type: { const: 'message' }, role: { const: 'assistant' }, content: content('output_text') }),
    closed({ type: { const: 'function_call_output' }, call_id: text, output: text }),
  ],
};

const event = (type: string, fields: Readonly<Record<string, object>>, optional: readonly string[] = []) => {
  const properties = { type: { const: type }, event_id: text, ...fields };
  return closed(
    properties,
    Object.keys(properties).filter((name) => name !== 'event_id' && !optional.includes(name)),
  );
};

const shapes: Readonly<Record<string, object>> = {
  'session.update': event('session.update', { session }),
  'input_audio_buffer.append': event('input_audio_buffer.append', { audio: text }),
  'input_audio_buffer.commit': event('input_audio_buffer.commit', {}),
  'conversation.item.create': event('conversation.item.create', { item }),
  'conversation.item.delete': event('conversation.item.delete', { item_id: text }),
  'conversation.item.truncate': event('conversation.item.truncate', {
    item_id: text,
    content_index: { const: 0 },
    audio_end_ms: { type: 'integer', minimum: 0 },
  }),
  'response.create': event('response.create', { response: closed({ instructions: text }) }, ['response']),
  'response.cancel': event('response.cancel', {}),
};

const ajv = new Ajv2020({ strict: false });
const checks = new Map(Object.entries(shapes).map(([type, shape]) => [type, ajv.compile(shape)]));

export type ClientMessage = Readonly<Record<string, unknown>> & { readonly type: string };

/** The message, or the code of the provider's error. */
export function readClientMessage(data: string): ClientMessage | { readonly wrong: string } {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return { wrong: 'invalid_json' };
  }
  const { type } = value as { type?: unknown };
  const check = typeof type === 'string' ? checks.get(type) : undefined;
  if (check === undefined) return { wrong: 'unknown_event' };
  return check(value) ? (value as ClientMessage) : { wrong: 'invalid_value' };
}
