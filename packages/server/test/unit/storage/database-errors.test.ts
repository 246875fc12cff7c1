import { describe, expect, test } from 'vitest';
import { DatabaseUnavailable } from '../../../src/storage/database.ts';
import { portError } from '../../../src/storage/database-errors.ts';

function coded(code: string): Error {
  return Object.assign(new Error('told by the driver'), { code });
}

describe('an error of the driver', () => {
  test.each([
    '08000',
    '08006',
    '57P01',
    '57P02',
    '57P03',
    '57P05',
    '57014',
    '53300',
    '53100',
    '58030',
    '25006',
    '25P03',
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ENOENT',
  ])('%s means that the database could not be asked', (code) => {
    const error = coded(code);
    expect(portError(error)).toBeInstanceOf(DatabaseUnavailable);
    expect((portError(error) as Error).cause).toBe(error);
  });

  test.each([
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
    'Cannot use a pool after calling end on the pool',
  ])('without a code, "%s" means that the database could not be asked', (message) => {
    expect(portError(new Error(message))).toBeInstanceOf(DatabaseUnavailable);
  });

  test.each(['23505', '23514', '22P02', '42601', '40001', '40P01', '0A000', '28P01'])(
    '%s stays what it is',
    (code) => {
      const error = coded(code);
      expect(portError(error)).toBe(error);
    },
  );

  test('that is not of the driver stays what it is', () => {
    const error = new RangeError('ours');
    expect(portError(error)).toBe(error);
    expect(portError('text')).toBe('text');
  });
});
