import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describePath, maxDepth, parseStrictJson } from '../../../src/http/strict-json.ts';

function parse(text: string) {
  const problems: string[] = [];
  const parsed = parseStrictJson(text, (path, problem) => problems.push(`${describePath(path)}: ${problem}`));
  return { ...parsed, problems };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const nested = (depth: number, inner = '') => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;

describe('the strict JSON parser', () => {
  it('gives what JSON.parse gives, without a problem, for every value that was written by JSON.stringify', () => {
    fc.assert(
      fc.property(
        fc
          .jsonValue({ maxDepth: 8, stringUnit: 'binary' })
          .filter((value) => !JSON.stringify(value).includes('\\u0000')),
        fc.constantFrom(undefined, 1, '\t', '\r\n '),
        (value, space) => {
          const text = JSON.stringify(value, null, space);
          fc.pre(!text.includes('__proto__') && depthOf(value) <= maxDepth);
          expect(parse(text)).toEqual({ ok: true, value: JSON.parse(text), problems: [] });
        },
      ),
      { seed: 1, numRuns: 3_000 },
    );
  });

  it('takes a text exactly when JSON.parse takes it, whatever is done to the text', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '\\u',
      '\\ud800',
      '"a"',
      '0',
      '-',
      '.5',
      'e1',
      '1E+',
      'true',
      'nul',
      ' ',
      '\t',
      '\u00a0',
      '\n',
      '\u0000',
      nested(40),
    );
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 4 }),
        fc.array(fc.tuple(fc.nat(), fc.nat(4), piece), { maxLength: 4 }),
        (json, edits) => {
          let text = json;
          for (const [place, removed, inserted] of edits) {
            const at = place % (text.length + 1);
            text = text.slice(0, at) + inserted + text.slice(at + removed);
          }
          expect(parse(text).ok).toBe(isJson(text));
        },
      ),
      { seed: 2, numRuns: 20_000 },
    );
  });

  it.each([
    ['{"a":1,"a":1}', ": has the field 'a' twice"],
    ['{"a":{"b":1,"\\u0062":2}}', "/a: has the field 'b' twice"],
    ['{"a":[0,{"__proto__":1}]}', '/a/1: has a field named __proto__'],
    ['{"a":"\\ud800"}', '/a: holds half of a surrogate pair'],
    ['{"a":"\\udc00\\ud800"}', '/a: holds half of a surrogate pair'],
    ['{"a":"\ud800"}', '/a: holds half of a surrogate pair'],
    ['{"\\ud800":1}', ': holds half of a surrogate pair'],
    ['{"a":"\\u0000"}', '/a: holds the character U+0000'],
    ['{"a":1e999}', '/a: is a number that a double can not hold'],
    ['{"a":-1e999}', '/a: is a number that a double can not hold'],
    ['[9007199254740993]', '/0: is a number that a double can not hold'],
    [nested(33), `${'/0'.repeat(32)}: is nested deeper than 32`],
    ['{"+12025550100":{"x y":[1e999]}}', '/…/…/0: is a number that a double can not hold'],
  ])('tells what would not survive in %s', (text, problem) => {
    expect(parse(text)).toMatchObject({ ok: true, problems: [problem] });
  });

  it('goes on after a problem, so that all of the rest is known', () => {
    const text = `{"variables":{"deep":${nested(100)},"n":1e999},"phone":"x","phone":"y"}`;
    const parsed = parse(text);
    expect(parsed).toMatchObject({ ok: true, value: { phone: 'y' } });
    expect(parsed.problems).toHaveLength(3);
  });

  it('takes 32 levels, and neither recursion nor quadratic time for 500,000', () => {
    expect(parse(nested(32, '1')).problems).toEqual([]);
    expect(parse(nested(500_000))).toMatchObject({ ok: true, problems: [expect.any(String)] });
    expect(parse('['.repeat(500_000)).ok).toBe(false);
    expect(parse(`${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`).ok).toBe(true);
    expect(parse(`[${`${nested(40)},`.repeat(5_000)}1]`).problems).toHaveLength(5_000);
    expect(parse(`[0.${'0'.repeat(200_000)}1]`).problems).toHaveLength(1);
    expect(parse(`"${'\\n'.repeat(200_000)}"`).ok).toBe(true);
  });

  it('pollutes nothing and keeps names that objects inherit as plain fields', () => {
    const parsed = parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x"}',
    );
    if (!parsed.ok) throw new Error('refused');
    const value = parsed.value as object;
    expect(Object.keys(value)).toEqual(['constructor', 'toString']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });
});
