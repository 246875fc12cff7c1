/**
 * The draft on the screen, saved by itself.
 *
 *   typing ──pause──▶ save (If-Match: the revision that was seen) ──▶ the next revision, and what is wrong
 *                        ├── 412: somebody else was faster ──▶ conflict, until the author decides
 *                        └── refused, or no answer ──▶ the reason; what may pass by itself is tried again, later and later
 *
 * One save is under way at a time; what was typed meanwhile goes with the next.
 */
import type { ConsoleGoalDetail, GoalFileProblem, SavedDraft } from '@trunkcall/contract';
import { ApiError } from '../api.ts';

const pauseMs = 700;
const retryMs = { first: 1_000, most: 30_000 };

export interface Saving {
  readonly draft: unknown;
  readonly problems: readonly GoalFileProblem[];
  readonly revision: number;
  readonly state: 'saved' | 'waiting' | 'saving' | 'failed';
  /** Why the last save failed; null when it did not, and with a conflict. */
  readonly error: unknown;
  /** The revision that somebody else made; null without a conflict. */
  readonly conflict: number | null;
  /** Whether there is text on the screen that is no JSON, and so in no draft. */
  readonly isUnread: boolean;
}

/** What keeps the text on the screen from being saved; null when nothing does. */
export function hindranceOf({ conflict, error, isUnread }: Saving): 'conflict' | 'failed' | 'unread' | null {
  if (conflict !== null) return 'conflict';
  if (error !== null) return 'failed';
  return isUnread ? 'unread' : null;
}

export class DraftSaver {
  readonly #put: (draft: unknown, revision: number) => Promise<SavedDraft>;
  readonly #listeners = new Set<() => void>();
  /** The places whose text is no JSON. */
  readonly #unread = new Set<string>();
  #now: Saving;
  #isDirty = false;
  #failures = 0;
  #work: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    { draft, problems, revision }: Pick<ConsoleGoalDetail, 'draft' | 'problems' | 'revision'>,
    put: (draft: unknown, revision: number) => Promise<SavedDraft>,
  ) {
    this.#put = put;
    this.#now = { draft, problems, revision, state: 'saved', error: null, conflict: null, isUnread: false };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): Saving => this.#now;

  readonly change = (draft: unknown): void => {
    this.#isDirty = true;
    if (this.#now.conflict !== null) return this.#set({ draft });
    this.#set({ draft, state: 'waiting' });
    this.#saveIn(pauseMs);
  };

  /** Notes whether the text at a place is no JSON. */
  readonly noteText = (place: string, isUnread: boolean): void => {
    if (isUnread) this.#unread.add(place);
    else this.#unread.delete(place);
    if (this.#now.isUnread !== this.#unread.size > 0) this.#set({ isUnread: !this.#now.isUnread });
  };

  /** Saves over somebody else's draft. */
  readonly overwrite = (): void => {
    const { conflict } = this.#now;
    if (conflict === null) return;
    this.#set({ revision: conflict, conflict: null });
    void this.flush();
  };

  /** Saves what was not saved; resolves to whether everything on the screen is. */
  readonly flush = async (): Promise<boolean> => {
    while (this.#work !== null) await this.#work;
    let isHindered = this.#now.conflict !== null;
    while (this.#isDirty && !isHindered) {
      this.#work = this.#save();
      await this.#work;
      isHindered = hindranceOf(this.#now) !== null;
    }
    return this.isSaved();
  };

  readonly isSaved = (): boolean => !this.#isDirty && this.#work === null && !this.#now.isUnread;

  async #save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isDirty = false;
    this.#set({ state: 'saving' });
    try {
      const saved = await this.#put(this.#now.draft, this.#now.revision);
      this.#failures = 0;
      this.#set({ ...saved, error: null, state: this.#isDirty ? 'waiting' : 'saved' });
    } catch (error) {
      this.#isDirty = true;
      const conflict = overtakenBy(error);
      this.#set({ state: 'failed', conflict, error: conflict === null ? error : null });
      clearTimeout(this.#timer);
      if (mayPass(error)) this.#saveIn(Math.min(retryMs.first * 2 ** this.#failures, retryMs.most));
      this.#failures += 1;
    }
    this.#work = null;
  }

  #saveIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), ms);
  }

  #set(part: Partial<Saving>): void {
    this.#now = { ...this.#now, ...part };
    for (const listener of this.#listeners) listener();
  }
}

/** The revision of somebody who was faster; null for every other failure. */
function overtakenBy(error: unknown): number | null {
  const revision = error instanceof ApiError && error.status === 412 ? error.details['revision'] : undefined;
  return typeof revision === 'number' ? revision : null;
}

/** Whether the same save may succeed a little later: there was no answer, or none of ours. */
const mayPass = (error: unknown): boolean =>
  error instanceof ApiError && [0, 429, 502, 503, 504].includes(error.status);
