/** The keypad dialogue on a leg that carries sound. All decisions are in `keypad.ts`. */
import type { AudioMedia, Leg } from '../../carriers/carrier.ts';
import type { TranscriptSink } from '../agent.ts';
import { latencyOf } from '../latency.ts';
import { tellAnswer } from '../who-answered.ts';
import type { AudioHeard } from '../audio/ear.ts';
import { speechOver } from '../audio/speech-over.ts';
import type { Synthesizer } from '../audio/synthesizer.ts';
import type { Script } from './dialogue.ts';
import {
  afterHearing,
  beginKeypad,
  keypadPatienceMs,
  maxKeysNow,
  nextKeypadStep,
  type KeypadDialogue,
  type KeypadEvent,
  type KeypadStep,
} from './keypad.ts';
import { botTurn } from './speech-talk.ts';
import type { Proceeded, Talk } from './talk.ts';

export interface KeypadTalk {
  readonly script: Script;
  readonly leg: Leg<AudioMedia>;
  readonly synthesizer: Synthesizer;
  /** BCP 47. */
  readonly locale: string;
  readonly transcript: TranscriptSink;
  /** Leg time at which to wrap up, milliseconds. */
  readonly wrapUpAtMs: number;
}

type Present = Exclude<AudioHeard, { kind: 'left' }>;

/** So often a voice may cut us short. Behind that it is a television, and only keys do. */
const maxVoiceInterruptions = 3;

/** Listens to the leg from now on. */
export function keypadTalk(talk: KeypadTalk): Talk<KeypadDialogue, Present> {
  const { script, leg, transcript, wrapUpAtMs } = talk;
  const speech = speechOver(leg, talk.synthesizer, talk.locale);
  let voiceInterruptions = 0;
  let interrupted = false;
  /** Whom our next words answer. */
  let waiting: { readonly stoppedAtMs: number; readonly decidedAtMs: number } | null = null;

  async function listen(dialogue: KeypadDialogue): Promise<Present | null> {
    const now = leg.clock.now();
    const patience = keypadPatienceMs(script, dialogue, now);
    const left = wrapUpAtMs - now;
    const heard = await speech.hear(
      left > 0 ? Math.min(patience, left) : patience,
      maxKeysNow(script, dialogue),
    );
    if (heard.kind === 'left') return null;
    const answerable = heard.kind === 'keys' || heard.kind === 'voice';
    waiting = answerable ? { stoppedAtMs: heard.endedAtMs, decidedAtMs: leg.clock.now() } : null;
    if (interrupted && heard.kind === 'voice') voiceInterruptions += 1;
    return heard;
  }

  async function speak({ dialogue, say }: KeypadStep): Promise<Proceeded<KeypadDialogue>> {
    const isMessage = dialogue.end?.kind === 'machine';
    const voiceMay = !isMessage && voiceInterruptions < maxVoiceInterruptions;
    const said = await speech.say(say.join(' '), voiceMay ? 'keys_and_voice' : 'keys');
    if (said.kind === 'failed') {
      return { dialogue: { ...dialogue, end: { kind: 'failed', note: said.note } }, interrupted: false };
    }
    const { spoken, sound } = said;
    const latency =
      waiting === null || sound === null
        ? null
        : latencyOf({ ...waiting, modelAtMs: null, soundAtMs: sound.madeAtMs, playedAtMs: sound.playedAtMs });
    if (spoken.heard !== '') transcript.turn({ ...botTurn(spoken), latency });
    interrupted = spoken.interrupted;
    return { dialogue: afterHearing(script, dialogue, spoken.heard), interrupted };
  }

  return {
    begin: beginKeypad,
    listen,
    proceed(dialogue, heard) {
      const step = nextKeypadStep(script, dialogue, eventOf(heard, leg.clock.now() >= wrapUpAtMs));
      tellAnswer(transcript, dialogue.answer, step.dialogue.answer);
      if (heard.kind === 'keys' || heard.kind === 'voice') {
        const { written: text, speaker, note } = step;
        const notes = note === null ? [] : [note];
        const offsetMs = heard.startedAtMs;
        transcript.turn({ speaker, text, offsetMs, interrupted: false, notes, latency: null });
      }
      return speak(step);
    },
  };
}

function eventOf(heard: Present, late: boolean): KeypadEvent {
  switch (heard.kind) {
    case 'beep':
    case 'information_tone':
      return { kind: heard.kind };
    case 'silence':
      return { kind: 'silence', late };
    case 'keys':
      return { kind: 'keys', digits: heard.digits, late };
    case 'voice':
      return { kind: 'voice', lastedMs: heard.endedAtMs - heard.startedAtMs, late };
  }
}
