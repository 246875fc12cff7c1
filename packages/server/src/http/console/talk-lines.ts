/** The two kinds of legs on which somebody talks to a draft, and what of the page's messages each takes. */
import type { TalkMode, TalkRequest } from '@trunkcall/contract';
import type { Leg } from '../../carriers/carrier.ts';
import { SpokenLine } from '../../carriers/lab/spoken-line.ts';
import { slowness, TypedLine } from '../../carriers/lab/typed-line.ts';
import type { Clock } from '../../platform/clock.ts';
import type { TalkLink, TalkListener } from './talk-link.ts';

export interface TalkLine {
  readonly leg: Leg;
  readonly listener: TalkListener;
}

/** How many seconds a second of the leg lasts. */
export const slownessOf: Readonly<Record<TalkMode, number>> = { typed: slowness, spoken: 1 };

/** A leg for a talk of the mode; what the page sends goes to its listener. */
export function openLine(mode: TalkMode, clock: Clock, link: TalkLink): TalkLine {
  return mode === 'typed' ? typedLine(clock, link) : spokenLine(clock, link);
}

function typedLine(clock: Clock, link: TalkLink): TalkLine {
  const line = new TypedLine({ clock, onKeys: (digits) => link.send({ type: 'keys', digits }) });
  return {
    leg: line.leg,
    listener: {
      request: (request) => take(line, request, link),
      sound: () => link.reject('a typed talk has no sound'),
    },
  };
}

function spokenLine(clock: Clock, link: TalkLink): TalkLine {
  const line = new SpokenLine({
    clock,
    onSound: (frame) => link.sound(frame),
    onClear: () => link.send({ type: 'clear' }),
    onKeys: (digits) => link.send({ type: 'keys', digits }),
  });
  return {
    leg: line.leg,
    listener: {
      request: (request) => take(line, request, link),
      sound: (frame) => line.frame(frame),
    },
  };
}

function take(line: TypedLine | SpokenLine, request: TalkRequest, link: TalkLink): void {
  switch (request.type) {
    case 'start':
      return link.reject('a talk has one start');
    case 'keys':
      return line.press(request.digits);
    case 'beep':
      return line.beep();
    case 'hang_up':
      return line.hangUp();
    case 'say':
    case 'typing':
    case 'nothing':
      if (line instanceof TypedLine) write(line, request);
      else link.reject(`${request.type} belongs into a typed talk`);
  }
}

type Written = Extract<TalkRequest, { type: 'say' | 'typing' | 'nothing' }>;

function write(line: TypedLine, request: Written): void {
  if (request.type === 'say') line.say(request.text);
  else if (request.type === 'typing') line.typing(request.typing);
  else line.sayNothing();
}
