/**
 * Connects a callee with somebody whom the Goal names.
 *
 *   asked for by name ─▶ intent committed, fenced ─▶ carrier calls ─▶ connected, or told why not
 *
 * The target is called at most once for each time that it was asked for (I4): the intent is written once and not again
 * when its answer is lost, and a run whose worker died is never taken up by another one.
 */
import type { GoalFile } from '@trunkcall/contract';
import type { TransferOffer, TransferTarget } from '../agents/agent.ts';
import type { Leg, Transferred, TransferFailure } from '../carriers/carrier.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { intendToTransfer, recordTransferFailure } from '../storage/call-transfers.ts';
import type { Database } from '../storage/database.ts';
import type { Lease } from '../storage/jobs.ts';
import { persist } from '../storage/persist.ts';
import type { Transcript } from './transcript.ts';

export interface TransferDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly lease: Lease;
  readonly attemptId: string;
  readonly leg: Leg;
  readonly content: GoalFile;
  readonly transcript: Transcript;
}

/** Tries in one call; whoever could not be reached three times is not there. */
const maxTries = 3;

/** What the agent is offered; null when the Goal names nobody, or the carrier can not. */
export function offerTransfer(deps: TransferDependencies): TransferOffer | null {
  const { content, leg, clock, db, ids, lease, log, attemptId, transcript } = deps;
  const targets = content.transfer ?? [];
  if (targets.length === 0 || leg.transfer === undefined) return null;
  let tries = 0;

  async function connect(name: string): Promise<Transferred> {
    const target = targets.find((each) => each.name === name);
    if (target === undefined || tries >= maxTries) return failed('not_allowed');
    tries += 1;
    const transferId = ids.next('xfer');
    try {
      const intent = [
        lease.subjectId,
        lease.fence,
        attemptId,
        transferId,
        ids.next('evt'),
        name,
        target.phone,
      ];
      const [intended] = await transcript.between(() => db.query(intendToTransfer, intent));
      const outcome = intended === undefined ? failed('not_allowed') : await call(transferId, target.phone);
      if (outcome.kind === 'failed') {
        const values = [attemptId, transferId, ids.next('evt'), name, outcome.why];
        await transcript.between(() => persist(db, clock, lease, recordTransferFailure, values));
      }
      log.info({ run_id: lease.subjectId, transfer_id: transferId, outcome: outcome.kind }, 'transfer');
      return outcome;
    } catch (error) {
      log.error({ run_id: lease.subjectId, transfer_id: transferId, err: error }, 'a transfer failed');
      return failed('failed');
    }
  }

  async function call(transferId: string, to: string): Promise<Transferred> {
    const { ring_seconds: ring, call_seconds: whole } = content.limits;
    const ringLimitMs = Math.min(ring * 1_000, whole * 1_000 - leg.clock.now());
    if (leg.transfer === undefined || ringLimitMs <= 0 || !lease.holds()) return failed('not_allowed');
    const order = { transferId, accountId: lease.accountId, to, ringLimitMs, mayLeave: () => lease.holds() };
    return leg.transfer(order, lease.signal);
  }

  return { targets: offered(content), connect };
}

/** The same on a simulated leg without a run: nothing is stored, and nobody's phone rings. */
export function rehearseTransfer(content: GoalFile, leg: Leg, signal: AbortSignal): TransferOffer | null {
  const { transfer: targets = [], limits } = content;
  if (targets.length === 0 || leg.transfer === undefined) return null;
  return {
    targets: offered(content),
    async connect(name) {
      const to = targets.find((each) => each.name === name)?.phone;
      if (to === undefined) return failed('not_allowed');
      const order = { transferId: 'xfer_rehearsal', accountId: '', ringLimitMs: limits.ring_seconds * 1_000 };
      return (await leg.transfer?.({ ...order, to, mayLeave: () => true }, signal)) ?? failed('failed');
    },
  };
}

const offered = ({ transfer = [] }: GoalFile): TransferTarget[] =>
  transfer.map(({ name, when = null }) => ({ name, when }));

const failed = (why: TransferFailure): Transferred => ({ kind: 'failed', why });
