/** What every leg must do, on those of the lab; its calls are always answered, so the suite of carriers is not for it. */
import { describe, expect, it } from 'vitest';
import { audioConformance } from '../../../conformance/audio-media.ts';
import { placingOn } from '../../../conformance/placing.ts';
import { speechConformance } from '../../../conformance/speech-media.ts';
import { peopleWhoSpeak, peopleWhoType } from './people.ts';

speechConformance('of people who type', peopleWhoType);
audioConformance('of people at a browser', peopleWhoSpeak, { hasNetwork: false });

describe.each([
  ['who type', peopleWhoType],
  ['at a browser', peopleWhoSpeak],
] as const)('legs of people %s', (_who, people) => {
  const answered = () => placingOn<never>(people() as never).answered('silent');

  it('C4: hanging up ends the leg once, and again changes nothing', async () => {
    const leg = await answered();
    const [first, second] = await Promise.all([leg.hangUp(), leg.hangUp()]);
    expect(first).toMatchObject({ reason: 'hung_up', endedBy: 'us' });
    expect(second).toEqual(first);
    expect(await leg.ended).toEqual(first);
  });

  it('C4: after the end nothing sleeps any more', async () => {
    const leg = await answered();
    const sleeping = leg.clock.sleep(600_000);
    await leg.hangUp();
    expect(await sleeping).toBe(false);
    expect(await leg.clock.sleep(1_000)).toBe(false);
  });

  it('C5: the clock of a leg begins with the answer and never goes back', async () => {
    const leg = await answered();
    expect(leg.clock.now()).toBeLessThan(1_000);
    expect(await leg.clock.sleep(20)).toBe(true);
    expect(leg.clock.now()).toBeGreaterThanOrEqual(20);
    await leg.hangUp();
  });

  it('a sleep on the leg stops when its signal aborts', async () => {
    const leg = await answered();
    const stop = new AbortController();
    const sleeping = leg.clock.sleep(600_000, stop.signal);
    stop.abort();
    expect(await sleeping).toBe(false);
    await leg.hangUp();
  });
});
