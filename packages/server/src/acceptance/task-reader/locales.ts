/** Which language the people of a country are called in. */

/**
 * The countries with most telephones, by main language. Where several are spoken, it is the one that most callees
 * understand.
 */
const countriesByLanguage = `
  en US GB CA AU NZ IE ZA NG GH KE IN SG PH
  es ES MX AR CO CL PE VE EC GT CU BO DO HN PY SV NI CR PA UY PR
  pt BR PT AO MZ
  fr FR CI SN CM LU MC
  de DE AT CH LI
  it IT SM VA
  nl NL BE
  ar SA AE EG MA DZ TN JO LB QA KW IQ OM BH
  zh CN TW HK
  el GR CY
  sv SE
  nb NO
  da DK
  fi FI
  is IS
  pl PL
  cs CZ
  sk SK
  hu HU
  ro RO
  bg BG
  hr HR
  sr RS
  sl SI
  uk UA
  ru RU
  tr TR
  he IL
  fa IR
  ja JP
  ko KR
  th TH
  vi VN
  id ID
  ms MY
  ur PK
  bn BD
  lt LT
  lv LV
  et EE`;

const languages = new Map(
  countriesByLanguage
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [language = '', ...countries] = line.trim().split(' ');
      return countries.map((country) => [country, language] as const);
    }),
);

/**
 * The locale for a callee in `region`: the main language there if `speaks` says that somebody here speaks it, else
 * English as in that region.
 */
export function localeIn(region: string, speaks: (locale: string) => boolean): string {
  const locale = `${languages.get(region) ?? 'en'}-${region}`;
  return speaks(locale) ? locale : `en-${region}`;
}
