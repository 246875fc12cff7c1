/** Who lives at which number of the simulated network, and what their phone does before it is answered. */
import {
  calleeBehaviors,
  type CalleeBehavior,
  type ResultSchema,
  type ScriptedCallee,
} from '@trunkcall/contract';
import type { Ending, Simulation } from '../carrier.ts';
import type { Random } from './random.ts';

/** A person of the simulated network: scripted by a Goal file, or numbered. */
export interface Resident {
  readonly does: CalleeBehavior;
  /** Prescribed answers by result field. */
  readonly says: NonNullable<ScriptedCallee['says']>;
  readonly resultSchema: ResultSchema;
}

/** The last two digits of a `+1 NPA 555 01xx` number are the place of the behaviour in this list. */
const byLastDigits: readonly CalleeBehavior[] = calleeBehaviors;

export function residentOf(to: string, simulation: Simulation): Resident {
  const { resultSchema } = simulation;
  const scripted = simulation.callees.find((callee) => callee.phone === to);
  if (scripted !== undefined) {
    return { does: scripted.does ?? 'cooperates', says: scripted.says ?? {}, resultSchema };
  }
  const digits = /^\+1\d{3}55501(\d\d)$/.exec(to)?.[1];
  const does = digits === undefined ? undefined : byLastDigits[Number(digits)];
  return { does: does ?? 'cooperates', says: {}, resultSchema };
}

/** What a phone does: whether it rings, and after how long it is answered or the call ends by itself. */
export interface Reaction {
  readonly rings: boolean;
  readonly afterMs: number;
  /** Null when it is answered. */
  readonly ending: Ending | null;
}

export function reactionOf(does: CalleeBehavior, random: Random): Reaction {
  switch (does) {
    case 'rings_out':
      return { rings: true, afterMs: Infinity, ending: null };
    case 'busy':
      return { rings: false, afterMs: 400, ending: refused('busy', 'callee', 486, 17) };
    case 'declines':
      return {
        rings: true,
        afterMs: random.between(2_000, 4_000),
        ending: refused('declined', 'callee', 603, 21),
      };
    case 'unassigned':
      return { rings: false, afterMs: 400, ending: refused('invalid_number', 'carrier', 404, 1) };
    case 'carrier_fails':
      return { rings: false, afterMs: 900, ending: refused('carrier_error', 'carrier', 503, 41) };
    case 'voicemail':
      return { rings: true, afterMs: random.between(4_000, 4_900), ending: null };
    case 'cooperates':
    case 'hangs_up_midway':
    case 'answers_uselessly':
    case 'says_nothing':
    case 'opts_out':
    case 'has_menu':
    case 'talks_over':
    case 'never_hangs_up':
      return { rings: true, afterMs: random.between(1_500, 4_500), ending: null };
  }
}

function refused(
  outcome: Ending['outcome'],
  endedBy: Ending['endedBy'],
  sipStatus: number,
  q850: number,
): Ending {
  return { outcome, endedBy, sipStatus, q850, note: null };
}
