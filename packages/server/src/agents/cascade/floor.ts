/**
 * How a conversation listens and speaks, whatever the leg carries: `speech-floor.ts` for sentences, `audio-floor.ts`
 * for sound.
 */
import type { Heard, Spoken } from '../../carriers/carrier.ts';
import type { Failure } from './ports.ts';

export type Utterance = Extract<Heard, { kind: 'utterance' }>;

export interface ConversationFloor {
  /** Waits for the callee, at most `withinMs`; who has begun by then is heard out. One wait at a time. */
  hear(withinMs: number): Promise<Heard | Failure>;
  /** Says sentences as they come, until the callee takes the floor. What was heard may be nothing. */
  say(sentences: AsyncIterable<string>): Promise<Said>;
  /** Presses keys, one of `0-9*#` each. */
  press(keys: string): Promise<void>;
  /** What was heard so far of what we said last; null where that is not known. */
  heardSoFar(): Spoken | null;
  /** What the callee said and `hear` has not told, or told without being followed by anything yet. */
  untold(): readonly Utterance[];
  /** Lets go of the leg. Safe to repeat. */
  close(): void;
}

export interface Said {
  readonly spoken: Spoken;
  /** When its first sound was made, and when that was on the line; null where there is no sound of ours. */
  readonly sound: { readonly madeAtMs: number; readonly playedAtMs: number } | null;
  /** Why it could not all be said. */
  readonly failure: Failure | null;
}
