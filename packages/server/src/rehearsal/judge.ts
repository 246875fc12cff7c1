import type { ScriptedCallee, TestDifference, TestEnd, TestVerdict } from '@trunkcall/contract';
import { below } from '../platform/json-pointer.ts';

export interface Judgement {
  readonly verdict: Extract<TestVerdict, 'passed' | 'failed' | 'not_judged'>;
  readonly differences: readonly TestDifference[];
}

/**
 * Compares how a call ended with what was expected of it. Pure.
 *
 * An expected result is compared field by field: fields that it does not name may hold anything, or be absent. Who
 * expects nothing is not judged: that a call ended in some way says nothing about the Goal.
 */
export function judge(expected: ScriptedCallee['expect'], actual: TestEnd): Judgement {
  if (expected?.error !== undefined) return verdictOn(errorDifferences(expected.error, actual));
  if (expected?.result !== undefined) {
    const differences =
      actual.result === null
        ? errorDifferences(null, actual)
        : resultDifferences(expected.result, actual.result);
    return verdictOn(differences);
  }
  return { verdict: 'not_judged', differences: [] };
}

function verdictOn(differences: readonly TestDifference[]): Judgement {
  return { verdict: differences.length === 0 ? 'passed' : 'failed', differences };
}

function errorDifferences(expected: string | null, { error }: TestEnd): TestDifference[] {
  const actual = error?.code ?? null;
  return actual === expected ? [] : [{ pointer: '/error', expected, actual }];
}

type Values = NonNullable<TestEnd['result']>;

function resultDifferences(expected: Values, actual: Values): TestDifference[] {
  return Object.entries(expected).flatMap(([name, value]) => {
    const found = Object.hasOwn(actual, name) ? (actual[name] ?? null) : null;
    return found === value ? [] : [{ pointer: below('/result', name), expected: value, actual: found }];
  });
}
