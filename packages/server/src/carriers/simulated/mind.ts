/**
 * What a cooperative simulated person replies: pure but for its memory of what it said.
 *
 * It knows the fields that it may be asked for and recognises a question by the words of the field's
 * description, so it gets along with any agent that asks for them.
 */
import type { Scalar, ScalarProperty } from '@trunkcall/contract';
import type { Resident } from './numbers.ts';
import type { Random } from './random.ts';
import type { Wording } from './wording/wording.ts';

export interface Reply {
  readonly text: string;
  readonly hangUp: boolean;
  /** The field that was answered, if one was. */
  readonly field: string | null;
}

/** An answer given, and spellings of which a correct repetition contains one; none means do not check. */
interface Answer {
  readonly text: string;
  readonly spellings: readonly string[];
}

/** The share of a description's words that a question must contain to be about that field. */
const enoughOverlap = 0.5;
const maxCorrections = 2;

export class Mind {
  readonly #resident: Resident;
  readonly #wording: Wording;
  readonly #random: Random;
  readonly #fields: readonly [string, ScalarProperty][];
  readonly #answers = new Map<string, Answer>();
  readonly #timesSaid = new Map<string, number>();
  #corrections = 0;

  constructor(resident: Resident, wording: Wording, random: Random) {
    this.#resident = resident;
    this.#wording = wording;
    this.#random = random;
    this.#fields = Object.entries(resident.resultSchema.properties);
  }

  /** The reply to what the other side said; null to go on listening. */
  reply(heard: string): Reply | null {
    const text = fold(heard);
    if (this.#wording.farewellPattern.test(text)) {
      return { text: this.#random.pick(this.#wording.goodbye), hangUp: true, field: null };
    }
    if (this.#wording.confirmPattern.test(text)) return say(this.#check(text));
    const field = this.#askedFor(text);
    if (field !== null) return { text: this.#answer(field), hangUp: false, field: field[0] };
    return heard.includes('?') ? say(this.#random.pick(this.#wording.yes)) : null;
  }

  /** The field that a question is about: the one whose description it contains most of. */
  #askedFor(text: string): readonly [string, ScalarProperty] | null {
    let best: { field: readonly [string, ScalarProperty]; score: number } | null = null;
    for (const field of this.#fields) {
      const score = overlap(question(field), text);
      if (score >= enoughOverlap && score > (best?.score ?? 0)) best = { field, score };
    }
    return best?.field ?? null;
  }

  #answer([name, property]: readonly [string, ScalarProperty]): string {
    const scripted = this.#nextLine(name);
    if (scripted !== null) return scripted;
    const known = this.#answers.get(name);
    if (known !== undefined) return known.text;
    const answer = this.#invent(name, property);
    this.#answers.set(name, answer);
    return answer.text;
  }

  /** The next prescribed line for a field; the last one stays. Null when nothing is prescribed. */
  #nextLine(name: string): string | null {
    const lines = this.#lines(name);
    const said = this.#timesSaid.get(name) ?? 0;
    this.#timesSaid.set(name, said + 1);
    return lines[Math.min(said, lines.length - 1)] ?? null;
  }

  #lines(name: string): readonly string[] {
    const { says } = this.#resident;
    const lines = Object.hasOwn(says, name) ? says[name] : undefined;
    return lines === undefined ? [] : [lines].flat();
  }

  /** Agrees with a correct repetition; else says what is wrong, a few times at most. */
  #check(text: string): string {
    for (const [name] of this.#fields) {
      const said = this.#timesSaid.get(name) ?? 0;
      if (said > 0 && said < this.#lines(name).length) return this.#nextLine(name) ?? '';
    }
    for (const [name, answer] of this.#answers) {
      const repeated = contains(text, fold(humanised(name)));
      const right = answer.spellings.length === 0 || answer.spellings.some((each) => contains(text, each));
      if (repeated && !right && this.#corrections < maxCorrections) {
        this.#corrections += 1;
        return this.#wording.correction(humanised(name), answer.text);
      }
    }
    return this.#random.pick(this.#wording.confirmed);
  }

  #invent(name: string, property: ScalarProperty): Answer {
    const { numbers, choices } = this.#wording;
    if (property.enum !== undefined) return this.#choose(property.enum);
    switch (property.type) {
      case 'boolean':
        return unchecked(
          this.#random.pick(this.#random.between(1, 5) > 1 ? this.#wording.yes : this.#wording.no),
        );
      case 'integer':
      case 'number': {
        const value = this.#random.between(1, numbers.length);
        const word = numbers[value - 1] ?? String(value);
        return {
          text: capital(this.#random.pick(choices)(this.#random.pick([word, String(value)]))),
          spellings: [word, String(value)],
        };
      }
      case 'string':
        return unchecked(this.#random.pick(this.#textAbout(question([name, property]))));
    }
  }

  #choose(members: readonly Scalar[]): Answer {
    const known = members.filter((member) => member !== 'unknown');
    const member = known[this.#random.between(0, known.length - 1)];
    if (member === undefined) return unchecked(this.#wording.dontKnow);
    if (typeof member === 'boolean') return unchecked(this.#wording[member ? 'yes' : 'no'][0]);
    const option = humanised(String(member));
    return { text: capital(this.#random.pick(this.#wording.choices)(option)), spellings: [fold(option)] };
  }

  #textAbout(about: string): readonly [string, ...string[]] {
    const { timePattern, datePattern, namePattern, times, dates, names, remarks } = this.#wording;
    if (timePattern.test(about)) return times;
    if (datePattern.test(about)) return dates;
    if (namePattern.test(about)) return names;
    return remarks;
  }
}

function say(text: string): Reply {
  return { text, hangUp: false, field: null };
}

function unchecked(text: string): Answer {
  return { text, spellings: [] };
}

/** What a question for this field contains: its description, or else its name. */
function question([name, property]: readonly [string, ScalarProperty]): string {
  return fold((property.description ?? humanised(name)).replace(/\{\{[^}]*\}\}/g, ' '));
}

/** The share of the words of `part` that occur in `text`; a little more when all of it stands there as it is. */
function overlap(part: string, text: string): number {
  if (part === '') return 0;
  if (contains(text, part)) return 1 + part.length / 10_000;
  const words = new Set(text.split(' '));
  const wanted = part.split(' ');
  return Math.min(0.99, wanted.filter((word) => words.has(word)).length / wanted.length);
}

function contains(text: string, words: string): boolean {
  return ` ${text} `.includes(` ${words} `);
}

/** `preferredDay`, `preferred_day` and `preferred/day` as people say them. */
function humanised(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_/-]+/g, ' ')
    .trim();
}

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** Lower case, no diacritics, no punctuation, single spaces. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/[^\p{L}\p{N}']+/gu, ' ')
    .trim();
}
