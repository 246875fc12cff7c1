/** Keeps what is shown true: the server says what has moved, and what depends on them is asked for again. */
import type { LiveNews } from '@trunkcall/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ask } from './api.ts';

/** Lists are asked for at most this often, however much moves. */
const listsEveryMs = 1_500;
/** What shows something that moves: the page of the one itself, by its id, and lists with others. */
const shown = {
  runs: { one: 'run', lists: ['runs', 'overview'] },
  calls: { one: 'call', lists: ['calls'] },
  // An endpoint may have been disabled; the page of a call lists its deliveries.
  deliveries: { one: 'delivery', lists: ['deliveries', 'webhooks', 'call'] },
  system: { one: 'system', lists: ['system', 'trunks', 'overview'] },
} as const;
const prolongEveryMs = 10 * 60_000;

export function useLive(): void {
  const client = useQueryClient();
  useEffect(() => {
    const stream = new EventSource('/console/api/live');
    const due = new Set<string>();
    let lists: ReturnType<typeof setTimeout> | undefined;
    const refreshLists = (names: readonly string[]) => {
      for (const name of names) due.add(name);
      lists ??= setTimeout(() => {
        lists = undefined;
        for (const name of due) void client.invalidateQueries({ queryKey: [name] });
        due.clear();
      }, listsEveryMs);
    };
    for (const [event, { one, lists: names }] of Object.entries(shown)) {
      stream.addEventListener(event, ({ data }: MessageEvent<string>) => {
        const { moved } = JSON.parse(data) as LiveNews;
        for (const { id } of moved) void client.invalidateQueries({ queryKey: [one, id] });
        refreshLists(names);
      });
    }
    // What was missed while the stream was away.
    stream.addEventListener('open', () =>
      refreshLists(Object.values(shown).flatMap(({ one, lists: names }) => [one, ...names])),
    );
    return () => {
      stream.close();
      clearTimeout(lists);
    };
  }, [client]);
}

/** Keeps the session alive while somebody is at the page, and only then. */
export function useProlonging(): void {
  useEffect(() => {
    let lastMs = Date.now();
    const touched = () => {
      if (Date.now() - lastMs < prolongEveryMs) return;
      lastMs = Date.now();
      // A failure shows itself with the next thing that is asked for.
      ask('POST', '/session/prolong').catch(() => undefined);
    };
    const events = ['pointerdown', 'keydown'] as const;
    for (const name of events) window.addEventListener(name, touched);
    return () => {
      for (const name of events) window.removeEventListener(name, touched);
    };
  }, []);
}
