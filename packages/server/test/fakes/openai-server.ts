/**
 * A strict OpenAI-compatible server on a real socket: chat completions (streamed), transcriptions and speech.
 *
 * What the protocol does not allow is answered with the provider's error, and remembered in `complaints`. Faults are
 * used up one by one, the next request to a path takes the next one.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/platform/clock.ts';

/** Between two drops of a drip. */
const dripMs = 20;
/** How late a late answer is. */
const lateMs = 600;

export interface ChatMessageIn {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly {
    id: string;
    type: string;
    function: { name: string; arguments: string };
  }[];
  readonly tool_call_id?: string;
}

export interface Answer {
  readonly text?: string;
  readonly tools?: readonly {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
}

export type Fault =
  | 429
  | 500
  | 401
  | 'hang'
  | 'drop'
  | 'drop_tools'
  /** It stops in the middle, and the connection stays. */
  | 'stall'
  /** It goes on for ever in the middle, without saying anything. */
  | 'drip'
  /** It thinks, for ever. */
  | 'think'
  | 'malformed'
  | 'empty'
  | 'late';
type Path = 'chat' | 'transcribe' | 'speak';

export interface OpenAiServerOptions {
  readonly apiKey: string;
  readonly chat?: (messages: readonly ChatMessageIn[]) => Answer;
  /** The words of a sound: 16-bit samples, 8,000 a second. */
  readonly recognise?: (sound: Int16Array) => string;
  /** What a text sounds like: 16-bit samples, 24,000 a second; a tone when absent. */
  readonly speak?: (text: string) => Int16Array;
}

export interface OpenAiServer {
  readonly url: string;
  readonly complaints: string[];
  readonly faults: Record<Path, Fault[]>;
  /** What was asked to be spoken, in order. */
  readonly spoken: string[];
  readonly requests: Record<Path, number>;
  /** Requests whose client went away before the answer was whole. */
  readonly abandoned: Record<Path, number>;
  /** The last chat request's messages. */
  lastChat: readonly ChatMessageIn[];
  close(): Promise<void>;
}

const paths: Readonly<Record<string, Path>> = {
  '/v1/chat/completions': 'chat',
  '/v1/audio/transcriptions': 'transcribe',
  '/v1/audio/speech': 'speak',
};

/** Each character of a spoken text sounds for so long. */
const voiceMsPerCharacter = 60;

class Refused extends Error {}

function must(holds: unknown, complaint: string): asserts holds {
  if (holds !== true) throw new Refused(complaint);
}

export async function startOpenAiServer(options: OpenAiServerOptions): Promise<OpenAiServer> {
  const state: Omit<OpenAiServer, 'url' | 'close'> = {
    complaints: [],
    faults: { chat: [], transcribe: [], speak: [] },
    spoken: [],
    requests: { chat: 0, transcribe: 0, speak: 0 },
    abandoned: { chat: 0, transcribe: 0, speak: 0 },
    lastChat: [],
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const path = paths[request.url ?? ''];
    try {
      must(path !== undefined && request.method === 'POST', `no such endpoint: ${request.url}`);
      must(request.headers.authorization === `Bearer ${options.apiKey}`, 'wrong key');
      state.requests[path] += 1;
      response.on('close', () => {
        if (!response.writableFinished) state.abandoned[path] += 1;
      });
      await answer(path, request, body, response, state.faults[path].shift() ?? null);
    } catch (error) {
      const message = error instanceof Refused ? error.message : String(error);
      state.complaints.push(message);
      refuse(response, 400, message);
    }
  }

  async function answer(
    path: Path,
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
    fault: Fault | null,
  ): Promise<void> {
    if (fault === 'hang') return;
    if (fault === 'late') await systemClock.sleep(lateMs);
    if (typeof fault === 'number') return refuse(response, fault, 'a fault');
    switch (path) {
      case 'chat': {
        const messages = readChat(request, body);
        state.lastChat = messages;
        return writeChat(
          response,
          fault === 'empty' ? {} : (options.chat ?? (() => ({ text: 'Well.' })))(messages),
          fault,
        );
      }
      case 'transcribe': {
        const sound = await readTranscription(request, body);
        response.setHeader('content-type', 'application/json');
        if (fault === 'malformed') return void response.end('{"text": ');
        if (fault === 'drop') return void response.write('{"te', () => response.destroy());
        return void response.end(
          JSON.stringify(fault === 'empty' ? {} : { text: options.recognise?.(sound) ?? '' }),
        );
      }
      case 'speak': {
        const text = readSpeech(request, body);
        state.spoken.push(text);
        const samples = options.speak?.(text) ?? toneFor(text, 24_000);
        return writeSpeech(response, samples, fault);
      }
    }
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({ error: { message, type: 'invalid_request_error', code: null, param: null } }),
  );
}

function jsonOf(request: IncomingMessage, body: Buffer): Record<string, unknown> {
  must(request.headers['content-type']?.startsWith('application/json'), 'the body must be JSON');
  return JSON.parse(body.toString()) as Record<string, unknown>;
}

const chatFields = ['model', 'stream', 'messages', 'tools'];

function readChat(request: IncomingMessage, body: Buffer): readonly ChatMessageIn[] {
  const asked = jsonOf(request, body);
  for (const field of Object.keys(asked)) must(chatFields.includes(field), `unknown field ${field}`);
  must(typeof asked['model'] === 'string' && asked['model'] !== '', 'model is missing');
  must(asked['stream'] === true, 'stream must be true');
  for (const tool of (asked['tools'] ?? []) as {
    type?: unknown;
    function?: { name?: unknown; parameters?: { type?: unknown } };
  }[]) {
    must(tool.type === 'function' && typeof tool.function?.name === 'string', 'a tool is a function');
    must(tool.function.parameters?.type === 'object', 'parameters are an object schema');
  }
  const messages = asked['messages'] as ChatMessageIn[];
  must(Array.isArray(messages) && messages[0]?.role === 'system', 'the system message comes first');
  let open: string[] = [];
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1]?.role;
    must(at === 0 || message.role !== 'system', 'one system message');
    must(message.role !== before || message.role === 'tool', 'the roles take turns');
    if (message.role === 'tool') {
      must(open.includes(message.tool_call_id ?? ''), 'a tool message answers a tool call');
      open = open.filter((id) => id !== message.tool_call_id);
    } else {
      must(open.length === 0, 'every tool call is answered');
      open = message.tool_calls?.map(({ id }) => id) ?? [];
      must(
        open.length > 0 || (typeof message.content === 'string' && message.content !== ''),
        'content is missing',
      );
    }
  }
  must(['user', 'tool'].includes(messages.at(-1)?.role ?? ''), 'the last message is the user’s or a tool’s');
  return messages;
}

async function writeChat(
  response: ServerResponse,
  { text = '', tools = [] }: Answer,
  fault: Fault | null,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (choice: unknown): boolean => {
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice] };
    return response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  send({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null });
  const think = () => send({ index: 0, delta: { reasoning_content: 'Hmm. ' }, finish_reason: null });
  if (fault === 'think') return dripping(response, think);
  // Words as they come from a model: pieces that know nothing of sentences.
  const pieces = text.match(/.{1,7}/gsu) ?? [];
  const cut =
    fault === 'drop' || fault === 'stall' || fault === 'drip' || fault === 'malformed'
      ? Math.ceil(pieces.length / 2)
      : pieces.length;
  for (const content of pieces.slice(0, cut)) send({ index: 0, delta: { content }, finish_reason: null });
  if (fault === 'drop') return void response.write('', () => response.destroy());
  if (fault === 'malformed') return void response.end('data: {"choices": [\n\n');
  if (fault === 'stall') return;
  if (fault === 'drip') return dripping(response, think);
  for (const [index, { name, arguments: args }] of tools.entries()) {
    const whole = JSON.stringify(args);
    const half = Math.ceil(whole.length / 2);
    const id = `call_${Math.random().toString(36).slice(2)}`;
    send({
      index: 0,
      delta: {
        tool_calls: [{ index, id, type: 'function', function: { name, arguments: whole.slice(0, half) } }],
      },
      finish_reason: null,
    });
    send({
      index: 0,
      delta: { tool_calls: [{ index, function: { arguments: whole.slice(half) } }] },
      finish_reason: null,
    });
  }
  if (fault === 'drop_tools') return void response.write('', () => response.destroy());
  send({ index: 0, delta: {}, finish_reason: tools.length > 0 ? 'tool_calls' : 'stop' });
  response.end('data: [DONE]\n\n');
}

/** Gives drop after drop, until whoever reads has gone. */
async function dripping(response: ServerResponse, drop: () => boolean): Promise<void> {
  while (!response.destroyed && drop()) await systemClock.sleep(dripMs);
}

async function readTranscription(request: IncomingMessage, body: Buffer): Promise<Int16Array> {
  const contentType = request.headers['content-type'] ?? '';
  must(contentType.startsWith('multipart/form-data'), 'the body must be a form');
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': contentType },
  }).formData();
  for (const field of form.keys()) {
    must(['file', 'model', 'language', 'response_format'].includes(field), `unknown field ${field}`);
  }
  must(typeof form.get('model') === 'string', 'model is missing');
  const language = form.get('language');
  must(typeof language === 'string' && /^[a-z]{2}$/.test(language), 'language is ISO 639-1');
  must(form.get('response_format') === 'json', 'response_format must be json');
  const file = form.get('file');
  must(file instanceof File && file.name.endsWith('.wav'), 'file is missing');
  const wave = Buffer.from(await file.arrayBuffer());
  must(
    wave.toString('latin1', 0, 4) === 'RIFF' && wave.toString('latin1', 8, 16) === 'WAVEfmt ',
    'not a WAVE file',
  );
  must(wave.readUInt32LE(4) === wave.length - 8, 'the size of the file is wrong');
  must(wave.readUInt16LE(20) === 1 && wave.readUInt16LE(22) === 1, 'PCM, mono');
  must(wave.readUInt32LE(24) === 8_000 && wave.readUInt16LE(34) === 16, '8,000 Hz, 16 bits');
  must(wave.readUInt32LE(40) === wave.length - 44, 'the size of the sound is wrong');
  return Int16Array.from({ length: (wave.length - 44) / 2 }, (_, at) => wave.readInt16LE(44 + 2 * at));
}

function readSpeech(request: IncomingMessage, body: Buffer): string {
  const asked = jsonOf(request, body);
  for (const field of Object.keys(asked)) {
    must(['model', 'input', 'voice', 'response_format'].includes(field), `unknown field ${field}`);
  }
  const { model, input, voice, response_format: format } = asked;
  must(typeof model === 'string' && typeof voice === 'string', 'model and voice are missing');
  must(format === 'pcm', 'response_format must be pcm');
  must(
    typeof input === 'string' && input.trim() !== '' && input.length <= 4_096,
    'input is 1 to 4096 characters',
  );
  return input;
}

/** In pieces that do not end at whole samples. */
async function writeSpeech(
  response: ServerResponse,
  samples: Int16Array,
  fault: Fault | null,
): Promise<void> {
  if (fault === 'malformed') {
    response.writeHead(200, { 'content-type': 'application/json' });
    return void response.end('{"error":{"message":"no"}}');
  }
  response.writeHead(200, { 'content-type': 'audio/pcm' });
  if (fault === 'empty') return void response.end();
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const half = Math.floor(bytes.length / 4) * 2 + 1;
  if (fault === 'drop') return void response.write(bytes.subarray(0, half), () => response.destroy());
  response.write(bytes.subarray(0, half));
  if (fault === 'stall') return;
  if (fault === 'drip') return dripping(response, () => response.write(Buffer.alloc(2)));
  response.end(bytes.subarray(half));
}

/** What a text sounds like here: a tone of 400 Hz, `voiceMsPerCharacter` a character. */
export function toneFor(text: string, rate: number): Int16Array {
  const length = Math.round((text.length * voiceMsPerCharacter * rate) / 1_000);
  return Int16Array.from({ length }, (_, at) => 6_000 * Math.sin((2 * Math.PI * 400 * at) / rate));
}
