/** The draft of a Goal on the screen; `draft-saver.ts` saves it. */
import type { ConsoleGoalDetail, SavedDraft } from '@trunkcall/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { ask } from '../api.ts';
import { DraftSaver, type Saving } from './draft-saver.ts';

export interface DraftState extends Saving, Pick<DraftSaver, 'change' | 'noteText' | 'overwrite' | 'flush'> {}

export function useDraft(goal: ConsoleGoalDetail): DraftState {
  const client = useQueryClient();
  const [saver] = useState(
    () =>
      new DraftSaver(goal, async (json, revision) => {
        const saved = await ask<SavedDraft>('PUT', `/goals/${goal.id}/draft`, { json, revision });
        void client.invalidateQueries({ queryKey: ['goals'] });
        return saved;
      }),
  );
  const saving = useSyncExternalStore(saver.subscribe, saver.snapshot);
  // Leaving the page saves what the pause had not let through yet.
  useEffect(() => () => void saver.flush(), [saver]);
  // Leaving the console would lose what is not saved: the browser asks.
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (!saver.isSaved()) event.preventDefault();
    };
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [saver]);
  const { change, noteText, overwrite, flush } = saver;
  return { ...saving, change, noteText, overwrite, flush };
}
