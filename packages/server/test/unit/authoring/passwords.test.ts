import { scryptSync } from 'node:crypto';
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

  /** From before the parameters were raised; soon worked out. */
  const weaker = `scrypt$1024$8$1$c2FsdA$${scryptSync('old one', 'salt', 32, { N: 1_024, r: 8, p: 1 }).toString('base64url')}`;

  test('a hash with other parameters, from before they were raised, is still understood', async () => {
    expect(await isPassword('old one', weaker)).toBe(true);
    expect(await isPassword('new one', weaker)).toBe(false);
  });

  test('more than can be worked out soon are refused, and those who wait are served', async () => {
    const tries = Array.from({ length: 40 }, () => isPassword('old one', weaker));
    // Everybody stands in the same line.
    const settled = await Promise.allSettled([...tries, hashPassword('correct horse')]);
    const refused = settled.filter(({ status }) => status === 'rejected');
    expect(settled.filter((one) => one.status === 'fulfilled' && one.value === true)).toHaveLength(32);
    expect(refused).toHaveLength(9);
    expect(refused[0]).toMatchObject({ reason: { code: 'rate_limit_exceeded' } });
    await expect(hashPassword('correct horse')).resolves.toContain('scrypt$');
  });
});
