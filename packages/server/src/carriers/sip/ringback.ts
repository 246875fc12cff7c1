/** The tone by which somebody hears that a phone rings (ITU-T E.180), as their own network would make it. */
import { encodeG711 } from '@trunkcall/sip';

interface Cadence {
  readonly frequencies: readonly number[];
  /** Milliseconds of tone, and from one beginning to the next. */
  readonly onMs: number;
  readonly everyMs: number;
}

const northAmerican: Cadence = { frequencies: [440, 480], onMs: 2_000, everyMs: 6_000 };
/** What most other countries use, or something that sounds much like it. */
const common: Cadence = { frequencies: [425], onMs: 1_000, everyMs: 5_000 };

const amplitude = 3_000;

/** One burst of the tone that who calls `phone` (canonical E.164) expects, and how often it comes. */
export function ringbackOf(phone: string, law: 'mu' | 'a'): { sound: Uint8Array; everyMs: number } {
  const { frequencies, onMs, everyMs } = phone.startsWith('+1') ? northAmerican : common;
  const samples = Int16Array.from({ length: onMs * 8 }, (_, at) =>
    frequencies.reduce(
      (sum, frequency) => sum + amplitude * Math.sin((2 * Math.PI * frequency * at) / 8_000),
      0,
    ),
  );
  return { sound: encodeG711(law === 'mu' ? 'PCMU' : 'PCMA', samples), everyMs };
}
