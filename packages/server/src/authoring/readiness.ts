import type { GoalFile } from '@trunkcall/contract';
import type { Agent } from '../agents/agent.ts';
import type { KeysOf } from '../platform/key-watch.ts';
import type { Reach } from '../carriers/carrier.ts';

/** Why a Goal could not be executed by this deployment now; empty when it can. */
export type Readiness = (goal: GoalFile) => readonly string[];

/**
 * Builds the answer to "can this RunSpec execute here?" from the adapters that this process really has.
 *
 * Pure and fast: it is asked for every Goal of a page and for every Run.
 */
export function createReadiness(deps: {
  readonly agents: readonly Agent[];
  /** Null when none is configured. */
  readonly carrier: Pick<Reach, 'name' | 'media' | 'reaches' | 'forbids'> | null;
  /** The keys that a call of an agent of this kind may need. */
  readonly keysOf?: KeysOf;
}): Readiness {
  const agents = new Map(deps.agents.map((agent) => [agent.kind, agent]));
  return (goal) => {
    const agent = agents.get(goal.agent.kind);
    const problems = [
      ...(agent === undefined
        ? [`the agent kind ${goal.agent.kind} is not available here`]
        : agent.problems(goal.locale, deps.carrier?.media ?? 'speech')),
      ...carrierProblems(deps.carrier, goal),
      ...(deps.keysOf?.(goal.agent.kind) ?? []).flatMap((key) => key.obstacle() ?? []),
    ];
    // An agent names its own keys, too.
    return [...new Set(problems)];
  };
}

function carrierProblems(
  carrier: Pick<Reach, 'name' | 'reaches' | 'forbids'> | null,
  goal: GoalFile,
): string[] {
  if (carrier === null) return ['no carrier is configured'];
  return [
    ...goal.targets.countries.flatMap((country) => {
      const reach = carrier.reaches(country);
      return reach.ok ? [] : [`the carrier ${carrier.name} does not reach ${country}: ${reach.reason}`];
    }),
    ...(goal.transfer ?? []).flatMap(({ name, phone }) => {
      const why = carrier.forbids(phone);
      return why === null ? [] : [`nobody can be connected with ${name}: the ${why}`];
    }),
  ];
}
