/**
 * What a driver error means for the caller, told by SQLSTATE, by socket error code or, where the driver
 * gives neither, by its fixed message.
 */
import { DatabaseUnavailable } from './database.ts';

const serializationFailure = '40001';
const deadlockDetected = '40P01';

/** SQLSTATE classes: connection (08), resources such as disk and connections (53), system I/O (58). */
const unavailableClasses = new Set(['08', '53', '58']);

const unavailableCodes = new Set([
  '25006', // read-only: the primary has become a standby
  '25P03', // the session was ended for idling in a transaction
  '57014', // statement_timeout
  '57P01', // shutdown by the administrator
  '57P02', // another session crashed and took all with it
  '57P03', // starting up or shutting down
  '57P05', // the session was ended for idling
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

/** Messages of pg and pg-pool that come without a code. */
const unavailableMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|The server does not support SSL)/;

/**
 * Turns a driver error into what the port promises: `DatabaseUnavailable` with the original as `cause`, or
 * the error itself. What PostgreSQL tells in `detail` and `where` are column values (phone numbers among
 * them), so both are removed before anybody can log them.
 */
export function portError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseUnavailable) return error;
  discardValues(error);
  if (!isUnavailable(error)) return error;
  return new DatabaseUnavailable('The database could not be asked.', { cause: error });
}

/** Another try of the same transaction may succeed, because it lost against another one. */
export function lostAgainstAnother(error: unknown): boolean {
  const code = codeOf(error);
  return code === serializationFailure || code === deadlockDetected;
}

/** A prepared statement is unknown to the server (26000) or no longer fits the schema (0A000). */
export function planIsStale(error: unknown): boolean {
  const code = codeOf(error);
  if (code === '26000') return true;
  return (
    code === '0A000' && error instanceof Error && error.message.startsWith('cached plan must not change')
  );
}

function isUnavailable(error: Error): boolean {
  const code = codeOf(error);
  if (code === undefined) return unavailableMessages.test(error.message);
  return unavailableCodes.has(code) || (code.length === 5 && unavailableClasses.has(code.slice(0, 2)));
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function discardValues(error: Error): void {
  if ('detail' in error) error.detail = undefined;
  if ('where' in error) error.where = undefined;
}
