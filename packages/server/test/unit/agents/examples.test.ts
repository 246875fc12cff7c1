import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CalleeTest, GoalFile } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import { parseGoalFile } from '../../../src/authoring/goal-file.ts';
import { holdCall, testClock, type HeldCall } from '../../conformance/hold-call.ts';
import { scriptedGoalTester } from '../../kit/goal-tester.ts';

const folder = join(import.meta.dirname, '../../../../../examples/goals');
const examples = readdirSync(folder).map((name) => ({ name, goal: read(name) }));

function read(name: string): GoalFile {
  const parsed = parseGoalFile(readFileSync(join(folder, name), 'utf8'));
  if (!parsed.ok) throw new Error(`${name}: ${JSON.stringify(parsed.problems)}`);
  return parsed.file;
}

/** Values for the input schema of any example. */
function variablesFor({ input_schema }: GoalFile) {
  const samples = { string: 'Sample', number: 4, integer: 4, boolean: true };
  return Object.fromEntries(
    Object.entries(input_schema.properties).map(([name, { type }]) => [name, samples[type]]),
  );
}

function play(goal: GoalFile, to: string): Promise<HeldCall> {
  return holdCall({
    to,
    resultSchema: goal.result_schema,
    callees: goal.callees ?? [],
    variables: variablesFor(goal),
    locale: goal.locale,
    title: goal.title,
    machine: goal.machine,
    callLimitMs: goal.limits.call_seconds * 1_000,
  });
}

function outcome(call: HeldCall): unknown {
  if (call.kind === 'ended') return { error: call.ending.outcome };
  return call.drawn.kind === 'result'
    ? { result: call.drawn.result }
    : { error: call.drawn.kind === 'error' && call.drawn.code };
}

describe('the example Goals', () => {
  it('hold at least four files with callees whose calls end within two minutes', () => {
    expect(examples.length).toBeGreaterThanOrEqual(4);
    for (const { goal } of examples) {
      expect(goal.callees?.length).toBeGreaterThanOrEqual(3);
      expect(goal.limits.call_seconds).toBeLessThanOrEqual(120);
    }
  });

  for (const { name, goal } of examples) {
    it(`${name}: the call with each callee ends as its author expects`, async () => {
      const tester = scriptedGoalTester(testClock);
      const tests: CalleeTest[] = [];
      const ready = tester.prepare({ goal, callerName: 'Parcel Post' });
      const summary = await tester.run(ready, (one) => tests.push(one), new AbortController().signal);
      expect(tests.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
      expect(summary.passed).toBe(goal.callees?.length);
    });

    it(`${name}: its callees differ: some cooperate, some do not`, () => {
      const behaviors = new Set(goal.callees?.map(({ does = 'cooperates' }) => does));
      expect(behaviors.size).toBeGreaterThanOrEqual(5);
    });

    it(`${name}: any cooperative person gives a valid result`, async () => {
      const calls = await Promise.all(
        Array.from({ length: 30 }, (_, index) => play(goal, `+12125551${String(index).padStart(3, '0')}`)),
      );
      for (const call of calls) {
        expect(outcome(call)).toHaveProperty('result');
      }
    });
  }

  const behaviors: [string, unknown][] = [
    ['00', { end: { kind: 'finished' }, drawn: { kind: 'result' } }],
    ['01', { ending: { outcome: 'ring_timeout' } }],
    ['02', { ending: { outcome: 'busy' } }],
    ['03', { ending: { outcome: 'declined' } }],
    ['04', { end: { kind: 'machine', did: 'hang_up' } }],
    [
      '05',
      { end: { kind: 'callee_left' }, drawn: { code: 'result_invalid', detailCode: 'missing_required' } },
    ],
    ['06', { end: { kind: 'finished' }, drawn: { code: 'result_invalid', detailCode: 'missing_required' } }],
    ['07', { end: { kind: 'finished' }, drawn: { code: 'result_unavailable', detailCode: 'nothing_said' } }],
    ['08', { ending: { outcome: 'invalid_number' } }],
    ['09', { ending: { outcome: 'carrier_error' } }],
    ['10', { end: { kind: 'opted_out' }, drawn: { code: 'result_unavailable', detailCode: 'opted_out' } }],
    ['11', { end: { kind: 'finished' }, drawn: { kind: 'result' } }],
    ['12', { end: { kind: 'finished' }, drawn: { kind: 'result' } }],
    ['13', { limitReached: true, lengthMs: 120_000 }],
  ];
  it.each(behaviors)(
    'confirm-delivery.yaml ends as designed at +1 212 555 01%s',
    async (digits, expected) => {
      const goal = read('confirm-delivery.yaml');
      expect(await play(goal, `+121255501${digits}`)).toMatchObject(expected as object);
    },
  );
});
