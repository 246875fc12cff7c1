import { apiErrors, type ApiErrorCode } from '@trunkcall/contract';

export interface RefusalOptions {
  /** Defaults to the first status of the code in the catalogue. */
  readonly status?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** What really happened; goes to the log alone. */
  readonly cause?: unknown;
}

/**
 * A refusal to a client. `message` is public: it names the offending field and what would be right, and
 * never repeats a value that was sent (I10).
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ApiErrorCode, message: string, options: RefusalOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.status = options.status ?? apiErrors[code].statuses[0];
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }
}
