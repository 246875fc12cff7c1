/** Carriers whose calls are answered by people at the lab's lines, for the conformance suites of legs. */
import type { Carrier, CallOrder, Leg, Media, SpeechMedia } from '../../../../src/carriers/carrier.ts';
import { SpokenLine } from '../../../../src/carriers/lab/spoken-line.ts';
import { TypedLine } from '../../../../src/carriers/lab/typed-line.ts';
import { systemClock as clock } from '../../../../src/platform/clock.ts';
import type { AudioPhones } from '../../../conformance/audio-media.ts';
import type { CarrierUnderTest } from '../../../conformance/placing.ts';
import type { SpeechPhones } from '../../../conformance/speech-media.ts';

/** The phones that the suites call; the lab has no call that is not answered. */
const phones = Object.fromEntries(
  [
    'answers silent hangsUp interrupts voicemail menu echoes presses beeps',
    'ringsOut busy declines unassigned carrierFails',
  ].flatMap((names) => names.split(' ').map((name) => [name, name])),
);

function carrierOf<M extends Media>(answer: (to: string) => Leg<M>, media: M['kind']): Carrier<M> {
  return {
    name: 'lab',
    media,
    reaches: () => ({ ok: true }),
    forbids: () => null,
    reserve: async () => ({ kind: 'ready', release: async () => undefined }),
    async place({ to }: CallOrder, _watcher, signal) {
      const leg = answer(to);
      signal.addEventListener('abort', () => void leg.hangUp());
      return { kind: 'answered', leg };
    },
    onIncoming: () => undefined,
    states: () => [],
    close: async () => undefined,
  };
}

const soon = (work: () => void): void => void clock.sleep(100).then(work);

export function peopleWhoType(): CarrierUnderTest<SpeechMedia, SpeechPhones> {
  const answer = (to: string): Leg<SpeechMedia> => {
    const line = new TypedLine({
      clock,
      onKeys: (digits) => to === 'menu' && digits === '2' && line.say('You have pressed two.'),
    });
    if (to !== 'silent') line.say(to === 'menu' ? 'Press two.' : 'Hello?');
    if (to === 'voicemail') line.beep();
    return {
      ...line.leg,
      media: {
        ...line.leg.media,
        async say(text) {
          if (to === 'interrupts') soon(() => line.say('Wait!'));
          if (to === 'hangsUp') soon(() => line.hangUp());
          const spoken = await line.leg.media.say(text);
          if (to === 'answers') line.say('Yes.');
          return spoken;
        },
      },
    };
  };
  return { carrier: carrierOf(answer, 'speech'), phones: phones as unknown as SpeechPhones };
}

export function peopleWhoSpeak(): CarrierUnderTest<SpokenLine['leg']['media'], AudioPhones> {
  const answer = (to: string) => {
    const line = new SpokenLine({
      clock,
      onSound: (frame) => to === 'echoes' && line.frame(frame),
      onClear: () => undefined,
      onKeys: (digits) => to === 'menu' && digits === '2' && line.press('9'),
    });
    if (to === 'presses') line.press('123');
    if (to === 'hangsUp') soon(() => line.hangUp());
    if (to === 'beeps') soon(() => line.beep());
    return line.leg;
  };
  return { carrier: carrierOf(answer, 'audio'), phones: phones as unknown as AudioPhones };
}
