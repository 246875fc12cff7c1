/** How the demonstration shows what happened. */
import type { GoalRun, OperatorTurn } from '@trunkcall/contract';
import type { Person } from './people.ts';

export interface Outcome {
  readonly person: Person;
  readonly run: GoalRun;
  readonly transcript: readonly OperatorTurn[];
  /** From the request to the result. */
  readonly seconds: number;
  readonly asExpected: boolean;
}

const shownTurns = 6;

/** The conversation in short: its first turns. Nothing for a call without one. */
export function transcriptLines({ person, transcript }: Outcome): string[] {
  if (transcript.length === 0) return [];
  const turns = transcript.slice(0, shownTurns).map(({ speaker, text, interrupted }) => {
    const who = speaker === 'bot' ? 'agent ' : 'callee';
    return `  ${who}  ${text}${interrupted ? ' …' : ''}`;
  });
  const left = transcript.length - shownTurns;
  return [`\n${person.phone}  ${person.name}`, ...turns, ...(left > 0 ? [`  … ${left} more turns`] : [])];
}

export function table(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ person, run, seconds, asExpected }) => [
    asExpected ? '✓' : '✗',
    person.phone,
    run.status,
    `${seconds.toFixed(1)} s`,
    run.error === null ? JSON.stringify(run.result) : `${run.error.code}: ${run.error.detail_code ?? '-'}`,
  ]);
  const all = [['', 'number', 'status', 'time', 'result or error'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const lines = all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return `\n${lines.join('\n')}\n`;
}
