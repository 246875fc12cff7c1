import type { RingRequest, RungNumber } from '@trunkcall/contract';
import type { SimulatedNetwork } from '../carriers/simulated/network.ts';
import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Database } from '../storage/database.ts';
import { findRunOfCall } from '../storage/inbound.ts';
import type { NumberRow } from '../storage/numbers.ts';

/** Lets a simulated person call one of our numbers. Throws: Refusal `ring_not_possible`. Safe to repeat: no. */
export type RingNumber = (number: NumberRow, ring: RingRequest) => Promise<RungNumber>;

const usualCaller = '+12025550100';

export function createRingNumber(deps: {
  readonly db: Database;
  readonly ids: Ids;
  /** Null where there is no simulated network: in production, and in a process without a worker. */
  readonly network: Pick<SimulatedNetwork, 'ring'> | null;
}): RingNumber {
  const { db, ids, network } = deps;
  return async ({ id, phone }, { from = usualCaller, does }) => {
    if (network === null) {
      throw new Refusal(
        'ring_not_possible',
        'calls are simulated only in the environment test, and by a process with the roles api and worker',
      );
    }
    const callId = `sim_${ids.next('req')}`;
    const rung = await network.ring({ callId, to: phone, from, ...(does === undefined ? {} : { does }) });
    const [run] = await db.query(findRunOfCall, [id, callId]);
    return {
      object: 'ring',
      outcome: rung.kind === 'refused' ? rung.reason : rung.kind,
      run: run === undefined ? null : { id: run.public_id, goal_id: run.goal_id },
    };
  };
}
