import { calleeBehaviors, type ResultSchema } from '@trunkcall/contract';
import { expect, it } from 'vitest';
import { residentOf } from '../../../src/carriers/simulated/numbers.ts';

const resultSchema: ResultSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {},
  required: [],
};
const does = (to: string) => residentOf(to, { resultSchema, callees: [] }).does;

it('the last two digits of a fictitious North American number choose the behaviour', () => {
  for (const [digits, behavior] of calleeBehaviors.entries()) {
    expect(does(`+1212555${String(100 + digits).padStart(4, '0')}`)).toBe(behavior);
    expect(does(`+1907555${String(100 + digits).padStart(4, '0')}`)).toBe(behavior);
  }
});

it('everybody else cooperates', () => {
  for (const to of ['+12125550114', '+12125550199', '+12125551101', '+34600000001', '+12125560101']) {
    expect(does(to)).toBe('cooperates');
  }
});

it('a scripted callee takes precedence over the number', () => {
  const callees = [{ phone: '+12125550102', does: 'opts_out' as const }, { phone: '+12125550103' }];
  expect(residentOf('+12125550102', { resultSchema, callees }).does).toBe('opts_out');
  expect(residentOf('+12125550103', { resultSchema, callees }).does).toBe('cooperates');
});
