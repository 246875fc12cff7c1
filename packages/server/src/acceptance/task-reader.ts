/**
 * The task reader port: finds in the words of a task whom to call and what is missing.
 *
 * T1  A number that is not literally in the task is never called: `onlyLiteral` refuses it, whoever read it.
 * T2  In doubt a reader asks. A question costs the client a minute; a wrong number rings at a stranger's.
 */
import { isAmong, literalDigits } from './task-reader/digits.ts';
import type { SentRecipient } from './task-reader/recipients.ts';

export interface TaskRequest {
  readonly task: string;
  /** Explicit targets, checked; null when they are to be found in the task. */
  readonly recipients: readonly SentRecipient[] | null;
  /** ISO 3166-1 alpha-2: how national numbers are read, and the region of what names none. */
  readonly defaultRegion: string;
  /** BCP 47: the locale of recipients in the default region. */
  readonly defaultLocale: string;
}

export interface ReadRecipient {
  /** E.164, in the order in which they are to be tried. */
  readonly phones: readonly string[];
  /** ISO 3166-1 alpha-2. */
  readonly region: string;
  /** BCP 47. */
  readonly locale: string;
}

export type NotReadyReason =
  /** No number to call. */
  | 'missing_phone'
  /** Places were left open in the task. */
  | 'missing_information'
  /** The number has an extension, which can not be dialled. */
  | 'extension_not_supported'
  /** More numbers than one task may have. */
  | 'too_many_phones';

export type TaskReading =
  | {
      readonly kind: 'ready';
      /** At least one. */
      readonly recipients: readonly ReadRecipient[];
      /** What the call is about, as the callee may hear it: at most 200 characters, no phone numbers. */
      readonly title: string;
    }
  | {
      readonly kind: 'not_ready';
      readonly reasonCode: NotReadyReason;
      /** At least one, for the client to answer by completing the task. */
      readonly questions: readonly string[];
    }
  /** A fault of ours or of a provider; a later try may succeed. The note holds nothing of the task. */
  | { readonly kind: 'failed'; readonly note: string };

export interface TaskReader {
  read(request: TaskRequest, signal: AbortSignal): Promise<TaskReading>;
}

export const askForPhone = 'Which phone number should be called?';

/** Takes back a reading that would call a number which is neither an explicit target nor literally in the task (T1). */
export function onlyLiteral(request: TaskRequest, reading: TaskReading): TaskReading {
  if (reading.kind !== 'ready') return reading;
  const sent = request.recipients?.flatMap(({ phones }) => phones);
  const digits = literalDigits(request.task);
  const known = (phone: string) => (sent === undefined ? isAmong(digits, phone) : sent.includes(phone));
  if (reading.recipients.length > 0 && reading.recipients.every(({ phones }) => phones.every(known))) {
    return reading;
  }
  return { kind: 'not_ready', reasonCode: 'missing_phone', questions: [askForPhone] };
}
