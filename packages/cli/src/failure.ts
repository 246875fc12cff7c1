/** How a command ends when it does not succeed. */
import type { GoalFileProblem } from '@trunkcall/contract';
import { TrunkcallError, TrunkcallUnreachable } from '@trunkcall/sdk';
import { printable } from './report.ts';

/** 0 done, 1 refused or failed, 2 wrong usage or settings. */
export type Exit = 0 | 1 | 2;

export interface FailureOptions {
  readonly exit?: Exit;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** A failure that the CLI itself finds. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: string;
  readonly exit: Exit;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, { exit = 1, details = {}, cause }: FailureOptions = {}) {
    super(message, { cause });
    this.code = code;
    this.exit = exit;
    this.details = details;
  }
}

/** Problems of a Goal file, with the name under which the user knows the file. */
export function goalFileFailure(file: string, problems: readonly GoalFileProblem[]): Failure {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return new Failure('goal_invalid', `${file} has ${count}`, { details: { file, problems } });
}

export interface DescribedFailure {
  readonly exit: Exit;
  /** For machines. */
  readonly document: Readonly<Record<string, unknown>>;
  /** For people. */
  readonly lines: readonly string[];
}

export function describeFailure(error: unknown): DescribedFailure {
  if (error instanceof Failure) {
    const { code, message, details, exit } = error;
    return { exit, document: { code, message, details }, lines: [...problemLines(details), message] };
  }
  if (error instanceof TrunkcallError) {
    const { code, message, details, status, requestId } = error;
    const lines = [...problemLines(details), `${printable(message)} (${code})`];
    return { exit: 1, document: { code, message, details, status, request_id: requestId }, lines };
  }
  if (error instanceof TrunkcallUnreachable) {
    const { message } = error;
    const line = `${message}; is the service running, and is TRUNKCALL_URL right?`;
    return { exit: 1, document: { code: 'unreachable', message, details: {} }, lines: [line] };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exit: 1, document: { code: 'failed', message, details: {} }, lines: [message] };
}

/** `file:line:column: message`, which editors turn into links; a stored draft has a pointer instead. */
function problemLines(details: Readonly<Record<string, unknown>>): string[] {
  const problems = Array.isArray(details['problems'])
    ? (details['problems'] as (GoalFileProblem | string)[])
    : [];
  const file = typeof details['file'] === 'string' ? details['file'] : 'draft';
  return problems.map((problem) => {
    // Reasons without a place, such as why an agent can not speak.
    if (typeof problem === 'string') return printable(problem);
    const { line, column, pointer, message } = problem;
    const place = line === undefined || column === undefined ? pointer : `${line}:${column}`;
    const subject = pointer === '' || place === pointer ? '' : `${pointer.slice(1).replaceAll('/', '.')} `;
    return printable(`${file}:${place}: ${subject}${message}`);
  });
}
