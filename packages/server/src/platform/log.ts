import { pino, type Logger } from 'pino';

export type { Logger };

/**
 * The service's log: one JSON line per unit of work.
 *
 * I10 is kept by what is logged (ids, codes, times), and once more here: should an object with one of the
 * private fields ever be logged, the field is replaced. Standard error, so that standard output stays free
 * for answers.
 */
export function createLog(level: string, destination: NodeJS.WritableStream = process.stderr): Logger {
  const fields = [
    'phone',
    'to',
    'variables',
    'authorization',
    'key',
    'token',
    'text',
    'task',
    'quote',
    'value',
  ];
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: [...fields, ...fields.map((field) => `*.${field}`)], censor: '[redacted]' },
      serializers: { err: (error: unknown) => describeError(error) },
    },
    destination,
  );
}

/** An error without the statement's values that drivers attach (`detail`, `where`, `parameters`). */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { type: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
