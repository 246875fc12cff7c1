/**
 * The scripted agent: a conversation without a model and without a key, honest about what it is. It asks for
 * the fields of the result one by one, reads back what it noted, thanks and says goodbye.
 *
 * On a leg that carries sentences it listens to words (`dialogue.ts`). On one that carries sound it speaks with a
 * synthesizer and is answered by keys (`keypad.ts`).
 */
import type { Clock } from '../../platform/clock.ts';
import type { Agent, Brief } from '../agent.ts';
import type { Synthesizer } from '../audio/synthesizer.ts';
import { renderSpoken } from '../instructions.ts';
import { speechOver } from '../audio/speech-over.ts';
import { announcement } from './announcement.ts';
import type { Script } from './dialogue.ts';
import { keypadTalk } from './keypad-talk.ts';
import { languages, localeFor, localeOfCall, regionOf } from './locales/locale.ts';
import { speechTalk } from './speech-talk.ts';
import { hold } from './talk.ts';
import { dayAt } from './understanding/dates.ts';
import { humanise } from './understanding/text.ts';

export interface ScriptedAgentOptions {
  /** Says which day is today, for "next Tuesday". */
  readonly clock: Clock;
  /** Speaks on legs that carry sound; null when there is none. */
  readonly synthesizer: Synthesizer | null;
}

export function createScriptedAgent({ clock, synthesizer }: ScriptedAgentOptions): Agent {
  return {
    kind: 'scripted',
    problems(locale, media) {
      const mute = media === 'audio' && synthesizer === null;
      return [
        ...(localeFor(locale) === null
          ? [`the scripted agent speaks ${languages.join(', ')}; it does not speak the locale ${locale}`]
          : []),
        ...(mute
          ? ['the scripted agent needs espeak-ng (Debian package espeak-ng) to speak on a telephone line']
          : []),
      ];
    },
    async converse(brief, leg, transcript, signal) {
      const script = scriptFor(brief, clock);
      if (script === null) return { kind: 'failed', note: 'the scripted agent does not speak this locale' };
      const { media } = leg;
      const { wrapUpAtMs, locale } = brief;
      const { texts } = script.locale;
      const only =
        brief.announcement === null
          ? null
          : [texts.disclosure(script.callerName), brief.announcement, texts.goodbye].join(' ');
      if (media.kind === 'speech') {
        if (only !== null) {
          const say = async () => ({ kind: 'said', spoken: await media.say(only), sound: null }) as const;
          return hold(announcement({ say, hear: (ms) => media.hear(ms), transcript }), signal);
        }
        return hold(speechTalk({ script, leg: { ...leg, media }, transcript, wrapUpAtMs }), signal);
      }
      if (synthesizer === null) return { kind: 'failed', note: 'espeak-ng is not installed' };
      if (only !== null) {
        const speech = speechOver({ ...leg, media }, synthesizer, locale);
        const say = () => speech.say(only, 'keys');
        return hold(announcement({ say, hear: (ms) => speech.hear(ms, 1), transcript }), signal);
      }
      const parts = { script, leg: { ...leg, media }, synthesizer, locale, transcript, wrapUpAtMs };
      return hold(keypadTalk(parts), signal);
    },
  };
}

function scriptFor(brief: Brief, clock: Clock): Script | null {
  const locale = localeOfCall(brief);
  if (locale === null) return null;
  const { properties, required } = brief.resultSchema;
  return {
    locale,
    direction: brief.direction,
    grammar: locale.grammar,
    today: dayAt(clock.now(), brief.timeZone),
    region: regionOf(brief.locale),
    callerName: withoutFinalStop(brief.callerName),
    title: withoutFinalStop(brief.title),
    machine: brief.machine,
    menu: brief.menu,
    fields: Object.entries(properties).map(([name, property]) => ({
      name,
      property,
      required: required.includes(name),
      about: renderSpoken(property.description ?? '', brief.variables) || humanise(name),
    })),
  };
}

/** Our sentences end with a full stop of their own. */
function withoutFinalStop(name: string): string {
  return name.trim().replace(/\.+$/, '');
}
