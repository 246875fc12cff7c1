import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCursors } from '../../../src/http/cursor.ts';

const cursors = createCursors(Buffer.from('secret'));

describe('a cursor', () => {
  it('gives back the id that it was made for, and is safe in a URL', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (id) => {
        const cursor = cursors.encode('goals', 'acct_1', id);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(cursors.decode('goals', 'acct_1', cursor)).toBe(id);
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  it('is of no use with another endpoint, account or secret', () => {
    const cursor = cursors.encode('goals', 'acct_1', 'goal_1');
    const refused = { code: 'invalid_request' };
    expect(() => cursors.decode('events', 'acct_1', cursor)).toThrow(expect.objectContaining(refused));
    expect(() => cursors.decode('goals', 'acct_2', cursor)).toThrow(expect.objectContaining(refused));
    expect(() => createCursors(Buffer.from('other')).decode('goals', 'acct_1', cursor)).toThrow(
      expect.objectContaining(refused),
    );
    // Fields do not run into one another.
    expect(() => cursors.decode('goals', 'acct_1g', cursors.encode('goals', 'acct_1', 'goal_1'))).toThrow();
  });

  it('is refused when a single character of it is changed, taken or added', () => {
    const cursor = cursors.encode('goals', 'acct_1', 'goal_1');
    fc.assert(
      fc.property(
        fc.nat(cursor.length - 1),
        fc.nat(2),
        fc.string({ maxLength: 2 }),
        (at, removed, inserted) => {
          const changed = cursor.slice(0, at) + inserted + cursor.slice(at + removed);
          fc.pre(changed !== cursor);
          expect(() => cursors.decode('goals', 'acct_1', changed)).toThrow();
        },
      ),
      { seed: 6, numRuns: 3_000 },
    );
  });
});
