/**
 * Tells when a voice begins and pauses, with the voice activity detector of WebRTC (libfvad as WebAssembly: no
 * download, one microsecond a frame).
 *
 * It judges single frames, and is wrong on some; so a voice begins when voiced frames prevail by 140 ms, and pauses
 * after 300 ms without one.
 */
import load, { type Fvad } from '@echogarden/fvad-wasm';
import { FRAME_MS, FRAME_SAMPLES } from '@trunkcall/sip';
import { assert } from '../../platform/assert.ts';

/** The strictest mode takes the least noise for speech, and still hears speech at 10 dB above noise. */
const mode = 3;
const beginsAfter = 140 / FRAME_MS;
/** How long it takes to notice that a voice has paused, milliseconds. */
export const noticedAfterMs = 300;
const pausesAfter = noticedAfterMs / FRAME_MS;

let loading: Promise<{ readonly fvad: Fvad; readonly frame: number }> | null = null;

/** Loads the detector's code, once for the process. Throws when it is not installed rightly. */
async function library() {
  loading ??= load().then((fvad) => ({ fvad, frame: fvad._malloc(2 * FRAME_SAMPLES) }));
  return loading;
}

export interface VoiceDetector {
  /** Takes consecutive 20 ms frames of samples. */
  next(samples: Int16Array): 'began' | 'paused' | null;
  /** Frees its memory. Safe to repeat; nothing else is called after it. */
  close(): void;
}

export async function openVoiceDetector(): Promise<VoiceDetector> {
  const { fvad, frame } = await library();
  let detector = fvad._fvad_new();
  assert(detector !== 0, 'there is memory for a voice detector');
  assert(fvad._fvad_set_mode(detector, mode) === 0, 'a mode of the voice detector');
  assert(fvad._fvad_set_sample_rate(detector, 8_000) === 0, 'a rate of the voice detector');
  let voiced = 0;
  let quiet = 0;
  let speaking = false;

  function isVoice(samples: Int16Array): boolean {
    // The memory may have grown, and its view with it: it is looked up each time.
    fvad.HEAP16.set(samples, frame >> 1);
    return fvad._fvad_process(detector, frame, FRAME_SAMPLES) === 1;
  }

  return {
    next(samples) {
      const voice = isVoice(samples);
      quiet = voice ? 0 : quiet + 1;
      if (speaking) {
        if (quiet < pausesAfter) return null;
        speaking = false;
        voiced = 0;
        return 'paused';
      }
      voiced = Math.max(0, voiced + (voice ? 1 : -1));
      speaking = voiced >= beginsAfter;
      return speaking ? 'began' : null;
    },
    close() {
      if (detector !== 0) fvad._fvad_free(detector);
      detector = 0;
    },
  };
}
