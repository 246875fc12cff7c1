/**
 * A Realtime provider of fixed delay: its detector fires after 40 ms of voice, a turn is over after 200 ms of silence,
 * and an answer begins 100 ms after it was asked for, all sound at once. It writes down when what happened.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

const frameBytes = 160;
const firesAfterFrames = 2;
const silentFrames = 10;
const delayMs = 100;
/** A byte of the voice in this benchmark. */
export const voiceByte = 0x20;

/** Not silence and not comfort noise. */
export const isVoice = (byte: number | undefined): boolean => byte !== undefined && (byte & 0x7f) < 0x50;

/** How one conversation's provider saw it; times of `performance.now()`. */
export interface Session {
  /** When the detector last fired. */
  firedAtMs: number;
  /** What the provider itself took of the last turn: its silence and its delay. */
  ownMs: number;
  /** How long the next answers sound, milliseconds. */
  answerMs: number;
}

export interface Provider {
  readonly url: string;
  session(id: number): Session;
  close(): void;
}

export async function startProvider(): Promise<Provider> {
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  const sessions = new Map<string, Session>();
  const sessionOf = (name: string): Session => {
    const known = sessions.get(name) ?? { firedAtMs: 0, ownMs: 0, answerMs: 1_000 };
    sessions.set(name, known);
    return known;
  };
  server.on('connection', (socket, { url = '' }) => {
    const model = new URL(url, 'ws://localhost').searchParams.get('model') ?? '';
    if (model === 'bare') socket.on('message', (data) => socket.send(data));
    else serve(socket, sessionOf(model));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/realtime`,
    session: (id) => sessionOf(`call-${id}`),
    close() {
      for (const client of server.clients) client.terminate();
      http.close();
    },
  };
}

function serve(socket: WebSocket, session: Session): void {
  let voiced = 0;
  let silent = 0;
  let speaking = false;
  let turns = 0;
  let responses = 0;
  let running: string | null = null;
  let lastVoiceAtMs = 0;
  let turnTookMs = 0;
  const tell = (type: string, fields: object = {}) => socket.send(JSON.stringify({ type, ...fields }));

  function hear(frame: Uint8Array): void {
    const voice = isVoice(frame[frameBytes / 2]);
    voiced = voice ? voiced + 1 : 0;
    silent = voice ? 0 : silent + 1;
    if (voice) lastVoiceAtMs = performance.now();
    const item = { item_id: `turn_${turns}` };
    if (!speaking && voiced === firesAfterFrames) {
      speaking = true;
      session.firedAtMs = performance.now();
      tell('input_audio_buffer.speech_started', item);
      if (running !== null) done('cancelled');
    } else if (speaking && silent === silentFrames) {
      speaking = false;
      turns += 1;
      turnTookMs = performance.now() - lastVoiceAtMs;
      tell('input_audio_buffer.speech_stopped', item);
      tell('input_audio_buffer.committed', item);
      const words = 'conversation.item.input_audio_transcription.completed';
      tell(words, { ...item, transcript: `Turn ${turns}.` });
    }
  }

  function respond(): void {
    const askedAtMs = performance.now();
    responses += 1;
    const id = `resp_${responses}`;
    running = id;
    tell('response.created', { response: { id } });
    setTimeout(() => {
      if (running !== id) return;
      const ids = { response_id: id, item_id: `item_${id}` };
      const audio = Buffer.alloc(session.answerMs * 8, voiceByte).toString('base64');
      tell('response.output_audio.delta', { ...ids, delta: audio });
      session.ownMs = turnTookMs + (performance.now() - askedAtMs);
      tell('response.output_audio_transcript.done', { ...ids, transcript: 'Parcel Post.' });
      done('completed');
    }, delayMs);
  }

  function done(status: 'completed' | 'cancelled'): void {
    tell('response.done', { response: { id: running, status, output: [] } });
    running = null;
  }

  tell('session.created', { session: {} });
  socket.on('message', (data) => {
    const event = JSON.parse((data as Buffer).toString()) as { type: string; audio?: string };
    if (event.type === 'session.update') tell('session.updated', { session: {} });
    else if (event.type === 'response.create') respond();
    else if (event.type === 'input_audio_buffer.append') {
      const sound = Buffer.from(event.audio ?? '', 'base64');
      for (let at = 0; at < sound.length; at += frameBytes) hear(sound.subarray(at, at + frameBytes));
    }
  });
}
