import type { SentVariables } from '../acceptance/acceptance.ts';
import { Refusal } from '../platform/refusal.ts';
import { describeProblem, parseJson } from './body.ts';
import { describeName } from './strict-json.ts';

export interface SentGoalRun {
  /** Any string; whether it is a phone number is asked behind the look-up of the key. */
  readonly phone: string;
  readonly variables: SentVariables;
}

/** Fields that would override what the published Goal owns; names with a star stand for all that begin so. */
const ownedByGoal = [
  'task',
  'instructions',
  'prompt',
  'result_schema',
  'input_schema',
  'run_spec*',
  'version',
  'provider*',
  'model',
  'materialization*',
  'target',
  'region',
  'locale',
  'display_name',
];
const owned = new Set(ownedByGoal.filter((name) => !name.endsWith('*')));
const ownedBeginnings = ownedByGoal.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));

/**
 * Reads the closed body of a Goal Run.
 *
 * Checks the shape alone, in this order: JSON, what would not survive outside `variables`, fields that the Goal
 * owns, unknown fields, `phone`, `variables`. A problem inside `variables` is handed on, to be reported in its turn.
 * Throws: Refusal `invalid_request`, `schema_override_not_allowed`.
 */
export function readGoalRunRequest(body: Buffer): SentGoalRun {
  let problemInVariables: string | undefined;
  let problemElsewhere: string | undefined;
  const sent = parseJson(body, (path, problem) => {
    if (path[0] === 'variables') problemInVariables ??= describeProblem(path, problem);
    else problemElsewhere ??= describeProblem(path, problem);
  });
  if (problemElsewhere !== undefined) throw new Refusal('invalid_request', problemElsewhere);
  if (!isJsonObject(sent)) throw new Refusal('invalid_request', 'the body must be a JSON object');
  refuseOtherFields(sent);
  const { phone, variables = {} } = sent;
  if (typeof phone !== 'string') throw new Refusal('invalid_request', 'phone must be a string');
  if (!isJsonObject(variables)) throw new Refusal('invalid_request', 'variables must be an object');
  if (problemInVariables !== undefined)
    return { phone, variables: { ok: false, problem: problemInVariables } };
  return { phone, variables: { ok: true, values: variables } };
}

function refuseOtherFields(sent: Readonly<Record<string, unknown>>): void {
  const others = Object.keys(sent).filter((name) => name !== 'phone' && name !== 'variables');
  const override = others.find(
    (name) => owned.has(name) || ownedBeginnings.some((beginning) => name.startsWith(beginning)),
  );
  if (override !== undefined) {
    throw new Refusal(
      'schema_override_not_allowed',
      `${describeName(override)} belongs to the published Goal and can not be sent`,
    );
  }
  const [unknown] = others;
  if (unknown !== undefined) {
    throw new Refusal('invalid_request', `${describeName(unknown)} is not a field of a Goal Run`);
  }
}

function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
