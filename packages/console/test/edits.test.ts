import { expect, test } from 'vitest';
import { differing } from '../app/parts/edits.ts';

test('of a form, only what differs is sent', () => {
  const present = { region: 'US', default_number: null, max_active_tasks: 3 };
  expect(differing(present, present)).toEqual({});
  expect(differing({ ...present, region: 'GB' }, present)).toEqual({ region: 'GB' });
  expect(differing({ ...present, max_active_tasks: null }, { ...present })).toEqual({
    max_active_tasks: null,
  });
});
