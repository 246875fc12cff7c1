import type { Grammar } from './locales/locale.ts';
import { fold } from './understanding/text.ts';

type Answerer = 'person' | 'voicemail' | 'menu' | 'announcement';

/** Tells by text rules who spoke the first words. */
export function whoAnswered(utterance: string, grammar: Grammar): Answerer {
  const text = fold(utterance);
  if (menuOptions(utterance, grammar).length > 0) return 'menu';
  if (grammar.voicemail.test(text)) return 'voicemail';
  return grammar.announcement.test(text) ? 'announcement' : 'person';
}

/** The key that a menu announces for reaching a person, or else its first one. */
export function keyForPerson(utterance: string, grammar: Grammar): string {
  const options = menuOptions(utterance, grammar);
  return (options.find(({ what }) => grammar.person.test(what)) ?? options[0])?.key ?? '0';
}

function menuOptions(utterance: string, grammar: Grammar): { what: string; key: string }[] {
  return [...utterance.matchAll(grammar.menuOption)].flatMap(({ groups = {} }) => {
    const word = (groups['key'] ?? groups['key2'] ?? '').toLowerCase();
    const key = /^\d$/.test(word) ? word : grammar.keys[word];
    return key === undefined ? [] : [{ what: fold(groups['what'] ?? groups['what2'] ?? ''), key }];
  });
}
