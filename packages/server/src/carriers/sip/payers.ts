import type { Logger } from '../../platform/log.ts';
import type { ReservationWish } from '../carrier.ts';
import type { DailyLimits, TrunkSlots } from './slots.ts';

/** Who pays for the calls of this process, within the limits of the day. */
export class Payers {
  readonly #slots: TrunkSlots;
  readonly #limits: DailyLimits;
  readonly #log: Logger;
  /** The account of each attempt that was admitted and has not ended. */
  readonly #accounts = new Map<string, string>();

  constructor(slots: TrunkSlots, limits: DailyLimits, log: Logger) {
    this.#slots = slots;
    this.#limits = limits;
    this.#log = log;
  }

  /** Counts a call; false when a limit of the day is reached. Throws: as `TrunkSlots.countCall`. */
  async admit({ attemptId, accountId, to }: ReservationWish): Promise<boolean> {
    const isAdmitted = await this.#slots.countCall(accountId, to, this.#limits);
    if (isAdmitted) this.#accounts.set(attemptId, accountId);
    return isAdmitted;
  }

  /** The attempt was not answered, or not placed: it costs nothing. */
  forget(attemptId: string): void {
    this.#accounts.delete(attemptId);
  }

  /** Counts a call that left over a trunk. Never rejects. */
  async count(trunk: string, cost: bigint): Promise<void> {
    try {
      await this.#slots.countTrunkCall(trunk, cost);
    } catch (error) {
      this.#log.warn({ err: error, trunk }, 'a call over a trunk was not counted');
    }
  }

  /** Adds the cost of an ended call, in millionths of the trunks' currency. Never rejects. */
  async charge(attemptId: string, cost: bigint): Promise<void> {
    const accountId = this.#accounts.get(attemptId);
    this.#accounts.delete(attemptId);
    if (accountId === undefined || cost === 0n) return;
    try {
      await this.#slots.addCost(accountId, cost);
    } catch (error) {
      this.#log.error(
        { err: error, attempt_id: attemptId, account_id: accountId },
        'the cost of a call was not counted',
      );
    }
  }
}
