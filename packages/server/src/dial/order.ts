import type { GoalFile } from '@trunkcall/contract';
import type { CallOrder } from '../carriers/carrier.ts';

type OfGoal = Pick<CallOrder, 'ringLimitMs' | 'locale' | 'recordMs' | 'simulation'>;

/** The part of a call order that the Goal decides. Pure. */
export function orderFor(content: GoalFile): OfGoal {
  return {
    ringLimitMs: content.limits.ring_seconds * 1_000,
    locale: content.locale,
    ...(content.record === true && { recordMs: content.limits.call_seconds * 1_000 }),
    simulation: { resultSchema: content.result_schema, callees: content.callees ?? [] },
  };
}
