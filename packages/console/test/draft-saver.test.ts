import type { SavedDraft } from '@trunkcall/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../app/api.ts';
import { DraftSaver, hindranceOf } from '../app/goal/draft-saver.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Long after every pause between two tries. */
const aMinute = 60_000;
const unreachable = new ApiError(0, 'unreachable', '', {});
const refused = new ApiError(400, 'invalid_request', 'the body has a field named __proto__', {});
const overtaken = (revision: number) => new ApiError(412, 'edit_conflict', '', { revision });

/** A saver and its server, which fails as often as it is told to and then keeps what is sent. */
function begin(...failures: ApiError[]) {
  const tries: number[] = [];
  const kept: unknown[] = [];
  const saver = new DraftSaver({ draft: 'old', problems: [], revision: 1 }, async (draft, revision) => {
    tries.push(Date.now());
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    kept.push([draft, revision]);
    return { revision: revision + 1, problems: [] } satisfies SavedDraft;
  });
  return { saver, tries, kept };
}

test('what is typed in one go is saved once, after a pause', async () => {
  const { saver, kept } = begin();
  for (const typed of ['a', 'ab', 'abc']) saver.change(typed);
  expect([saver.snapshot().state, saver.isSaved()]).toEqual(['waiting', false]);
  await vi.advanceTimersByTimeAsync(aMinute);
  expect(kept).toEqual([['abc', 1]]);
  expect(saver.snapshot()).toMatchObject({ state: 'saved', revision: 2, draft: 'abc' });
  expect(saver.isSaved()).toBe(true);
});

test('what is typed while a save is under way goes with the next, and a flush waits for both', async () => {
  const { saver, kept } = begin();
  saver.change('one');
  void saver.flush();
  saver.change('two');
  expect(await saver.flush()).toBe(true);
  expect(kept).toEqual([
    ['one', 1],
    ['two', 2],
  ]);
});

test('a flush that could not save says so: nobody goes on with somebody else’s text', async () => {
  const { saver, kept } = begin(overtaken(7));
  saver.change('mine');
  expect(await saver.flush()).toBe(false);
  expect([hindranceOf(saver.snapshot()), saver.snapshot().error]).toEqual(['conflict', null]);
  saver.change('mine, longer');
  expect(await saver.flush()).toBe(false);
  await vi.advanceTimersByTimeAsync(aMinute);
  expect(kept).toEqual([]);
  saver.overwrite();
  expect(await saver.flush()).toBe(true);
  expect(kept).toEqual([['mine, longer', 7]]);
  expect(hindranceOf(saver.snapshot())).toBe(null);
});

test('a server that is away is tried again, later and later, until the text is saved', async () => {
  const { saver, tries, kept } = begin(...Array.from({ length: 8 }, () => unreachable));
  saver.change('mine');
  expect(await saver.flush()).toBe(false);
  expect(saver.snapshot()).toMatchObject({ state: 'failed', error: unreachable });
  await vi.advanceTimersByTimeAsync(5 * aMinute);
  expect(kept).toEqual([['mine', 1]]);
  const waits = tries.slice(1).map((time, index) => time - (tries[index] ?? 0));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(saver.snapshot()).toMatchObject({ state: 'saved', error: null });
});

test('a refusal is kept with its reason, and tried again only when somebody asks or types', async () => {
  const { saver, tries } = begin(refused, refused);
  saver.change('mine');
  await vi.advanceTimersByTimeAsync(aMinute);
  expect(tries).toHaveLength(1);
  expect(saver.snapshot()).toMatchObject({ state: 'failed', error: refused });
  expect(hindranceOf(saver.snapshot())).toBe('failed');
  expect(await saver.flush()).toBe(false);
  saver.change('mended');
  await vi.advanceTimersByTimeAsync(aMinute);
  expect(saver.snapshot()).toMatchObject({ state: 'saved', error: null });
});

test('text that is no JSON is not saved, and not passed over', async () => {
  const { saver, kept } = begin();
  saver.noteText('file', true);
  expect([await saver.flush(), hindranceOf(saver.snapshot())]).toEqual([false, 'unread']);
  saver.change('the form');
  expect(await saver.flush()).toBe(false);
  expect(kept).toEqual([['the form', 1]]);
  saver.noteText('file', false);
  expect([await saver.flush(), hindranceOf(saver.snapshot())]).toEqual([true, null]);
});
