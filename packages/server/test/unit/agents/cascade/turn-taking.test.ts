import { array, assert as assertProperty, constantFrom, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSpoken,
  nextFloor,
  type Floor,
  type FloorEffect,
  type FloorEvent,
  type Saying,
} from '../../../../src/agents/cascade/turn-taking.ts';

const saying = (over: Partial<Saying> = {}): Saying => ({
  text: '',
  startedAtMs: 1_000,
  endedAtMs: 2_000,
  pending: 0,
  keys: false,
  noise: false,
  ...over,
});

/** Every state that matters, by name. */
const floors = {
  idle: { kind: 'idle' },
  speaking: { kind: 'speaking' },
  hearing: { kind: 'hearing', saying: saying(), holding: false },
  held: { kind: 'hearing', saying: saying(), holding: true },
  settling: { kind: 'settling', saying: saying({ pending: 1 }), holding: false },
  doubting: { kind: 'settling', saying: saying({ pending: 1 }), holding: true },
  pausing: { kind: 'settling', saying: saying({ text: 'Yes.' }), holding: false },
  over: { kind: 'over' },
} as const satisfies Record<string, Floor>;
type FloorName = keyof typeof floors;

const events = {
  speak: { kind: 'speak' },
  spoken: { kind: 'spoken' },
  voice_began: { kind: 'voice_began', atMs: 2_500 },
  voice_paused: { kind: 'voice_paused', atMs: 2_500 },
  segment_full: { kind: 'segment_full', atMs: 2_500 },
  words: { kind: 'words', text: 'Yes.', atMs: 2_300 },
  no_words: { kind: 'words', text: ' ', atMs: 2_300 },
  key: { kind: 'key', key: '5', atMs: 2_500 },
  beep: { kind: 'beep' },
  pause_over: { kind: 'pause_over' },
  over: { kind: 'over' },
} as const satisfies Record<string, FloorEvent>;
type EventName = keyof typeof events;

/** Next state, then the effects; `-` leaves everything as it is. No cell may be missing. */
const table: Record<FloorName, Record<EventName, string>> = {
  idle: {
    speak: 'speaking',
    spoken: '-',
    voice_began: 'hearing begin_segment',
    voice_paused: '-',
    segment_full: '-',
    words: '-',
    no_words: '-',
    key: 'settling wait:2000',
    beep: 'idle stop_waiting',
    pause_over: '-',
    over: 'over stop_waiting',
  },
  speaking: {
    speak: '-',
    spoken: 'idle',
    voice_began: 'hearing+ hold begin_segment',
    voice_paused: '-',
    segment_full: '-',
    words: '-',
    no_words: '-',
    key: 'settling yield wait:2000',
    beep: 'idle yield stop_waiting',
    pause_over: '-',
    over: 'over yield stop_waiting',
  },
  hearing: {
    speak: 'hearing+ hold',
    spoken: '-',
    voice_began: '-',
    voice_paused: 'settling end_segment',
    segment_full: 'hearing end_segment begin_segment',
    words: '-',
    no_words: '-',
    key: 'settling wait:2000',
    beep: 'idle stop_waiting',
    pause_over: '-',
    over: 'over stop_waiting',
  },
  held: {
    speak: 'hearing+ hold',
    spoken: '-',
    voice_began: '-',
    voice_paused: 'settling+ end_segment',
    segment_full: 'hearing+ end_segment begin_segment',
    words: '-',
    no_words: '-',
    key: 'settling yield wait:2000',
    beep: 'idle yield stop_waiting',
    pause_over: '-',
    over: 'over yield stop_waiting',
  },
  settling: {
    speak: 'settling+ hold',
    spoken: '-',
    voice_began: 'hearing stop_waiting begin_segment',
    voice_paused: '-',
    segment_full: '-',
    words: 'settling wait:200',
    no_words: 'idle',
    key: 'settling wait:2000',
    beep: 'idle stop_waiting',
    pause_over: '-',
    over: 'over stop_waiting',
  },
  doubting: {
    speak: 'settling+ hold',
    spoken: '-',
    voice_began: 'hearing+ stop_waiting begin_segment',
    voice_paused: '-',
    segment_full: '-',
    words: 'settling yield wait:200',
    no_words: 'speaking resume',
    key: 'settling yield wait:2000',
    beep: 'idle yield stop_waiting',
    pause_over: '-',
    over: 'over yield stop_waiting',
  },
  pausing: {
    speak: 'settling yield',
    spoken: '-',
    voice_began: 'hearing stop_waiting begin_segment',
    voice_paused: '-',
    segment_full: '-',
    words: '-',
    no_words: '-',
    key: 'settling wait:2000',
    beep: 'idle stop_waiting',
    pause_over: 'idle stop_waiting deliver',
    over: 'over stop_waiting deliver',
  },
  over: {
    speak: '-',
    spoken: '-',
    voice_began: '-',
    voice_paused: '-',
    segment_full: '-',
    words: '-',
    no_words: '-',
    key: '-',
    beep: '-',
    pause_over: '-',
    over: 'over stop_waiting',
  },
};

function written(before: Floor, event: FloorEvent): string {
  const { floor, effects } = nextFloor(before, event, 'en');
  if (floor === before && effects.length === 0) return '-';
  const holding = 'holding' in floor && floor.holding ? '+' : '';
  return [`${floor.kind}${holding}`, ...effects.map(name)].join(' ');
}

const name = (effect: FloorEffect) => (effect.kind === 'wait' ? `wait:${effect.ms}` : effect.kind);

describe('turn-taking', () => {
  it('does in every state, at every event, what the table says', () => {
    const found = Object.fromEntries(
      Object.entries(floors).map(([state, floor]) => [
        state,
        Object.fromEntries(Object.entries(events).map(([event, what]) => [event, written(floor, what)])),
      ]),
    );
    expect(found).toEqual(table);
  });

  it('T1: a noise that goes on does not silence us', () => {
    const noisy: Floor = { kind: 'hearing', saying: saying({ pending: 1 }), holding: true };
    expect(written(noisy, events.no_words)).toBe('speaking resume');
  });

  it('T2: a turn waits for the words of all its segments', () => {
    const two: Floor = { kind: 'settling', saying: saying({ pending: 2 }), holding: false };
    const first = nextFloor(two, { kind: 'words', text: 'I am at home', atMs: 2_300 }, 'en');
    expect(first.effects).toEqual([]);
    const second = nextFloor(first.floor, { kind: 'words', text: 'in the evening.', atMs: 2_700 }, 'en');
    expect(second.effects).toEqual([{ kind: 'wait', ms: 0 }]);
    expect(nextFloor(second.floor, events.pause_over, 'en').effects.at(-1)).toMatchObject({
      kind: 'deliver',
      saying: { text: 'I am at home in the evening.' },
    });
  });

  it('T3: who never pauses is answered after a minute', () => {
    const long: Floor = { kind: 'hearing', saying: saying({ text: 'and so', pending: 1 }), holding: false };
    const late = nextFloor(long, { kind: 'words', text: 'and on', atMs: 61_000 }, 'en');
    expect(late.effects.at(-1)).toMatchObject({ kind: 'deliver', saying: { text: 'and so and on' } });
  });

  it('T5: a voice counts as one until it had no words for a whole segment, and again when it has some', () => {
    const moved = (floor: Floor, event: FloorEvent) => nextFloor(floor, event, 'en').floor;
    expect(isSpoken(floors.hearing)).toBe(true);
    const first = moved(floors.hearing, events.segment_full);
    expect(isSpoken(first)).toBe(true);
    // A cough before it.
    expect(isSpoken(moved(first, events.no_words))).toBe(true);
    const nothing = { ...events.no_words, atMs: 9_500 };
    const noisy = moved(first, nothing);
    expect(isSpoken(noisy)).toBe(false);
    const second = moved(noisy, events.segment_full);
    expect(isSpoken(moved(second, nothing))).toBe(false);
    const words = moved(second, events.words);
    expect(isSpoken(words)).toBe(true);
    expect(isSpoken(moved(moved(words, events.segment_full), nothing))).toBe(true);
    expect([floors.idle, floors.speaking, floors.over].some(isSpoken)).toBe(false);
  });

  it('keeps entries of keys together, and apart from words', () => {
    const one = nextFloor(floors.idle, events.key, 'en');
    const two = nextFloor(one.floor, { ...events.key, key: '#' }, 'en');
    expect(nextFloor(two.floor, events.pause_over, 'en').effects.at(-1)).toMatchObject({
      kind: 'deliver',
      saying: { text: '[5#]' },
    });
  });

  it('never loses our sentence: what is held is resumed or yielded, once, whatever happens', () => {
    const event = constantFrom(...Object.values(events));
    assertProperty(
      property(array(event, { maxLength: 60 }), (happened) => {
        let floor: Floor = floors.idle;
        let ours = false;
        for (const each of happened) {
          // As whoever runs the machine: one speech at a time, `spoken` when it is over.
          if (each.kind === 'speak' && ours) continue;
          if (each.kind === 'spoken' && floor.kind !== 'speaking') continue;
          const moved = nextFloor(floor, each, 'en');
          if (each.kind === 'speak') ours = floor.kind !== 'over';
          ({ floor } = moved);
          if (each.kind === 'spoken' || moved.effects.some(({ kind }) => kind === 'yield')) ours = false;
          const hasFloor = floor.kind === 'speaking' || ('holding' in floor && floor.holding);
          expect(hasFloor).toBe(ours);
        }
      }),
    );
  });
});
