/** What simulated people say and recognise in one language. Patterns see lower case without diacritics or punctuation. */
import { en } from './en.ts';
import { es } from './es.ts';

type Phrases = readonly [string, ...string[]];

export interface Wording {
  readonly hello: Phrases;
  readonly stillThere: Phrases;
  readonly yes: Phrases;
  readonly no: Phrases;
  readonly confirmed: Phrases;
  readonly goodbye: Phrases;
  readonly dates: Phrases;
  readonly times: Phrases;
  readonly names: Phrases;
  readonly remarks: Phrases;
  /** Small whole numbers from 1 on, in words. */
  readonly numbers: Phrases;
  readonly useless: Phrases;
  readonly interruptions: Phrases;
  readonly optOut: Phrases;
  readonly dontKnow: string;
  readonly monologue: string;
  readonly voicemail: string;
  readonly menu: string;
  readonly menuRepeat: string;
  readonly connecting: string;
  /** How a person names one of several options. */
  readonly choices: readonly [(option: string) => string, ...((option: string) => string)[]];
  readonly correction: (field: string, answer: string) => string;

  readonly farewellPattern: RegExp;
  readonly confirmPattern: RegExp;
  readonly datePattern: RegExp;
  readonly timePattern: RegExp;
  readonly namePattern: RegExp;
}

const languages: Readonly<Record<string, Wording>> = { en, es };

/** The wording for a BCP 47 locale, by its language; English when there is none. */
export function wordingFor(locale: string): Wording {
  const language = locale.split('-')[0] ?? '';
  return Object.hasOwn(languages, language) ? (languages[language] ?? en) : en;
}
