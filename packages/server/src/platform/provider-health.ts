/** Remembers how the providers outside did, in this process: when one last answered, and how one last failed. */
import type { ProviderReport } from '@trunkcall/contract';
import type { Clock } from './clock.ts';

type Provider = ProviderReport['provider'];

export interface ProviderHealth {
  answered(provider: Provider): void;
  /** `note` holds no word of what was said, and no key (I10). */
  failed(provider: Provider, note: string): void;
  /** Of those that were asked since the start. */
  reports(): readonly ProviderReport[];
}

interface Known {
  readonly answeredAt: number | null;
  readonly failure: { readonly at: number; readonly note: string } | null;
}

const nothing: Known = { answeredAt: null, failure: null };

/** `pauseMs`: for how long a provider is left alone now, milliseconds. */
export function createProviderHealth(clock: Clock, pauseMs: (provider: Provider) => number): ProviderHealth {
  const known = new Map<Provider, Known>();
  const learn = (provider: Provider, news: Partial<Known>) =>
    void known.set(provider, { ...(known.get(provider) ?? nothing), ...news });
  return {
    answered: (provider) => learn(provider, { answeredAt: clock.now() }),
    failed: (provider, note) => learn(provider, { failure: { at: clock.now(), note } }),
    reports: () =>
      [...known].map(([provider, { answeredAt, failure }]) => {
        const pause = pauseMs(provider);
        return {
          provider,
          last_success_at: answeredAt === null ? null : iso(answeredAt),
          last_failure: failure === null ? null : { ...failure, at: iso(failure.at) },
          paused_until: pause > 0 ? iso(clock.now() + pause) : null,
        };
      }),
  };
}

const iso = (time: number) => new Date(time).toISOString();
