/**
 * The draft on the screen, saved by itself.
 *
 *   typing ──pause──▶ save (If-Match: the revision that was seen) ──▶ the next revision, and what is wrong
 *                        └── 412: somebody else was faster ──▶ conflict, until the author decides
 *
 * One save is under way at a time; what was typed meanwhile goes with the next.
 */
import type { ConsoleGoalDetail, GoalFileProblem, SavedDraft } from '@trunkcall/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, ask } from '../api.ts';

const pauseMs = 700;

export interface DraftState {
  readonly draft: unknown;
  readonly problems: readonly GoalFileProblem[];
  readonly revision: number;
  readonly state: 'saved' | 'waiting' | 'saving' | 'failed';
  /** The revision that somebody else made; null without a conflict. */
  readonly conflict: number | null;
  readonly change: (draft: unknown) => void;
  /** Saves over somebody else's draft. */
  readonly overwrite: () => void;
  /** Saves what was not saved; resolves to whether everything is. */
  readonly flush: () => Promise<boolean>;
}

export function useDraft(goal: ConsoleGoalDetail): DraftState {
  const client = useQueryClient();
  const [draft, setDraft] = useState<unknown>(goal.draft);
  const [problems, setProblems] = useState(goal.problems);
  const [revision, setRevision] = useState(goal.revision);
  const [state, setState] = useState<DraftState['state']>('saved');
  const [conflict, setConflict] = useState<number | null>(null);
  const latest = useRef({ draft: goal.draft, revision: goal.revision, dirty: false });
  const saving = useRef<Promise<void> | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const save = useCallback(async (): Promise<boolean> => {
    clearTimeout(timer.current);
    if (saving.current !== null) await saving.current;
    if (!latest.current.dirty) return true;
    latest.current.dirty = false;
    setState('saving');
    const sent = { json: latest.current.draft, revision: latest.current.revision };
    const work = ask<SavedDraft>('PUT', `/goals/${goal.id}/draft`, sent).then(
      (saved) => {
        latest.current.revision = saved.revision;
        setRevision(saved.revision);
        setProblems(saved.problems);
        setConflict(null);
        setState(latest.current.dirty ? 'waiting' : 'saved');
        void client.invalidateQueries({ queryKey: ['goals'] });
      },
      (error: unknown) => {
        latest.current.dirty = true;
        setState('failed');
        const theirs = error instanceof ApiError ? error.details['revision'] : undefined;
        if (error instanceof ApiError && error.status === 412 && typeof theirs === 'number')
          setConflict(theirs);
      },
    );
    saving.current = work;
    await work;
    saving.current = null;
    return !latest.current.dirty;
  }, [client, goal.id]);

  const change = useCallback(
    (next: unknown) => {
      latest.current.draft = next;
      latest.current.dirty = true;
      setDraft(next);
      setState('waiting');
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void save(), pauseMs);
    },
    [save],
  );

  const overwrite = useCallback(() => {
    if (conflict === null) return;
    latest.current.revision = conflict;
    void save();
  }, [conflict, save]);

  // Leaving the page saves what the pause had not let through yet.
  useEffect(() => () => void save(), [save]);
  return { draft, problems, revision, state, conflict, change, overwrite, flush: save };
}
