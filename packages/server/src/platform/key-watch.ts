/**
 * What a provider last said of the key that is sent to it.
 *
 *   taken ◀──any answer that takes it── rejected
 *     └─────────────401, 403──────────────▶┘
 *
 * A rejected key is reported until the provider takes it. It holds up new calls for a while after each rejection alone:
 * then one may try, or a key that was mended at the provider's would never be noticed. Each such try that fails doubles
 * the while, because it costs somebody a call that nobody speaks on. The state is this process's.
 */
import type { AgentSettings } from '@trunkcall/contract';
import type { Clock } from './clock.ts';

/** For so long a rejected key holds up new calls, at first and at most; milliseconds. */
const firstPauseMs = 60_000;
const longestPauseMs = 10 * 60_000;
/** One try is given so long to show how the key stands, milliseconds. */
const tryingMs = 60_000;

export interface KeyWatch {
  /** Told the HTTP status of each answer. Others than success and rejection say nothing of the key. */
  saw(status: number): void;
  /** That the key is rejected; null when it is not, as far as is known. */
  rejection(): string | null;
  /** The same, as long as it should hold up new calls. */
  obstacle(): string | null;
  /** A call is placed. Of a rejected key this is the one that tries it: the others are held up until that shows, or a minute. */
  tries(): void;
}

interface Rejected {
  /** Milliseconds. */
  readonly pauseMs: number;
  /** It holds up new calls until then, on the monotonic clock. */
  readonly until: number;
  readonly tried: boolean;
}

/** `variable` is the setting that holds the key; it is named, its value never (I10). */
export function createKeyWatch(clock: Clock, variable: string): KeyWatch {
  const text = `the provider rejected the key in ${variable}`;
  let rejected: Rejected | null = null;
  const holdsUp = ({ until }: Rejected) => clock.monotonic() < until;

  /** The same pause for all that were under way when the first was rejected; longer for one that tried behind it. */
  function pauseAfter(before: Rejected | null): number {
    if (before === null) return firstPauseMs;
    const again = before.tried || !holdsUp(before);
    return again ? Math.min(2 * before.pauseMs, longestPauseMs) : before.pauseMs;
  }

  return {
    saw(status) {
      if (status === 401 || status === 403) {
        const pauseMs = pauseAfter(rejected);
        rejected = { pauseMs, until: clock.monotonic() + pauseMs, tried: false };
      } else if (status < 400) rejected = null;
    },
    rejection: () => (rejected === null ? null : text),
    obstacle: () => (rejected !== null && holdsUp(rejected) ? text : null),
    tries() {
      if (rejected === null || holdsUp(rejected)) return;
      rejected = { ...rejected, until: clock.monotonic() + tryingMs, tried: true };
    },
  };
}

/** The keys of all providers of this process. */
export interface ProviderKeys {
  readonly chat: KeyWatch;
  readonly realtime: KeyWatch;
  readonly transcribe: KeyWatch;
  readonly speech: KeyWatch;
}

export function createProviderKeys(clock: Clock): ProviderKeys {
  return {
    chat: createKeyWatch(clock, 'TRUNKCALL_CHAT_API_KEY'),
    realtime: createKeyWatch(clock, 'TRUNKCALL_REALTIME_API_KEY'),
    transcribe: createKeyWatch(clock, 'TRUNKCALL_TRANSCRIBE_API_KEY'),
    speech: createKeyWatch(clock, 'TRUNKCALL_SPEECH_API_KEY'),
  };
}

/** A sentence per key that is rejected. */
export function rejectedKeys(keys: ProviderKeys): string[] {
  return Object.values<KeyWatch>({ ...keys }).flatMap((key) => key.rejection() ?? []);
}

export type KeysOf = (kind: AgentSettings['kind']) => readonly KeyWatch[];

/** The keys that a call of an agent of this kind may need; `draws`: a model draws its result. */
export function neededKeys(
  kind: AgentSettings['kind'],
  { chat, realtime, transcribe, speech }: ProviderKeys,
  draws: boolean,
): readonly KeyWatch[] {
  switch (kind) {
    // It notes what a result needs by itself.
    case 'scripted':
      return [];
    case 'realtime':
      return draws ? [realtime, chat] : [realtime];
    case 'cascade':
      return [chat, transcribe, speech];
  }
}
