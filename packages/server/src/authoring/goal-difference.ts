/**
 * What a new version would change for those who call the published one.
 *
 * Breaking is what makes a request that is accepted now refused, or gives a result that a program could not expect.
 * Changes of how the agent speaks are listed, but break nobody.
 */
import { GoalFile, type GoalChange, type ScalarProperty } from '@trunkcall/contract';
import { below } from '../platform/json-pointer.ts';

type Schema = GoalFile['input_schema'];
/** Why it breaks callers; null when it does not. */
type Verdict = string | null;

/** Lists the differences in the order of the file. Pure; both Goals must be valid. */
export function goalChanges(published: GoalFile, draft: GoalFile): GoalChange[] {
  return sections.flatMap((name): GoalChange[] => {
    if (name === 'input_schema') return schemaChanges('input_schema', published, draft, inputVerdict);
    if (name === 'result_schema') return schemaChanges('result_schema', published, draft, resultVerdict);
    const reason = name === 'targets' ? targetsVerdict(published, draft) : null;
    return changeOf(below('', name), published[name], draft[name], reason);
  });
}

/** Every part of a Goal file, in its order: none can be left out. */
const sections = Object.keys(GoalFile.properties) as (keyof GoalFile)[];

function changeOf(pointer: string, before: unknown, after: unknown, reason: Verdict): GoalChange[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  return [{ pointer, kind, breaking: reason !== null, reason }];
}

interface Field {
  readonly property: ScalarProperty;
  readonly required: boolean;
}

function schemaChanges(
  section: 'input_schema' | 'result_schema',
  published: GoalFile,
  draft: GoalFile,
  verdict: (before: Field | undefined, after: Field | undefined) => Verdict,
): GoalChange[] {
  const before = published[section];
  const after = draft[section];
  const names = new Set([...Object.keys(before.properties), ...Object.keys(after.properties)]);
  return [...names].flatMap((name) => {
    const [was, is] = [fieldOf(before, name), fieldOf(after, name)];
    const place = below(`/${section}/properties`, name);
    return changeOf(place, was, is, verdict(was, is));
  });
}

function fieldOf(schema: Schema, name: string): Field | undefined {
  const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
  return property && { property, required: schema.required.includes(name) };
}

/** A required variable with a default need not be sent. */
const mustBeSent = ({ property, required }: Field) => required && property.default === undefined;

function inputVerdict(before: Field | undefined, after: Field | undefined): Verdict {
  if (after === undefined) return 'requests that send this variable will be refused';
  if (before === undefined)
    return mustBeSent(after) ? 'requests without this variable will be refused' : null;
  if (mustBeSent(after) && !mustBeSent(before)) return 'requests without this variable will be refused';
  if (!accepts(after.property, before.property)) return 'values that are accepted now will be refused';
  return null;
}

function resultVerdict(before: Field | undefined, after: Field | undefined): Verdict {
  if (before === undefined) return null;
  if (after === undefined) return 'programs that read this field will not find it';
  if (before.required && !after.required) return 'the field may be missing from now on';
  if (!accepts(before.property, after.property)) return 'values may come that could not come before';
  return null;
}

/** Whether everything that `narrow` allows is allowed by `wide`. */
function accepts(wide: ScalarProperty, narrow: ScalarProperty): boolean {
  const typeFits = wide.type === narrow.type || (wide.type === 'number' && narrow.type === 'integer');
  if (!typeFits) return false;
  if (wide.enum === undefined) return true;
  return narrow.enum?.every((value) => wide.enum?.includes(value)) ?? false;
}

function targetsVerdict(published: GoalFile, draft: GoalFile): Verdict {
  const kept = new Set(draft.targets.countries);
  const lost = published.targets.countries.filter((country) => !kept.has(country));
  return lost.length === 0 ? null : `numbers in these countries will be refused: ${lost.join(', ')}`;
}
