/** What a call is about, taken from its task. */
import { cut } from '../../platform/cut.ts';
import { maskNumbers } from './phones.ts';

const maxLength = 200;
/** More of the task is not looked at. */
const maxRead = 2_000;
const nothing = 'a short request';

/** "Dr." and the like end no sentence. */
const abbreviation = /(?<!\p{L})(?:dr|mr|mrs|ms|st|no|nr|tel|prof|sr|sra|approx|ext|vs|e\.g|i\.e|z\.b)\.$/iu;
/** "Call Ana at … and", "Please ring the office to": what is left behind it says what the call is about. */
const leadIns: readonly RegExp[] = [
  /^(?:please |kindly )?(?:call|phone|ring|dial|contact|reach out to)(?!\p{L}).{0,80}?\s(?:and(?: then)?|to)\s+(?=\p{L})/iu,
  /^(?:por favor,? )?(?:llam[ae]r?|telefonea|ligue|liga|ligar)(?!\p{L}).{0,80}?\s[ye]\s+(?=\p{L})/iu,
  /^(?:bitte )?(?:rufen sie|rufe?)(?!\p{L}).{0,80}? an(?:,? und)\s+(?=\p{L})/iu,
  /^(?:s'il vous plaît,? )?(?:appelez|appelle|appeler|téléphonez à)(?!\p{L}).{0,80}?\set\s+(?=\p{L})/iu,
  /^(?:per favore,? )?(?:chiami|chiama|chiamare)(?!\p{L}).{0,80}?\se\s+(?=\p{L})/iu,
];
/** What is left of a task that only says whom to call. */
const onlyCall = /^(?:please )?(?:call|phone|ring|dial|contact)(?: (?:me|him|her|them))?$/i;
/** Something that is meant as an international number, even if it is none. */
const numberLike = /\+[\d\s().-]{6,}\d/g;
/** Stands where a number was. */
const mark = '\uFFFC';
/** The number with the words that lead up to it: "at", "on the number", "tel.:". */
const numberPhrase =
  /(?:[ ,(:–-]*(?<!\p{L})(?:at|on|under|via|al|au|unter|no|tel|phone|number|the)(?!\p{L})\.?)*[ ,(:–-]*\uFFFC\)?/giu;

/**
 * The first sentence of a task without phone numbers and without the order to call, at most 200 characters, without a
 * full stop. The callee may hear it.
 */
export function titleOf(task: string, region: string): string {
  const plain = maskNumbers(cut(task, maxRead), region, mark)
    .replace(numberLike, mark)
    .replace(/[^\S\n]+/g, ' ')
    .replace(numberPhrase, '')
    .trim();
  const sentence = firstSentence(plain);
  const about = leadIns.reduce((text, leadIn) => text.replace(leadIn, ''), sentence);
  const title = about.replace(/^[\s,;:.!–-]+|[\s,;:.!。！–-]+$/gu, '');
  if (!/\p{L}/u.test(title) || onlyCall.test(title)) return nothing;
  return title.length > maxLength ? `${cut(title, maxLength - 1).trimEnd()}…` : title;
}

function firstSentence(text: string): string {
  for (const { index } of text.matchAll(/[.!?](?=\s)|[。！？\n]/gu)) {
    const sentence = text.slice(0, index + 1);
    if (/\p{L}/u.test(sentence) && !abbreviation.test(sentence)) return sentence.trim();
  }
  return text;
}
