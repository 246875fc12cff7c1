/**
 * The guard against toll fraud. Pure. Who gets hold of an API key must not be able to make us pay for expensive
 * numbers, some of which share their revenue with whoever brings the calls.
 *
 * Denied by default; each trunk allows its countries' ordinary numbers, and anything else only by a prefix that
 * names it.
 */
import type { Trunk } from '@trunkcall/contract';
import { parsePhoneNumberFromString, type NumberType } from 'libphonenumber-js/max';

/** Ranges that belong to no country's ordinary telephones, with what they are. */
const costlyRanges: readonly (readonly [prefix: RegExp, what: string])[] = [
  [/^\+1900/, 'a premium-rate number'],
  // Pay-per-call exchanges of North America, in every area code.
  [/^\+1(976|\d{3}976)/, 'a premium-rate number'],
  [/^\+979/, 'a premium-rate number'],
  [/^\+87[0-9]/, 'a maritime, satellite or personal number'],
  [/^\+88[1-3]/, 'a satellite or global network number'],
];

/**
 * Country codes that are named again and again in reports of international revenue share fraud and have few
 * ordinary telephones: small islands and states whose ranges are let to third parties.
 */
const revenueShareCodes = [
  '+220', // Gambia
  '+224', // Guinea
  '+231', // Liberia
  '+232', // Sierra Leone
  '+235', // Chad
  '+236', // Central African Republic
  '+239', // Sao Tome and Principe
  '+240', // Equatorial Guinea
  '+245', // Guinea-Bissau
  '+246', // Diego Garcia
  '+247', // Ascension
  '+252', // Somalia
  '+257', // Burundi
  '+269', // Comoros
  '+290', // Saint Helena
  '+500', // Falkland Islands
  '+53', // Cuba
  '+670', // Timor-Leste
  '+672', // Norfolk Island and Antarctica
  '+674', // Nauru
  '+675', // Papua New Guinea
  '+677', // Solomon Islands
  '+678', // Vanuatu
  '+681', // Wallis and Futuna
  '+682', // Cook Islands
  '+683', // Niue
  '+685', // Samoa
  '+686', // Kiribati
  '+688', // Tuvalu
  '+690', // Tokelau
  '+692', // Marshall Islands
  '+850', // North Korea
  '+960', // Maldives
] as const;

const costlyTypes: Readonly<Partial<Record<NonNullable<NumberType>, string>>> = {
  PREMIUM_RATE: 'a premium-rate number',
  SHARED_COST: 'a shared-cost number',
  PERSONAL_NUMBER: 'a personal number',
};

/** Whether calls to a number may take this trunk. `phone` is canonical E.164. */
export function allows(trunk: Trunk, phone: string): boolean {
  if (trunk.allow_prefixes?.some((prefix) => phone.startsWith(prefix))) return true;
  if (costOf(phone) !== null) return false;
  const country = parsePhoneNumberFromString(phone)?.country;
  return country !== undefined && (trunk.countries?.includes(country) ?? false);
}

/**
 * Why a number must not be dialled, in words that do not repeat it; null when some trunk may call it.
 * `isOurs` says whether it is a number of our own: calling ourselves costs twice and can go in circles.
 */
export function whyForbidden(
  trunks: readonly Trunk[],
  phone: string,
  isOurs: (phone: string) => boolean,
): string | null {
  if (isOurs(phone) || trunks.some(({ caller_numbers: numbers }) => numbers.includes(phone)))
    return 'phone is a number of this service itself';
  if (trunks.some((trunk) => allows(trunk, phone))) return null;
  const cost = costOf(phone);
  return cost === null
    ? 'phone is in a country that no trunk may call'
    : `phone is ${cost}, which no trunk allows by its prefix`;
}

/** Whether some trunk calls ordinary numbers of the country (ISO 3166-1 alpha-2), or single prefixes of anything. */
export function reachesCountry(trunks: readonly Trunk[], country: string, callingCode: string): boolean {
  return trunks.some(
    ({ countries = [], allow_prefixes: prefixes = [] }) =>
      countries.includes(country) || prefixes.some((prefix) => prefix.startsWith(`+${callingCode}`)),
  );
}

/** What makes a number too dear to be called unasked; null for an ordinary one. */
function costOf(phone: string): string | null {
  const range = costlyRanges.find(([prefix]) => prefix.test(phone));
  if (range !== undefined) return range[1];
  if (revenueShareCodes.some((code) => phone.startsWith(code))) return 'in a country known for toll fraud';
  const type = parsePhoneNumberFromString(phone)?.getType();
  return (type !== undefined && costlyTypes[type]) || null;
}
