/** Keeps what is shown true: the server says what has moved, and what depends on them is asked for again. */
import type { LiveNews } from '@trunkcall/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ask } from './api.ts';
import { sessionKey } from './client.ts';
import { keepLive } from './live-stream.ts';

/** Lists are asked for at most this often, however much moves. */
const listsEveryMs = 1_500;
/** What shows something that moves: the page of the one itself, by its id, and lists with others. */
const shown = {
  runs: { one: 'run', lists: ['runs', 'overview'] },
  calls: { one: 'call', lists: ['calls', 'overview'] },
  // An endpoint may have been disabled; the pages of a call and a Run list their deliveries.
  deliveries: { one: 'delivery', lists: ['deliveries', 'webhooks', 'call', 'run'] },
  system: { one: 'system', lists: ['system', 'trunks', 'overview'] },
} as const;
const prolongEveryMs = 10 * 60_000;

/** Whether the page is told what moves. */
export function useLive(): boolean {
  const client = useQueryClient();
  const [isLive, setIsLive] = useState(true);
  useEffect(() => {
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
    const listeners = Object.entries(shown).map(([event, { one, lists: names }]) => {
      const refresh = (data: string) => {
        const { moved } = JSON.parse(data) as LiveNews;
        for (const { id } of moved) void client.invalidateQueries({ queryKey: [one, id] });
        refreshLists(names);
      };
      return [event, refresh] as const;
    });
    const all = Object.values(shown).flatMap(({ one, lists: names }) => [one, ...names]);
    const close = keepLive('/console/api/live', {
      on: Object.fromEntries(listeners),
      // What was missed while the stream was away.
      onOpen: () => refreshLists(all),
      // It may have been refused because the session has ended.
      onRefused: () => refreshLists([...sessionKey, ...all]),
      onLive: setIsLive,
    });
    return () => {
      close();
      clearTimeout(lists);
    };
  }, [client]);
  return isLive;
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
