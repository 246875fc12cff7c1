/**
 * A model for the fake providers that holds the conversation of the scripted agent. It knows what any model would
 * know: its instructions, and what was said.
 */
import type { ScalarProperty } from '@trunkcall/contract';
import {
  begin,
  nextStep,
  type Dialogue,
  type Script,
  type Step,
} from '../../src/agents/scripted/dialogue.ts';
import { languages, localeOfCall, regionOf, type Locale } from '../../src/agents/scripted/locales/locale.ts';
import { dayAt } from '../../src/agents/scripted/understanding/dates.ts';
import type { Model, ModelItem, Reply } from './realtime-session.ts';

interface FieldToAsk {
  readonly field: string;
  readonly type: ScalarProperty['type'];
  readonly values?: ScalarProperty['enum'];
  readonly required: boolean;
  readonly description: string;
}

/** `now` is Unix milliseconds: decides which day is "tomorrow", UTC. */
export function scriptedModel(now: number): Model {
  let dialogue: Dialogue = begin;
  let taken = 0;
  let mine: ModelItem | null = null;

  /** What came from the callee since we last looked. */
  function heardSince(items: readonly ModelItem[]): string | null {
    const texts = items.filter(({ role, text }) => role === 'user' && text !== '').map(({ text }) => text);
    const fresh = texts.slice(taken).join(' ');
    taken = texts.length;
    return fresh === '' ? null : fresh;
  }

  return ({ instructions, items }) => {
    const announced = /one announcement[^]*?exactly: “(.*?)”[^]*?exactly: “(.*?)”/.exec(instructions);
    if (announced !== null) return ending([announced[1] ?? '', announced[2] ?? '', 'Goodbye.']);
    const { locale, script } = readInstructions(instructions, now);
    const { texts } = locale;
    const heard = heardSince(items);
    const extra = instructions.slice(instructions.lastIndexOf(']') + 1);
    const disclosure = /exactly: “(.*?)”/.exec(extra)?.[1] ?? null;
    const opening = disclosure === null ? [] : [disclosure];
    if (extra.includes('machine is recording')) {
      return { text: texts.voicemail(opening.join(''), script.title) };
    }
    if (extra.includes('will not be called again')) return { text: `${texts.optOut} ${texts.goodbye}` };
    if (extra.includes('time of this call is up')) {
      return ending([...opening, texts.outOfTime, texts.goodbye]);
    }
    if (extra.includes('hang up now')) return ending([texts.noneHeard, texts.goodbye]);

    // Our last words were cut when their item was deleted or truncated.
    const cut = mine !== null && !items.some(({ id, truncated }) => id === mine?.id && !truncated);
    if (cut) dialogue = { ...dialogue, questionHeard: false };
    const silence = { kind: 'silence', late: false } as const;
    const step = nextStep(
      script,
      dialogue,
      heard === null ? silence : { kind: 'heard', text: heard, lastedMs: 0, late: false },
    );
    ({ dialogue } = step);
    const reply = replyOf(step, opening);
    queueMicrotask(() => {
      mine = items.findLast(({ role }) => role === 'assistant') ?? null;
    });
    return reply;
  };
}

const ending = (say: readonly string[]): Reply => ({
  text: say.join(' '),
  calls: [{ name: 'end_call', arguments: { reason: 'no_time' } }],
});

function replyOf({ say, press, note, dialogue: { end, phase } }: Step, opening: readonly string[]): Reply {
  const begun =
    opening.length === 0 || say.length === 0 || say[0] === opening[0] ? say : [...opening, ...say];
  const noted =
    note?.kind === 'answer'
      ? [{ name: 'note', arguments: { field: note.field, value: note.value, quote: note.quote } }]
      : [];
  if (end?.kind === 'opted_out') return { text: '', calls: [{ name: 'opt_out', arguments: {} }] };
  if (end?.kind === 'machine' || phase === 'recording') {
    return { text: '', calls: [{ name: 'report_machine', arguments: { kind: 'voicemail' } }] };
  }
  if (press !== null) return { text: '', calls: [{ name: 'press_keys', arguments: { keys: press } }] };
  const over = end === null ? [] : [{ name: 'end_call', arguments: { reason: 'done' } }];
  return { text: begun.join(' '), calls: [...noted, ...over] };
}

function readInstructions(instructions: string, now: number): { locale: Locale; script: Script } {
  const [, how = '', callerName = '', title = ''] =
    /(called somebody|answer calls) for “(.*?)”, about “(.*?)”/.exec(instructions) ?? [];
  const direction = how === 'answer calls' ? 'inbound' : 'outbound';
  const spoken = /Speak (.*?), unless/.exec(instructions)?.[1] ?? '';
  const language = languages.find((code) => spoken.includes(nameOf(code))) ?? '';
  const found = localeOfCall({ locale: language, recorded: false, disclosure: true, direction });
  if (found === null) throw new Error(`the model does not speak ${spoken}`);
  // It says first what it is told to say first.
  const [, first = ''] = /exactly: “(.*?)”/.exec(instructions) ?? [];
  const locale: Locale = { ...found, texts: { ...found.texts, disclosure: () => first } };
  const asked = JSON.parse(/\[[\s\S]*\](?=[^\]]*$)/.exec(instructions)?.[0] ?? '[]') as FieldToAsk[];
  const script: Script = {
    locale,
    grammar: locale.grammar,
    today: dayAt(now, 'UTC'),
    region: spoken.includes('American') ? 'US' : regionOf('en-GB'),
    direction,
    callerName,
    title,
    // What to do about a machine is told to the model when it meets one.
    machine: 'leave_message',
    menu: 'navigate',
    fields: asked.map(({ field, type, values, required, description }) => ({
      name: field,
      property: { type, description, ...(values === undefined ? {} : { enum: values }) },
      required,
      about: description,
    })),
  };
  return { locale, script };
}

const nameOf = (language: string) => new Intl.DisplayNames('en', { type: 'language' }).of(language) ?? '';
