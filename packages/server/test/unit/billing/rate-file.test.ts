import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ratesOf } from '../../../src/adapters.ts';
import { ConfigError, readConfig } from '../../../src/config.ts';

const directory = mkdtempSync(join(tmpdir(), 'trunkcall-rates-'));
afterAll(() => rmSync(directory, { recursive: true }));

const rates = (text: string) => {
  const file = join(directory, 'rates.yaml');
  writeFileSync(file, text);
  return ratesOf(readConfig({ TRUNKCALL_RATES_FILE: file }));
};

it('is read when it is named; without one no rate is known', () => {
  expect(ratesOf(readConfig({}))('+442079460000', 'GB')).toBeNull();
  const find = rates('currency: USD\nrates:\n  - { country: GB, per_minute: 0.012 }\n');
  expect(find('+442079460000', 'GB')?.perMinute).toBe(12_000n);
});

it('stops the start when it can not be used, with the setting and the place', () => {
  const missing = readConfig({ TRUNKCALL_RATES_FILE: join(directory, 'missing.yaml') });
  expect(() => ratesOf(missing)).toThrow(ConfigError);
  expect(() => ratesOf(missing)).toThrow('TRUNKCALL_RATES_FILE names a file that can not be read');
  expect(() => rates('currency: USD\nrates: [{ country: GB }]')).toThrow(ConfigError);
  expect(() => rates('currency: USD\nrates: [{ country: GB }]')).toThrow(
    'TRUNKCALL_RATES_FILE: rates.0.per_minute must be dollars',
  );
});
