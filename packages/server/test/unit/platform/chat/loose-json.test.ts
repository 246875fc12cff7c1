import { describe, expect, it } from 'vitest';
import { looseJson } from '../../../../src/platform/chat/loose-json.ts';

describe('JSON in a text', () => {
  it.each([
    ['alone', '{"a":1}'],
    ['with space around', ' \n{"a":1}\n'],
    ['in a fence', '```json\n{"a":1}\n```'],
    ['in a fence without a language, between words', 'Here:\n```\n{"a":1}\n```\nDone.'],
    ['behind thoughts', '<think>{"a":0}</think>{"a":1}'],
    ['behind an opened brace', 'The set { is odd. {"a":1}'],
    ['as the last of several objects', '{"a":0} or rather {"a":1}'],
  ])('is found: %s', (_, text) => {
    expect(looseJson(text)).toEqual({ a: 1 });
  });

  it('keeps braces, quotes and marks that stand in strings', () => {
    for (const said of ['}', '{', '"}', '\\', '</think>{"a":0}', '```json\n{"a":0}\n```']) {
      const json = JSON.stringify({ said });
      for (const text of [json, `Here: ${json}`]) expect(looseJson(text)).toEqual({ said });
    }
  });

  it('is not there', () => {
    for (const text of ['', 'no', '1', '"a"', 'null', '{"a":', '{a:1}', '<think>{"a":1}'.slice(0, -1)])
      expect(looseJson(text)).toBeUndefined();
  });

  it('is looked for in bounded time', () => {
    const startedAt = performance.now();
    expect(looseJson('{'.repeat(500_000))).toBeUndefined();
    expect(looseJson('```\n'.repeat(100_000))).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
