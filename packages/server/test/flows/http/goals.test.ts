import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statement } from '../../../src/storage/database.ts';
import { databases } from '../../kit/database.ts';
import { expectWellFormed, refusal, refusalOf } from './envelope.ts';
import { ids, startService, type Service } from './service.ts';

interface Page {
  object: string;
  data: { id: string; title: string }[];
  next_cursor: string | null;
}

const setState = statement<never>('test_goal_state', 'update goals set state = $2 where id = $1');
const hide = statement<never>('test_goal_hide', 'update goals set listed = false where id = $1');
const unpublish = statement<never>(
  'test_goal_unpublish',
  'update goals set published_run_spec_id = null where id = $1',
);
const removeGoal = statement<never>(
  'test_goal_remove',
  'with s as (delete from run_specs where goal_id = $1) delete from goals where id = $1',
);

/** Tests choose by the title. */
const readiness = ({ title }: { title: string }) => (title === 'not ready' ? ['no agent'] : []);

describe.each(databases)('Goals on %s', (kind) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ kind, over: { readiness } });
  });
  afterAll(() => service.close());

  async function page(query = ''): Promise<Page> {
    const response = await service.fetch(`/v1/goals${query}`);
    const text = await response.text();
    expectWellFormed(response.status, (name) => response.headers.get(name), text);
    expect(response.status).toBe(200);
    const parsed = JSON.parse(text) as Page;
    expect(Object.keys(parsed)).toEqual(['object', 'data', 'next_cursor']);
    return parsed;
  }

  async function allPages(limit: number): Promise<string[][]> {
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? '' : `&after=${encodeURIComponent(cursor)}`;
      const { data, next_cursor: next } = await page(`?limit=${limit}${after}`);
      pages.push(data.map(({ id }) => id));
      cursor = next;
    } while (cursor !== null);
    return pages;
  }

  describe('GET /v1/goals/{goal_id}', () => {
    it('200: shows the published interface and nothing of the prompt', async () => {
      const goal = await service.newGoal({ instructions: 'The secret prompt.', title: 'Shown' });
      const response = await service.fetch(`/v1/goals/${goal}`);
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).not.toContain('secret');
      expect(JSON.parse(text)).toEqual({
        object: 'goal',
        id: goal,
        title: 'Shown',
        description: expect.any(String),
        status: 'active',
        published_run_spec: {
          id: expect.stringMatching(/^rspec_/),
          version: 1,
          input_schema: expect.objectContaining({ type: 'object', additionalProperties: false }),
          result_schema: expect.objectContaining({ type: 'object', additionalProperties: false }),
        },
      });
    });

    it('200: shows a Goal that is not ready, and one whose region the key may not run', async () => {
      const goal = await service.newGoal({ title: 'not ready' });
      const authorization = `Bearer ${await service.newKey({ regions: ['CA'] })}`;
      expect((await service.fetch(`/v1/goals/${goal}`, { headers: { authorization } })).status).toBe(200);
    });

    it.each(['draft', 'paused', 'retired'])('404: hides a Goal that is %s', async (state) => {
      const goal = await service.newGoal();
      await service.database.db.query(setState, [goal, state]);
      expect(await refusal(await service.fetch(`/v1/goals/${goal}`))).toBe('404 not_found');
    });

    it('404: hides a hidden Goal, an unknown one and what is no id', async () => {
      const goal = await service.newGoal();
      await service.database.db.query(hide, [goal]);
      for (const id of [goal, ids.next('goal'), 'goal_1', '%00', '..%2f']) {
        expect(await refusal(await service.fetch(`/v1/goals/${id}`))).toBe('404 not_found');
      }
    });

    it('409 goal_not_published: says that an active Goal publishes nothing', async () => {
      const goal = await service.newGoal();
      await service.database.db.query(unpublish, [goal]);
      expect(await refusal(await service.fetch(`/v1/goals/${goal}`))).toBe('409 goal_not_published');
    });
  });

  describe('GET /v1/goals', () => {
    let other: Service;
    beforeAll(async () => {
      other = await startService({ kind });
    });
    afterAll(() => other.close());

    it('lists in the order of ids, each once, whatever the page size; null only on the last page', async () => {
      const created = [];
      for (let count = 0; count < 7; count += 1) created.push(await service.newGoal({ title: 'listed' }));
      const [all] = await allPages(100);
      expect(all).toEqual(all?.toSorted());
      expect(all).toEqual(expect.arrayContaining(created));
      for (const limit of [1, 2, 3, 7, all?.length ?? 0]) {
        const pages = await allPages(limit);
        expect(pages.flat()).toEqual(all);
        expect(pages.slice(0, -1).every((ids) => ids.length === limit)).toBe(true);
        expect(pages.at(-1)).not.toEqual([]);
      }
    });

    it('passes over Goals that are not ready, hidden or not active without a short page', async () => {
      for (let count = 0; count < 30; count += 1) await service.newGoal({ title: 'not ready' });
      const hidden = await service.newGoal();
      await service.database.db.query(hide, [hidden]);
      const paused = await service.newGoal();
      await service.database.db.query(setState, [paused, 'paused']);
      const withdrawn = await service.newGoal();
      await service.database.db.query(unpublish, [withdrawn]);
      const last = await service.newGoal({ title: 'behind them' });
      const pages = await allPages(3);
      expect(pages.slice(0, -1).every((ids) => ids.length === 3)).toBe(true);
      expect(pages.flat().at(-1)).toBe(last);
      for (const id of [hidden, paused, withdrawn]) expect(pages.flat()).not.toContain(id);
    });

    it('shows a page of 20 when no limit is sent', async () => {
      for (let count = 0; count < 25; count += 1) await service.newGoal();
      const { data, next_cursor: next } = await page();
      expect(data).toHaveLength(20);
      expect(next).not.toBeNull();
    });

    it('goes on behind an item that has been deleted since', async () => {
      const { data, next_cursor: next } = await page('?limit=2');
      const rest = await page(`?limit=100&after=${next}`);
      await service.database.db.query(removeGoal, [data[1]?.id ?? '']);
      expect(await page(`?limit=100&after=${next}`)).toEqual(rest);
    });

    it('shows only the Goals of the key’s account', async () => {
      const { data } = (await (await other.fetch('/v1/goals')).json()) as Page;
      expect(data.map(({ id }) => id)).toEqual([other.goalId]);
    });

    it.each(['0', '101', '-1', '1.5', '1e1', '+5', '05', ' 5', '', 'all', '9999999999999999999999'])(
      '400: refuses the limit %j',
      async (limit) => {
        const response = await service.fetch(`/v1/goals?limit=${encodeURIComponent(limit)}`);
        expect(await refusalOf(response)).toEqual({
          status: 400,
          code: 'invalid_request',
          message: 'limit must be a whole number from 1 to 100',
        });
      },
    );

    it('400: refuses a parameter twice, an unknown one, and ways to name one that Node objects have', async () => {
      for (const query of [
        'limit=5&limit=5',
        'after=a&after=b',
        'cursor=x',
        'owner=acct_1',
        '__proto__=1',
        'limit[]=5',
      ]) {
        expect(await refusal(await service.fetch(`/v1/goals?${query}`))).toBe('400 invalid_request');
      }
    });

    it('400: refuses a cursor that is cut, changed, decorated, invented or another account’s', async () => {
      const { next_cursor: cursor } = await page('?limit=1');
      if (cursor === null) throw new Error('there is one page only');
      const changed = `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`;
      const bad = [
        cursor.slice(0, -1),
        changed,
        `${cursor}=`,
        `${cursor}.`,
        ` ${cursor}`,
        'x',
        '',
        'é',
        '%',
        cursor.repeat(100),
      ];
      for (const after of bad) {
        const response = await service.fetch(`/v1/goals?after=${encodeURIComponent(after)}`);
        expect(await refusal(response)).toBe('400 invalid_request');
      }
      expect(await refusal(await other.fetch(`/v1/goals?after=${cursor}`))).toBe('400 invalid_request');
      expect((await service.fetch(`/v1/goals?after=${cursor}`)).status).toBe(200);
    });
  });
});
