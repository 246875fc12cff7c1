/** Calls without a Goal as acceptance takes them; `accept-call.ts` does it. */
import type { CallSchema, ResultSchema } from '@trunkcall/contract';
import type { CallRow } from '../storage/call-views.ts';
import type { SentRecipient } from './task-reader/recipients.ts';

/** What both kinds of calls have in common, as far as HTTP could check it without the database. */
export interface CallRequest {
  readonly accountId: string;
  /** Regions that the key may call; null means all. */
  readonly regions: readonly string[] | null;
  /** SHA-256 of the canonical request. */
  readonly fingerprint: Buffer;
  readonly task: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** As sent; vetted behind the look-up of the key. */
  readonly webhookUrl: string | null;
  /** What is wrong with a number that was sent; reported behind the look-up of the key. */
  readonly phoneProblem: string | null;
}

export interface TaskCallRequest extends CallRequest {
  readonly idempotencyKey: string | null;
  /** Explicit targets, checked; null when they are to be found in the task. */
  readonly recipients: readonly SentRecipient[] | null;
  readonly resultSchema: CallSchema | null;
  readonly recipientResultSchema: CallSchema | null;
}

export interface OneShotRequest extends CallRequest {
  readonly idempotencyKey: string;
  readonly recipient: SentRecipient;
  readonly resultSchema: ResultSchema;
}

export interface AcceptedCall {
  readonly call: CallRow;
  readonly replayed: boolean;
}

export interface CallAcceptance {
  /**
   * Accepts a call task durably (I1), once per key (I2). Throws: Refusal, also again what an earlier request with the
   * key was refused for; DatabaseUnavailable. Safe to repeat with a key: yes.
   */
  acceptTask(request: TaskCallRequest): Promise<AcceptedCall>;
  /** The same for a one-shot call; a rejection does not bind the key. */
  acceptOneShot(request: OneShotRequest): Promise<AcceptedCall>;
}
