import { text } from '../text.ts';

const failures: Readonly<Record<string, string>> = {
  ...text.errors,
  no_recipient_reached: text.call.noneReached,
};

/** Why a call failed or has no result, in words; a code that is not known as it is. */
export const callFailureText = (code: string): string => failures[code] ?? code;
