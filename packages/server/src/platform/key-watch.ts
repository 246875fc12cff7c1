/**
 * What a provider last said of the key that is sent to it.
 *
 *   taken ◀──any answer that takes it── rejected
 *     └─────────────401, 403──────────────▶┘
 *
 * A rejected key is reported until the provider takes it. It holds up new calls for a minute after each rejection alone:
 * then one more may try, or a key that was mended at the provider's would never be noticed. The state is this process's.
 */
import type { Clock } from './clock.ts';

/** Milliseconds. */
const holdsUpFor = 60_000;

export interface KeyWatch {
  /** Told the HTTP status of each answer. Others than success and rejection say nothing of the key. */
  saw(status: number): void;
  /** That the key is rejected; null when it is not, as far as is known. */
  rejection(): string | null;
  /** The same, as long as it should hold up new calls. */
  obstacle(): string | null;
}

/** `variable` is the setting that holds the key; it is named, its value never (I10). */
export function createKeyWatch(clock: Clock, variable: string): KeyWatch {
  const text = `the provider rejected the key in ${variable}`;
  let rejectedAtMs: number | null = null;
  const rejection = () => (rejectedAtMs === null ? null : text);
  return {
    saw(status) {
      if (status === 401 || status === 403) rejectedAtMs = clock.monotonic();
      else if (status < 400) rejectedAtMs = null;
    },
    rejection,
    obstacle: () =>
      rejectedAtMs !== null && clock.monotonic() - rejectedAtMs < holdsUpFor ? rejection() : null,
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
