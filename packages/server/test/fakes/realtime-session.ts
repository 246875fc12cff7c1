/** One session of the fake Realtime server (`realtime-server.ts`): the conversation, the ear and the voice. */
import type { WebSocket } from 'ws';
import { decodeG711, encodeG711 } from '@trunkcall/sip';
import { loudnessOf, noiseSpeech, type Law, type Speech } from './fixture-speech.ts';
import { readClientMessage, type ClientMessage } from './realtime-protocol.ts';
import type { Fault } from './realtime-server.ts';

export interface ModelItem {
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  /** What is known of its words: an item that was truncated has none. */
  text: string;
  /** How much sound it has, milliseconds; 0 for text. */
  audioMs: number;
  truncated: boolean;
  /** The call that waits for its output. */
  readonly callId?: string;
}

export interface Reply {
  readonly text: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[];
}

/** The model: what it says, given its instructions and what was said before. */
export type Model = (conversation: {
  /** Those of the response, else those of the session. */
  readonly instructions: string;
  readonly items: readonly ModelItem[];
}) => Reply;

export interface SessionOptions {
  readonly model: Model;
  readonly manner: 'strict' | 'lenient';
  readonly vocabulary?: readonly string[];
  readonly speech?: Speech;
  readonly fault: Fault;
  readonly violations: string[];
}

interface Settings {
  readonly instructions: string;
  readonly output_modalities: readonly ['text' | 'audio'];
  readonly audio?: {
    readonly input: {
      readonly format: { readonly type: string };
      readonly turn_detection: {
        readonly prefix_padding_ms?: number;
        readonly silence_duration_ms?: number;
        readonly create_response: boolean;
      };
    };
    readonly output: { readonly format: { readonly type: string } };
  };
}

interface Running {
  readonly id: string;
  /** What is still to be sent, each at a time of the sound that was heard. */
  readonly rest: { readonly atMs: number; readonly event: Readonly<Record<string, unknown>> }[];
  readonly output: Readonly<Record<string, unknown>>[];
}

const frameMs = 20;
const loud = 1_000;
const framesToBegin = 3;
const pieceMs = 200;

export class RealtimeFakeSession {
  readonly items: ModelItem[] = [];
  /** All but the callee's sound. */
  readonly received: ClientMessage[] = [];
  readonly #socket: WebSocket;
  readonly #options: SessionOptions;
  #settings: Settings | null = null;
  #running: Running | null = null;
  #count = 0;
  #failures = 0;
  #frames: Uint8Array[] = [];
  #speech: { id: string; fromFrame: number; quiet: number } | null = null;
  #loudFrames = 0;
  #voiceMs = 0;
  readonly #later: { readonly atMs: number; readonly event: Readonly<Record<string, unknown>> }[] = [];

  constructor(socket: WebSocket, options: SessionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('message', (data) => this.#take((data as Buffer).toString('utf8')));
    const { mute, rejectKey } = options.fault;
    if (rejectKey === 'error') this.#error('invalid_api_key');
    if (rejectKey !== undefined) socket.close(3_000, 'invalid_request_error.invalid_api_key');
    else if (mute !== true) this.#tell('session.created', { session: this.#session() });
  }

  /** Milliseconds of sound that came. */
  get heardMs(): number {
    return this.#frames.length * frameMs;
  }

  /** How much was said by both sides, but for the callee's sound. */
  get words(): number {
    return this.#count + this.received.length;
  }

  /** It stands, and its socket is open. */
  get live(): boolean {
    return this.#settings !== null && this.#socket.readyState === this.#socket.OPEN;
  }

  /** The settings of the session, as they were sent. */
  get settings(): Settings | null {
    return this.#settings;
  }

  #session(): Readonly<Record<string, unknown>> {
    const { expiresAtMs } = this.#options.fault;
    return {
      type: 'realtime',
      id: 'sess_1',
      ...(expiresAtMs === undefined ? {} : { expires_at: Math.floor(expiresAtMs / 1_000) }),
    };
  }

  #tell(type: string, fields: Readonly<Record<string, unknown>>): void {
    this.#count += 1;
    this.#socket.send(JSON.stringify({ type, event_id: `event_${this.#count}`, ...fields }));
  }

  #error(code: string, causedBy: unknown = null): void {
    this.#tell('error', {
      error: { type: 'invalid_request_error', code, message: 'No.', param: null, event_id: causedBy },
    });
  }

  /** Against the protocol: the provider says so and hangs up. */
  #violated(code: string, type: string): void {
    this.#options.violations.push(`${code}: ${type}`);
    this.#error(code);
    this.#socket.close(1008);
  }

  #take(data: string): void {
    const message = readClientMessage(data);
    if ('wrong' in message && typeof message.wrong === 'string') {
      return this.#violated(message.wrong, data.slice(0, 200));
    }
    const { fault } = this.#options;
    if (fault.rejectKey !== undefined) return;
    const event = message as ClientMessage;
    if (event.type !== 'input_audio_buffer.append') this.received.push(event);
    if (fault.mute === true) return;
    if (event.type === 'session.update') return this.#update(event['session'] as Settings);
    if (this.#settings === null) return this.#violated('session_not_configured', event.type);
    switch (event.type) {
      case 'input_audio_buffer.append':
        return this.#hear(this.#soundFrom(String(event['audio'])));
      case 'input_audio_buffer.commit':
        return this.#speech === null ? this.#error('input_audio_buffer_commit_empty') : this.#commit();
      case 'conversation.item.create':
        return this.#create(event['item'] as Readonly<Record<string, unknown>>);
      case 'conversation.item.delete':
        return this.#delete(String(event['item_id']));
      case 'conversation.item.truncate':
        return this.#truncate(String(event['item_id']), Number(event['audio_end_ms']));
      case 'response.create':
        return this.#respond(event);
      case 'response.cancel':
        return this.#running === null
          ? this.#error('response_cancel_not_active')
          : this.#cancel('client_cancelled');
    }
  }

  #update(settings: Settings): void {
    const { refuseSession } = this.#options.fault;
    if (refuseSession !== undefined) return this.#error(refuseSession);
    const { audio } = settings;
    const linear = audio?.input.format.type === 'audio/pcm';
    const unequal = audio?.input.format.type !== audio?.output.format.type;
    if (unequal || linear !== (audio !== undefined && this.#options.manner === 'lenient')) {
      return this.#violated('invalid_value', 'session.update');
    }
    this.#settings = settings;
    this.#tell('session.updated', { session: this.#session() });
  }

  // ---- The ear

  get #law(): Law {
    return this.#settings?.audio?.input.format.type === 'audio/pcma' ? 'a' : 'mu';
  }

  get #linear(): boolean {
    return this.#settings?.audio?.input.format.type === 'audio/pcm';
  }

  #soundFrom(base64: string): Uint8Array {
    const bytes = Buffer.from(base64, 'base64');
    if (!this.#linear) return bytes;
    const samples = Int16Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(at * 2));
    return encodeG711('PCMU', samples);
  }

  #soundTo(audio: Uint8Array): string {
    if (!this.#linear) return Buffer.from(audio).toString('base64');
    const bytes = Buffer.alloc(audio.length * 2);
    for (const [at, sample] of decodeG711('PCMU', audio).entries()) bytes.writeInt16LE(sample, at * 2);
    return bytes.toString('base64');
  }

  /** The id of a turn in an event about it. */
  #itemId(id: string, inEvent: 'speech' | 'commit' | 'words'): string {
    if (this.#options.manner === 'strict') return id;
    return inEvent === 'speech' ? '' : `${id}_${inEvent}`;
  }

  #hear(audio: Uint8Array): void {
    const detection = this.#settings?.audio?.input.turn_detection;
    if (detection === undefined || audio.length === 0) return this.#violated('invalid_audio', 'append');
    for (let at = 0; at < audio.length; at += 160) {
      this.#frames.push(audio.subarray(at, at + 160));
      this.#listen(detection);
      this.#proceed();
    }
  }

  #listen(detection: { readonly prefix_padding_ms?: number; readonly silence_duration_ms?: number }): void {
    const { prefix_padding_ms: paddingMs = 300, silence_duration_ms: silenceMs = 500 } = detection;
    const isLoud = loudnessOf(this.#frames.at(-1) ?? new Uint8Array(), this.#law) > loud;
    if (this.#speech === null) {
      this.#loudFrames = isLoud ? this.#loudFrames + 1 : 0;
      if (this.#loudFrames < framesToBegin) return;
      const began = this.#frames.length - framesToBegin;
      const fromFrame = Math.max(0, began - paddingMs / frameMs);
      this.#speech = { id: this.#newId('item'), fromFrame, quiet: 0 };
      this.#tell('input_audio_buffer.speech_started', {
        item_id: this.#itemId(this.#speech.id, 'speech'),
        audio_start_ms: fromFrame * frameMs,
      });
      if (this.#running !== null) this.#cancel('turn_detected');
      return;
    }
    this.#speech.quiet = isLoud ? 0 : this.#speech.quiet + 1;
    if (this.#speech.quiet * frameMs < silenceMs) return;
    this.#tell('input_audio_buffer.speech_stopped', {
      item_id: this.#itemId(this.#speech.id, 'speech'),
      audio_end_ms: this.heardMs,
    });
    this.#commit();
  }

  #commit(): void {
    const { fault, vocabulary = [] } = this.#options;
    const speech = this.#speech;
    if (speech === null) return;
    this.#speech = null;
    this.#loudFrames = 0;
    const sound = Buffer.concat(this.#frames.slice(speech.fromFrame));
    const text = (this.#options.speech ?? noiseSpeech).recognise(sound, this.#law, vocabulary);
    this.items.push({ id: speech.id, role: 'user', text: text ?? '', audioMs: 0, truncated: false });
    this.#tell('input_audio_buffer.committed', {
      item_id: this.#itemId(speech.id, 'commit'),
      previous_item_id: null,
    });
    const wordsId = this.#itemId(speech.id, 'words');
    const kind = 'conversation.item.input_audio_transcription';
    this.#later.push({
      atMs: this.heardMs + (fault.transcriptsAfterMs ?? 0),
      event:
        text === null || fault.noTranscripts === true
          ? {
              type: `${kind}.failed`,
              item_id: wordsId,
              content_index: 0,
              error: { code: 'audio_unintelligible' },
            }
          : { type: `${kind}.completed`, item_id: wordsId, content_index: 0, transcript: text },
    });
    this.#proceed();
    if (this.#options.manner === 'lenient') this.#respond({ type: 'response.create' });
  }

  // ---- The conversation

  #create(item: Readonly<Record<string, unknown>>): void {
    const id = this.#newId('item');
    if (item['type'] === 'function_call_output') {
      const open = this.items.find(({ callId, role }) => role === 'tool' && callId === item['call_id']);
      if (open === undefined || open.text !== '') return this.#violated('invalid_tool_call_id', 'output');
      open.text = String(item['output']);
      return;
    }
    const [part] = item['content'] as readonly { readonly text: string }[];
    const role = item['role'] as 'user' | 'assistant' | 'system';
    this.items.push({ id, role, text: part?.text ?? '', audioMs: 0, truncated: false });
    this.#tell('conversation.item.added', { item: { id, ...item } });
    this.#tell('conversation.item.done', { item: { id, ...item } });
  }

  #delete(id: string): void {
    const index = this.items.findIndex((item) => item.id === id);
    if (index === -1) return this.#violated('item_not_found', 'delete');
    this.items.splice(index, 1);
    this.#tell('conversation.item.deleted', { item_id: id });
  }

  #truncate(id: string, endMs: number): void {
    const item = this.items.find((each) => each.id === id);
    if (item?.role !== 'assistant' || item.audioMs === 0) return this.#violated('item_not_found', 'truncate');
    if (item.truncated) return this.#violated('item_already_truncated', 'truncate');
    if (endMs > item.audioMs) return this.#violated('invalid_audio_end', 'truncate');
    if (endMs === item.audioMs) return this.#violated('redundant', 'truncate');
    item.truncated = true;
    item.text = '';
    item.audioMs = endMs;
    this.#tell('conversation.item.truncated', { item_id: id, content_index: 0, audio_end_ms: endMs });
  }

  // ---- The voice

  #respond(event: ClientMessage): void {
    const { fault, model } = this.#options;
    if (this.#running !== null) {
      const strict = this.#options.manner === 'strict';
      if (strict) return this.#violated('conversation_already_has_active_response', event.type);
      this.#cancel('client_cancelled');
    }
    const id = this.#newId('resp');
    this.#running = { id, rest: [], output: [] };
    this.#tell('response.created', { response: { id, status: 'in_progress', output: [] } });
    const failure = fault.failResponses?.[this.#failures];
    if (failure !== undefined) {
      this.#failures += 1;
      return this.#done('failed', { type: 'failed', error: { type: 'server_error', code: failure } });
    }
    if (fault.stall === true) return;
    const { instructions } = (event['response'] ?? this.#settings) as { readonly instructions: string };
    const reply = model({ instructions, items: this.items });
    this.#speak(this.#running, reply);
    this.#proceed();
  }

  #speak({ id, rest, output }: Running, { text, calls = [] }: Reply): void {
    const dripMs = this.#options.fault.drip === true ? pieceMs : 0;
    let atMs = this.heardMs;
    const say = (event: Readonly<Record<string, unknown>>) => rest.push({ atMs, event });
    if (text !== '') {
      const itemId = this.#newId('item');
      const ids = { response_id: id, item_id: itemId, output_index: 0, content_index: 0 };
      say({
        type: 'response.output_item.added',
        ...ids,
        item: { id: itemId, type: 'message', role: 'assistant' },
      });
      if (this.#settings?.output_modalities[0] === 'text') {
        this.items.push({ id: itemId, role: 'assistant', text, audioMs: 0, truncated: false });
        for (const piece of text.match(/.{1,40}/gsu) ?? []) {
          say({ type: 'response.output_text.delta', ...ids, delta: piece });
        }
        say({ type: 'response.output_text.done', ...ids, text });
      } else {
        const audio = (this.#options.speech ?? noiseSpeech).of(text, this.#law);
        this.items.push({ id: itemId, role: 'assistant', text, audioMs: 0, truncated: false });
        const bytes = pieceMs * 8;
        const pieces = Math.ceil(audio.length / bytes);
        for (let piece = 0; piece < pieces; piece += 1) {
          const from = Math.floor((piece * text.length) / pieces);
          const delta = text.slice(from, Math.floor(((piece + 1) * text.length) / pieces));
          say({ type: 'response.output_audio_transcript.delta', ...ids, delta });
          const sound = audio.subarray(piece * bytes, (piece + 1) * bytes);
          say({ type: 'response.output_audio.delta', ...ids, delta: this.#soundTo(sound) });
          atMs += dripMs;
        }
        say({ type: 'response.output_audio.done', ...ids });
        say({ type: 'response.output_audio_transcript.done', ...ids, transcript: text });
      }
      output.push({ id: itemId, type: 'message', role: 'assistant', status: 'completed' });
    }
    for (const { name, arguments: given } of calls) {
      const callId = this.#newId('call');
      const item = {
        id: this.#newId('item'),
        type: 'function_call',
        name,
        call_id: callId,
        arguments: JSON.stringify(given),
      };
      this.items.push({ id: item.id, role: 'tool', text: '', audioMs: 0, truncated: false, callId });
      const call = { item_id: item.id, call_id: callId, name, arguments: item.arguments };
      say({ type: 'response.function_call_arguments.done', response_id: id, ...call });
      say({ type: 'response.output_item.done', response_id: id, item });
      output.push(item);
    }
  }

  /** Sends what it is time for. */
  #proceed(): void {
    const due = this.#later.filter(({ atMs }) => atMs <= this.heardMs);
    for (const each of due) {
      this.#later.splice(this.#later.indexOf(each), 1);
      this.#send(each.event);
    }
    const running = this.#running;
    if (running === null || this.#options.fault.stall === true) return;
    while (this.#running === running) {
      const next = running.rest[0];
      if (next === undefined) return this.#done('completed', { type: 'completed' });
      if (next.atMs > this.heardMs) return;
      running.rest.shift();
      this.#send(next.event);
    }
  }

  #send({ type, ...fields }: Readonly<Record<string, unknown>>): void {
    this.#tell(String(type), fields);
    if (type !== 'response.output_audio.delta') return;
    const item = this.items.find(({ id }) => id === fields['item_id']);
    const ms = this.#soundFrom(String(fields['delta'])).length / 8;
    if (item !== undefined) item.audioMs += ms;
    this.#voiceMs += ms;
    const { dropAfterVoiceMs = Infinity } = this.#options.fault;
    if (this.#voiceMs < dropAfterVoiceMs) return;
    this.#running = null;
    this.#socket.terminate();
  }

  #cancel(reason: string): void {
    this.#done('cancelled', { type: 'cancelled', reason });
  }

  #done(status: string, details: Readonly<Record<string, unknown>>): void {
    const running = this.#running;
    if (running === null) return;
    this.#running = null;
    const output = status === 'completed' ? running.output : [];
    this.#tell('response.done', { response: { id: running.id, status, status_details: details, output } });
    if (this.#options.fault.malformed === true) this.#socket.send('{"type":');
  }

  #newId(kind: string): string {
    this.#count += 1;
    return `${kind}_${this.#count}`;
  }
}
