import type { GoalFile } from '@trunkcall/contract';
import { goalProblems } from './goal-rules.ts';
import { readGoalSource, type LocatedProblem } from './goal-source.ts';

export { maxGoalFileBytes, type GoalProblem, type LocatedProblem } from './goal-source.ts';

export type ParsedGoalFile =
  | { readonly ok: true; readonly file: GoalFile }
  | { readonly ok: false; readonly problems: readonly LocatedProblem[] };

/** More would only be scrolled past. */
const maxProblems = 100;

/**
 * Reads a Goal file, in YAML or JSON, and checks everything that can be known without a deployment.
 *
 * Reports every problem at once, in the order of the text, at most 100. Never throws. Pure: the CLI validates
 * files with it while no service runs.
 */
export function parseGoalFile(text: string): ParsedGoalFile {
  const source = readGoalSource(text);
  const unread = source.problems.map(({ pointer }) => pointer);
  // What could not be read is not reported a second time as missing or of the wrong type.
  const echoes = (pointer: string) =>
    unread.some((place) => pointer === place || pointer.startsWith(`${place}/`));
  const broken =
    source.value === undefined ? [] : goalProblems(source.value).filter(({ pointer }) => !echoes(pointer));
  const problems = [...source.problems, ...broken.map((problem) => source.locate(problem))]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, maxProblems);
  return problems.length === 0 ? { ok: true, file: source.value as GoalFile } : { ok: false, problems };
}
