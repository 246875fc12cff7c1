import { phonePattern, type GoalFile } from '@trunkcall/contract';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

const e164 = new RegExp(phonePattern);

/**
 * Checks a number against a Goal's target policy. Returns null when it may be called, else what is wrong in
 * words that do not repeat the number. `targets` is null where no RunSpec is published.
 */
export function phoneProblem(phone: string, targets: GoalFile['targets'] | null): string | null {
  if (!e164.test(phone)) return 'phone must be canonical E.164: + and 8 to 15 digits, nothing else';
  const number = parsePhoneNumberFromString(phone);
  if (number === undefined || !number.isValid()) return 'phone is not a number of any known numbering plan';
  if (targets === null) return null;
  if (number.country === undefined || !targets.countries.includes(number.country)) {
    return `phone is outside the countries that this Goal calls (${targets.countries.join(', ')})`;
  }
  return null;
}
