import type { GoalFile } from '@trunkcall/contract';
import type { Agent } from '../agents/agent.ts';
import type { Carrier } from '../carriers/carrier.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeysOf } from '../platform/key-watch.ts';
import type { Logger } from '../platform/log.ts';

/** Agents of one kind are told of in the log no more often, milliseconds. */
const toldEveryMs = 60_000;

/**
 * Builds the answer to "why could nobody speak on a call of this Goal now?", asked right before somebody is phoned: a Run
 * may have waited since its Goal was found ready, and a person whose phone rings must not hear silence.
 *
 * Empty: the call is placed now. It is then the one that tries a key which was rejected last.
 */
export function createWhyMute(deps: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly carrier: Pick<Carrier, 'media'>;
  readonly agents: readonly Agent[];
  readonly keysOf?: KeysOf;
}): (goal: GoalFile) => readonly string[] {
  const { clock, log, carrier, agents } = deps;
  const toldAt = new Map<Agent['kind'], number>();

  function tell(kind: Agent['kind'], reasons: readonly string[]): void {
    const now = clock.monotonic();
    if (now - (toldAt.get(kind) ?? -Infinity) < toldEveryMs) return;
    toldAt.set(kind, now);
    log.warn({ agent: kind, reasons }, 'runs wait undialled: nobody could speak');
  }

  return ({ agent: { kind }, locale }) => {
    const agent = agents.find((one) => one.kind === kind);
    const keys = deps.keysOf?.(kind) ?? [];
    const problems = agent?.problems(locale, carrier.media) ?? [];
    const reasons = [...new Set([...problems, ...keys.flatMap((key) => key.obstacle() ?? [])])];
    if (reasons.length > 0) tell(kind, reasons);
    else for (const key of keys) key.tries();
    return reasons;
  };
}
