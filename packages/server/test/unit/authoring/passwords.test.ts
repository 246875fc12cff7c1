import { describe, expect, test } from 'vitest';
import { hashPassword, isPassword } from '../../../src/authoring/passwords.ts';

describe('passwords', () => {
  test('a hash names its parameters, has a salt of its own, and does not hold the password', async () => {
    const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
    expect(one).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    expect(one).not.toBe(two);
  });

  test('the password is recognised, another is not, and nobody has none', async () => {
    const stored = await hashPassword('correct horse');
    expect(await isPassword('correct horse', stored)).toBe(true);
    expect(await isPassword('Correct horse', stored)).toBe(false);
    expect(await isPassword('correct horse', null)).toBe(false);
    expect(await isPassword('', null)).toBe(false);
  });

  test('a letter counts as itself, however the keyboard composed it', async () => {
    expect(await isPassword('Cafe\u0301 au lait', await hashPassword('Caf\u00e9 au lait'))).toBe(true);
  });

  test('a hash with other parameters, from before they were raised, is still understood', async () => {
    const weaker = 'scrypt$1024$8$1$c2FsdA$';
    const { scryptSync } = await import('node:crypto');
    const hash = scryptSync('old one', 'salt', 32, { N: 1_024, r: 8, p: 1 }).toString('base64url');
    expect(await isPassword('old one', weaker + hash)).toBe(true);
    expect(await isPassword('new one', weaker + hash)).toBe(false);
  });

  test('more than can be worked out soon are refused, and those who wait are served', async () => {
    const tries = await Promise.allSettled(Array.from({ length: 40 }, () => hashPassword('correct horse')));
    const refused = tries.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(8);
    expect(refused[0]).toMatchObject({ reason: { code: 'rate_limit_exceeded' } });
    await expect(hashPassword('correct horse')).resolves.toContain('scrypt$');
  }, 60_000);
});
