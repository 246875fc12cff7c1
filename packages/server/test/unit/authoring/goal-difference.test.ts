import { GoalFile, type ScalarProperty } from '@trunkcall/contract';
import { describe, expect, test } from 'vitest';
import { goalChanges } from '../../../src/authoring/goal-difference.ts';
import { goalFile } from '../../kit/fixtures.ts';

type Section = 'input_schema' | 'result_schema';

/** A Goal whose schema has one field, or none. */
function withField(section: Section, property: ScalarProperty | null, required = true): GoalFile {
  const properties = property === null ? {} : { field: property };
  return goalFile({
    [section]: {
      type: 'object',
      additionalProperties: false,
      properties,
      required: property !== null && required ? ['field'] : [],
    },
  });
}

const breaks = (before: GoalFile, after: GoalFile) =>
  goalChanges(before, after).map(({ breaking }) => breaking);
const text: ScalarProperty = { type: 'string' };
const colour: ScalarProperty = { type: 'string', enum: ['red', 'blue'] };

describe('a new version and those who call the present one', () => {
  test('a Goal does not differ from itself', () => {
    expect(goalChanges(goalFile(), goalFile())).toEqual([]);
  });

  test.each<[string, boolean, ScalarProperty | null, boolean, ScalarProperty | null, boolean]>([
    ['a new required variable', true, null, false, text, true],
    ['a new variable with a default', false, null, false, { ...text, default: 'x' }, true],
    ['a new optional variable', false, null, false, text, false],
    ['a variable that is gone', true, text, false, null, false],
    ['an optional variable that becomes required', true, text, false, text, true],
    ['a required variable that becomes optional', false, text, true, text, false],
    ['a required variable that loses its default', true, { ...text, default: 'x' }, true, text, true],
    ['another type', true, text, true, { type: 'boolean' }, true],
    ['integers where numbers were allowed', true, { type: 'number' }, true, { type: 'integer' }, true],
    ['numbers where integers were allowed', false, { type: 'integer' }, true, { type: 'number' }, true],
    ['a list of values where any was allowed', true, text, true, colour, true],
    ['a longer list of values', false, colour, true, { ...colour, enum: ['red', 'blue', 'green'] }, true],
    ['a shorter list of values', true, colour, true, { ...colour, enum: ['red'] }, true],
    ['another description', false, text, true, { ...text, description: 'who' }, true],
  ])('%s in the input: breaking %s', (_name, breaking, before, wasRequired, after, isRequired) => {
    const [was, is] = [
      withField('input_schema', before, wasRequired),
      withField('input_schema', after, isRequired),
    ];
    expect(breaks(was, is)).toEqual([breaking]);
  });

  test.each<[string, boolean, ScalarProperty | null, boolean, ScalarProperty | null, boolean]>([
    ['a new field', false, null, false, text, true],
    ['a field that is gone', true, text, true, null, false],
    ['a required field that may be missing now', true, text, true, text, false],
    ['an optional field that is always there now', false, text, false, text, true],
    ['another type', true, text, true, { type: 'boolean' }, true],
    ['integers where numbers came', false, { type: 'number' }, true, { type: 'integer' }, true],
    ['numbers where integers came', true, { type: 'integer' }, true, { type: 'number' }, true],
    ['a longer list of values', true, colour, true, { ...colour, enum: ['red', 'blue', 'green'] }, true],
    ['a shorter list of values', false, colour, true, { ...colour, enum: ['red'] }, true],
    ['any value where a list was', true, colour, true, text, true],
  ])('%s in the result: breaking %s', (_name, breaking, before, wasRequired, after, isRequired) => {
    const [was, is] = [
      withField('result_schema', before, wasRequired),
      withField('result_schema', after, isRequired),
    ];
    expect(breaks(was, is)).toEqual([breaking]);
  });

  test('a country less breaks callers, a country more and how the agent speaks do not', () => {
    const countries = (...codes: string[]) => goalFile({ targets: { countries: codes } });
    expect(breaks(countries('US', 'CA'), countries('US'))).toEqual([true]);
    expect(breaks(countries('US'), countries('US', 'CA'))).toEqual([false]);
    expect(breaks(goalFile(), goalFile({ instructions: 'You call {{name}} soon.' }))).toEqual([false]);
  });

  const simple = Object.keys(GoalFile.properties).filter((part) => !part.endsWith('_schema'));
  test.each(simple.filter((part) => part !== 'targets'))('a change of %s is listed', (part) => {
    const changed = { ...goalFile(), [part]: 'something else' } as GoalFile;
    expect(goalChanges(goalFile(), changed)).toMatchObject([{ pointer: `/${part}`, breaking: false }]);
  });

  test('a field called like something that every object has is a field', () => {
    const before = goalFile();
    const after = goalFile();
    after.result_schema.properties['constructor'] = { type: 'string' };
    expect(goalChanges(before, after)).toEqual([
      { pointer: '/result_schema/properties/constructor', kind: 'added', breaking: false, reason: null },
    ]);
  });
});
