import { describe, expect, it } from 'vitest';
import { headerValues, idempotencyKey } from '../../../src/http/headers.ts';

const sent = (value: string) => ['Idempotency-Key', Buffer.from(value).toString('latin1')];

describe('the Idempotency-Key', () => {
  it('is trimmed of spaces and tabs alone', () => {
    expect(idempotencyKey(sent(' \t key \t'))).toBe('key');
    for (const kept of ['\u00a0key', 'key\u2003', '\ufeffkey', '\u0085key', 'a \t b']) {
      expect(idempotencyKey(sent(kept))).toBe(kept);
    }
  });

  it('has 1 to 255 code points, however many bytes', () => {
    expect(idempotencyKey(sent('𝒌'.repeat(255)))).toBe('𝒌'.repeat(255));
    for (const bad of ['', ' ', '\t', 'k'.repeat(256), '𝒌'.repeat(256)]) {
      expect(() => idempotencyKey(sent(bad))).toThrow(expect.objectContaining({ code: 'invalid_request' }));
    }
  });

  it('is read in linear time, whatever it holds', () => {
    expect(() => idempotencyKey(sent(`a${' '.repeat(200_000)}b`))).toThrow();
  });
});

describe('header values', () => {
  it('are found in any case, all of them, in order', () => {
    const raw = ['A', '1', 'HOST', 'x', 'a', '2', 'ab', '3'];
    expect(headerValues(raw, 'a')).toEqual(['1', '2']);
    expect(headerValues(raw, 'host')).toEqual(['x']);
    expect(headerValues(raw, 'b')).toEqual([]);
  });
});
