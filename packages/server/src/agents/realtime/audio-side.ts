/** A conversation on a leg that carries sound: G.711 goes to the provider and comes from it as it is, or as samples. */
import { decodeG711, encodeG711, FRAME_MS, FRAME_SAMPLES, SILENCE } from '@trunkcall/sip';
import type { AudioMedia, Leg } from '../../carriers/carrier.ts';
import { VoiceActivity } from '../audio/voice-activity.ts';
import type { Conversation, Side } from './conversation.ts';
import type { Dialect } from './dialect.ts';
import { answerFromMs } from './moves.ts';

/** Kept while there is no session, so that the callee's first words are not lost: 10 s. */
const maxKept = 500;

export function audioSide(leg: Leg<AudioMedia>, sound: Dialect['sound'], conversation: Conversation): Side {
  const { media, clock } = leg;
  const codec = media.law === 'mu' ? 'PCMU' : 'PCMA';
  const silence = new Uint8Array(FRAME_SAMPLES).fill(SILENCE[codec]);
  const kept: { readonly frame: Uint8Array; readonly startMs: number }[] = [];
  /** Leg time at which the sound of this session begins. */
  let beganAtMs: number | null = null;
  // The server says when a turn is over, and not when its last sound was.
  const activity = new VoiceActivity();
  const samples = new Int16Array(FRAME_SAMPLES);
  let lastSoundAtMs = clock.now();

  function append(frame: Uint8Array): void {
    const audio = sound === 'g711' ? Buffer.from(frame) : bytesOf(decodeG711(codec, frame));
    conversation.send({ type: 'input_audio_buffer.append', audio: audio.toString('base64') });
  }

  function noticeAnswer(): void {
    const fromMs = answerFromMs(conversation.session);
    if (fromMs !== null && media.playedMs() > fromMs) conversation.take({ kind: 'answer_heard' });
  }

  media.listen({
    frame(frame) {
      activity.next(decodeG711(codec, frame, samples));
      if (activity.loud) lastSoundAtMs = clock.now();
      noticeAnswer();
      const { connection, machine, connecting, end } = conversation.session;
      if (end !== null) return;
      // Nothing that a machine makes heard while it records may interrupt the message; and who waits to be connected
      // with somebody else does not speak to us.
      const heard = machine === 'leaving_message' || connecting ? silence : frame;
      const startMs = clock.now() - FRAME_MS;
      if (connection === 'up' && beganAtMs !== null) return append(heard);
      kept.push({ frame: heard, startMs });
      if (kept.length > maxKept) kept.shift();
    },
    key: (key) => conversation.take({ kind: 'key', key }),
    beep: () => conversation.take({ kind: 'beep' }),
    informationTone: () => conversation.take({ kind: 'information_tone' }),
  });
  void leg.ended.then(() => conversation.take({ kind: 'left', playedMs: media.playedMs() }));

  return {
    playedMs: () => media.playedMs(),
    lastSoundAtMs: () => lastSoundAtMs,
    connected() {
      beganAtMs = kept[0]?.startMs ?? clock.now();
      for (const { frame } of kept.splice(0)) append(frame);
    },
    soundOf: (audio) => (sound === 'g711' ? audio : encodeG711(codec, samplesOf(audio))),
    legTimeOf: (audioMs) => (beganAtMs === null ? null : Math.max(0, beganAtMs + audioMs)),
    perform(effect) {
      switch (effect.kind) {
        case 'play':
          if (!media.play(effect.audio)) conversation.take({ kind: 'line_full' });
          return;
        case 'mark':
          void media.mark().then((how) => {
            if (how === 'played') conversation.take({ kind: 'played_out', mark: effect.id });
          });
          return;
        case 'clear':
          void media.clear().then(({ playedMs }) => conversation.take({ kind: 'cleared', playedMs }));
          return;
        case 'press':
          void media.sendDigits(effect.keys);
          return;
        case 'say':
      }
    },
    settled: (dueAtMs) => conversation.wakeAt(dueAtMs),
  };
}

/** Linear samples as bytes, little-endian whatever this machine is. */
function bytesOf(samples: Int16Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (const [at, sample] of samples.entries()) bytes.writeInt16LE(sample, at * 2);
  return bytes;
}

function samplesOf(audio: Uint8Array): Int16Array {
  const bytes = Buffer.from(audio.buffer, audio.byteOffset, audio.length);
  return Int16Array.from({ length: Math.floor(bytes.length / 2) }, (_, at) => bytes.readInt16LE(at * 2));
}
