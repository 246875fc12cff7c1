import { beforeEach, describe, expect, it } from 'vitest';
import { TypedLine } from '../../../../src/carriers/lab/typed-line.ts';
import { createManualClock, type ManualClock } from '../../../kit/manual-clock.ts';

const question = 'Will somebody be at home on Tuesday in the morning to take the parcel?';

/** Every sleep waits for the test. */
describe('a leg whose callee writes', () => {
  let clock: ManualClock;
  let line: TypedLine;
  beforeEach(() => {
    clock = createManualClock(0);
    line = new TypedLine({ clock, onKeys: () => undefined });
  });

  it('Y1: a wait lasts four times as long as its agent asks for', async () => {
    const hearing = line.leg.media.hear(7_000);
    clock.advance(27_999);
    clock.advance(2);
    expect(await hearing).toEqual({ kind: 'silence' });
    expect(line.leg.clock.now()).toBeCloseTo(7_000, 0);
  });

  it('Y2: a sentence is over in a second at most', async () => {
    const saying = line.leg.media.say(question.repeat(5));
    clock.advance(1_001);
    expect(await saying).toMatchObject({ heard: question.repeat(5), interrupted: false });
  });

  it('Y2: what is sent meanwhile cuts it short at a whole word, and is heard next', async () => {
    const saying = line.leg.media.say(question);
    clock.advance(300);
    line.say('Who is this?');
    const { heard, interrupted } = await saying;
    expect(interrupted).toBe(true);
    expect(heard.length).toBeGreaterThan(10);
    expect(heard.length).toBeLessThan(question.length);
    expect(question.startsWith(`${heard} `)).toBe(true);
    expect(await line.leg.media.hear(0)).toMatchObject({ kind: 'utterance', text: 'Who is this?' });
  });

  it('Y3: who writes is waited for, and heard from when they began', async () => {
    const hearing = line.leg.media.hear(1_000);
    clock.advance(2_000);
    line.typing(true);
    clock.advance(60_000);
    line.say('Yes');
    expect(await hearing).toMatchObject({ kind: 'utterance', text: 'Yes', startedAtMs: 500 });
  });

  it('Y3: who thinks better of it is not', async () => {
    const hearing = line.leg.media.hear(1_000);
    line.typing(true);
    clock.advance(60_000);
    line.typing(false);
    expect(await hearing).toEqual({ kind: 'silence' });
  });

  it('who says nothing ends the wait at once; without a wait it is nothing', async () => {
    line.sayNothing();
    const hearing = line.leg.media.hear(7_000);
    line.sayNothing();
    expect(await hearing).toEqual({ kind: 'silence' });
  });

  it('keys that follow each other are one entry; # completes it', async () => {
    const hearing = line.leg.media.hear(7_000);
    line.press('4');
    clock.advance(1_000);
    line.press('2');
    clock.advance(1_000);
    line.press('#');
    expect(await hearing).toMatchObject({ kind: 'utterance', text: '[42#]' });
    const next = line.leg.media.hear(7_000);
    line.press('7');
    clock.advance(1_502);
    expect(await next).toMatchObject({ kind: 'utterance', text: '[7]' });
  });

  it('Y4: what was sent before the end is heard after it, and no more than the newest 32', async () => {
    for (let number = 1; number <= 40; number += 1) line.say(`Line ${number}`);
    line.press('5');
    line.hangUp();
    line.say('Too late');
    const heard: string[] = [];
    for (let next = await line.leg.media.hear(1); next.kind === 'utterance';) {
      heard.push(next.text);
      next = await line.leg.media.hear(1);
    }
    expect(heard).toHaveLength(32);
    expect(heard.at(-1)).toBe('[5]');
    expect(await line.leg.media.hear(1)).toEqual({ kind: 'left' });
  });
});
