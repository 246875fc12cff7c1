import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { renewEveryMs, type Taken, type TrunkLimits, type TrunkSlots } from './slots.ts';

/** The trunk lines that calls of this process hold, and what keeps them held. */
export class Lines {
  readonly #slots: TrunkSlots;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  /** The trunk of each attempt that holds a line. */
  readonly #held = new Map<string, string>();
  #renewing: Promise<void> | null = null;

  constructor(slots: TrunkSlots, clock: Clock, log: Logger) {
    this.#slots = slots;
    this.#clock = clock;
    this.#log = log;
  }

  /** The trunk whose line the attempt holds; undefined when it holds none. */
  trunkOf(attemptId: string): string | undefined {
    return this.#held.get(attemptId);
  }

  /** How many attempts hold a line of the trunk. */
  countOf(trunk: string): number {
    return [...this.#held.values()].filter((held) => held === trunk).length;
  }

  /** Throws: as `TrunkSlots.take`. */
  async take(limits: TrunkLimits, attemptId: string, signal: AbortSignal): Promise<Taken> {
    const taken = await this.#slots.take(limits, attemptId, signal);
    if (taken.kind === 'later') return taken;
    this.#held.set(attemptId, limits.trunk);
    this.#renewing ??= this.#renew();
    return taken;
  }

  /** Gives the attempt's line back, if it holds one. Never rejects: a line that can not be told comes back by itself. */
  async release(attemptId: string): Promise<void> {
    if (!this.#held.delete(attemptId)) return;
    try {
      await this.#slots.release(attemptId);
    } catch (error) {
      this.#log.warn({ err: error, attempt_id: attemptId }, 'a trunk line was not given back');
    }
  }

  /** Gives all lines back. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#held.keys()].map((attemptId) => this.release(attemptId)));
    await this.#renewing;
  }

  async #renew(): Promise<void> {
    while ((await this.#clock.sleep(renewEveryMs, this.#closing.signal)) && this.#held.size > 0) {
      try {
        await this.#slots.renew([...this.#held.keys()]);
      } catch (error) {
        this.#log.warn({ err: error }, 'trunk lines were not renewed');
      }
    }
    this.#renewing = null;
  }
}
