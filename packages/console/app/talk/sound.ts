/** Microphone and loudspeaker of a talk. */
import type { FromLine, ToLine } from './line-messages.ts';
import type { SoundProblem } from './talk-state.ts';

export class NoSound extends Error {
  override readonly name = 'NoSound';
  readonly problem: SoundProblem;

  constructor(problem: SoundProblem) {
    super(problem);
    this.problem = problem;
  }
}

export interface Sound {
  /** Plays 20 ms of G.711 µ-law. */
  play(frame: Uint8Array): void;
  /** What was not heard yet is not to be heard. */
  clear(): void;
  mute(muted: boolean): void;
  /** Gives the microphone back now, and the loudspeaker when what is left was heard. Safe to repeat. */
  close(): void;
}

/** How long the loudspeaker stays open for what is left, milliseconds. */
const lastWordsMs = 1_500;

/** Browsers give a microphone to pages that came by HTTPS, and to those of this machine. */
export const hasMicrophone = (): boolean => window.isSecureContext && 'mediaDevices' in navigator;

/** Asks for the microphone. Throws: NoSound. */
export async function openSound(onFrame: (message: FromLine) => void): Promise<Sound> {
  if (!hasMicrophone()) throw new NoSound('insecure');
  const context = new AudioContext({ latencyHint: 'interactive' });
  let microphone: MediaStream | undefined;
  const close = () => {
    for (const track of microphone?.getTracks() ?? []) track.stop();
    if (context.state !== 'closed') void context.close();
  };
  try {
    microphone = await askForMicrophone();
    await prepare(context);
    return soundOf(context, microphone, onFrame, close);
  } catch (error) {
    close();
    throw error instanceof NoSound ? error : new NoSound('failed');
  }
}

/** Loads the line onto the context's audio thread, and lets it run. */
export async function prepare(context: AudioContext): Promise<void> {
  const { default: worklet } = await import('./line.worklet.ts?worker&url');
  await context.audioWorklet.addModule(worklet);
  await context.resume();
}

async function askForMicrophone(): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    });
  } catch (error) {
    throw new NoSound(error instanceof DOMException && error.name === 'NotFoundError' ? 'missing' : 'denied');
  }
}

function soundOf(
  context: AudioContext,
  microphone: MediaStream,
  onFrame: (message: FromLine) => void,
  close: () => void,
): Sound {
  const line = new AudioWorkletNode(context, 'telephone-line', { outputChannelCount: [1] });
  const tell = (message: ToLine) => line.port.postMessage(message, []);
  line.port.addEventListener('message', ({ data }: MessageEvent<FromLine>) => onFrame(data));
  line.port.start();
  context.createMediaStreamSource(microphone).connect(line).connect(context.destination);
  return {
    play: (frame) => tell({ type: 'sound', frame }),
    clear: () => tell({ type: 'clear' }),
    mute: (muted) => tell({ type: 'mute', muted }),
    close() {
      tell({ type: 'over' });
      for (const track of microphone.getTracks()) track.stop();
      setTimeout(close, lastWordsMs);
    },
  };
}
