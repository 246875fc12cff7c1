/** Keeps what is shown true: the server says which runs have moved, and what depends on them is asked for again. */
import type { LiveRuns } from '@trunkcall/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ask } from './api.ts';

/** Lists are asked for at most this often, however many runs move. */
const listsEveryMs = 1_500;
const prolongEveryMs = 10 * 60_000;

export function useLive(): void {
  const client = useQueryClient();
  useEffect(() => {
    const stream = new EventSource('/console/api/live');
    let lists: ReturnType<typeof setTimeout> | undefined;
    const refreshLists = () => {
      lists ??= setTimeout(() => {
        lists = undefined;
        void client.invalidateQueries({ queryKey: ['runs'] });
        void client.invalidateQueries({ queryKey: ['overview'] });
      }, listsEveryMs);
    };
    stream.addEventListener('runs', (event: MessageEvent<string>) => {
      const { runs } = JSON.parse(event.data) as LiveRuns;
      for (const { id } of runs) void client.invalidateQueries({ queryKey: ['run', id] });
      refreshLists();
    });
    // What was missed while the stream was away.
    stream.addEventListener('open', refreshLists);
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
