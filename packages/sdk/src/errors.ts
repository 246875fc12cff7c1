import type { ApiErrorCode } from '@trunkcall/contract';

/** The service refused the request. Program logic reads `code`; `message` is for logs. */
export class TrunkcallError extends Error {
  override readonly name = 'TrunkcallError';
  /** HTTP status. */
  readonly status: number;
  /** `unknown` when something in between, such as a proxy, answered without the service's envelope. */
  readonly code: ApiErrorCode | 'unknown';
  readonly details: Readonly<Record<string, unknown>>;
  /** For the service's operator; null when the response carried none. */
  readonly requestId: string | null;

  constructor(fields: Pick<TrunkcallError, 'status' | 'code' | 'message' | 'details' | 'requestId'>) {
    super(fields.message);
    this.status = fields.status;
    this.code = fields.code;
    this.details = fields.details;
    this.requestId = fields.requestId;
  }
}

/** The service could not be reached, did not answer in time, or its answer was no JSON; `cause` says more. */
export class TrunkcallUnreachable extends Error {
  override readonly name = 'TrunkcallUnreachable';
}

/** `waitForRun` gave up waiting; the Run goes on. */
export class TrunkcallTimeout extends Error {
  override readonly name = 'TrunkcallTimeout';
}
