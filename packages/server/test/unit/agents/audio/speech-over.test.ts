import { describe, expect, it } from 'vitest';
import type { AudioHeard } from '../../../../src/agents/audio/ear.ts';
import { speechOver, type SpeechOver } from '../../../../src/agents/audio/speech-over.ts';
import type { Synthesizer } from '../../../../src/agents/audio/synthesizer.ts';
import { AudioLine, known, noiseSynthesizer } from '../../../kit/audio-callee.ts';

/** 60 ms a character. */
const question = 'Will somebody be at home? For yes, press 1. For no, press 2.';

function start(wrap: (synthesizer: Synthesizer) => Synthesizer = (each) => each): {
  line: AudioLine;
  speech: SpeechOver;
} {
  const { synthesizer, textOf } = known(noiseSynthesizer());
  const line = new AudioLine('mu', textOf);
  return { line, speech: speechOver(line.leg, wrap(synthesizer), 'en-US') };
}

async function spokenBy(saying: ReturnType<SpeechOver['say']>) {
  const said = await saying;
  if (said.kind === 'failed') throw new Error(said.note);
  return said.spoken;
}

/** A callee's doing, from a time of the leg on. */
function at(line: AudioLine, atMs: number, act: () => unknown): void {
  void line.time.sleep(atMs - line.time.now).then((due) => due && act());
}

describe('what we say', () => {
  it('is over when it was really played, every sentence of it, without a gap', async () => {
    const { line, speech } = start();
    const spoken = await spokenBy(speech.say(question, 'keys_and_voice'));
    expect(spoken).toMatchObject({ heard: question, interrupted: false, startedAtMs: 0 });
    expect(line.heard).toEqual(['Will somebody be at home?', 'For yes, press 1.', 'For no, press 2.']);
    const soundMs = (question.length - 2) * 60;
    expect(spoken.endedAtMs).toBeGreaterThanOrEqual(soundMs);
    expect(spoken.endedAtMs).toBeLessThan(soundMs + 100);
    await line.leg.hangUp();
  });

  it.each([
    [200, ''],
    [1_000, 'Will somebody be'],
    [1_720, 'Will somebody be at home? For'],
    [2_400, 'Will somebody be at home? For yes, press'],
    [2_600, 'Will somebody be at home? For yes, press 1.'],
  ])('is cut short by a key after %i ms, with the words that were heard by then', async (atMs, heard) => {
    const { line, speech } = start();
    at(line, atMs - 120, () => line.press('1'));
    const spoken = await spokenBy(speech.say(question, 'keys'));
    expect(spoken).toMatchObject({ heard, interrupted: true });
    expect(spoken.endedAtMs - atMs).toBeLessThan(40);
    expect(await speech.hear(1_000, 1)).toMatchObject({ kind: 'keys', digits: '1', startedAtMs: atMs });
    await line.leg.hangUp();
  });

  it('is cut short by a voice that lasts, and the voice is heard out', async () => {
    const { line, speech } = start();
    at(line, 1_000, () => line.speak(2_000));
    const spoken = await spokenBy(speech.say(question, 'keys_and_voice'));
    expect(spoken.interrupted).toBe(true);
    expect(spoken.endedAtMs).toBeGreaterThanOrEqual(1_450);
    expect(spoken.endedAtMs).toBeLessThan(1_700);
    const heard = await speech.hear(100, 1);
    expect(heard).toMatchObject({ kind: 'voice' });
    expect(voiceTimes(heard)[0]).toBeCloseTo(1_000, -2);
    expect(voiceTimes(heard)[1]).toBeCloseTo(3_000, -2);
    await line.leg.hangUp();
  });

  it('is not cut short by a cough, nor by a voice when only keys may; who talked over it is not heard', async () => {
    const { line, speech } = start();
    at(line, 1_000, () => line.speak(300));
    expect(await spokenBy(speech.say(question, 'keys_and_voice'))).toMatchObject({ interrupted: false });
    at(line, line.time.now + 500, () => line.speak(1_500));
    expect(await spokenBy(speech.say(question, 'keys'))).toMatchObject({ interrupted: false });
    expect(await speech.hear(500, 1)).toEqual({ kind: 'silence' });
    await line.leg.hangUp();
  });

  it('does not begin when a key was pressed before that nobody heard yet', async () => {
    const { line, speech } = start();
    await line.press('9');
    expect(await spokenBy(speech.say(question, 'keys'))).toMatchObject({ heard: '', interrupted: true });
    expect(await speech.hear(1_000, 1)).toMatchObject({ digits: '9' });
    await line.leg.hangUp();
  });

  it('is not answered by a voice from before, and one that goes on is heard from then on', async () => {
    const { line, speech } = start();
    await line.speak(1_000);
    await line.time.sleep(800);
    at(line, 2_000, () => line.speak(1_000));
    await line.time.sleep(500);
    const spoken = await spokenBy(speech.say(question, 'keys_and_voice'));
    expect(spoken).toMatchObject({ startedAtMs: 2_300, heard: '', interrupted: true });
    const heard = await speech.hear(1_000, 1);
    expect(heard).toMatchObject({ kind: 'voice', startedAtMs: 2_300 });
    expect(await speech.hear(1_000, 1)).toEqual({ kind: 'silence' });
    await line.leg.hangUp();
  });

  it('is cut short by a beep', async () => {
    const { line, speech } = start();
    at(line, 1_000, () => line.beep());
    expect(await spokenBy(speech.say(question, 'keys'))).toMatchObject({ interrupted: true });
    expect(await speech.hear(100, 1)).toEqual({ kind: 'beep', atMs: 1_000 });
    await line.leg.hangUp();
  });

  it('ends with the leg, and after it nothing is said', async () => {
    const { line, speech } = start();
    at(line, 1_000, () => line.hangUp());
    expect(await spokenBy(speech.say(question, 'keys'))).toMatchObject({
      heard: 'Will somebody be',
      interrupted: true,
    });
    expect(await spokenBy(speech.say(question, 'keys'))).toMatchObject({ heard: '', interrupted: true });
    expect(await speech.hear(1_000, 1)).toEqual({ kind: 'left' });
  });

  it('of any length waits in the line as two sentences at most', async () => {
    const asked: number[] = [];
    const { line, speech } = start((synthesizer) => ({
      speak: (text, locale) => {
        asked.push(line.time.now);
        return synthesizer.speak(text, locale);
      },
    }));
    const text = Array.from({ length: 20 }, (_, index) => `${index} ${'word '.repeat(20)}end.`).join(' ');
    const sentenceMs = 105 * 60;
    expect(await spokenBy(speech.say(text, 'keys'))).toMatchObject({ heard: text, interrupted: false });
    expect(asked).toHaveLength(20);
    // The one after those two is synthesized already.
    asked.forEach((atMs, index) => expect(atMs).toBeGreaterThanOrEqual((index - 3) * sentenceMs));
    await line.leg.hangUp();
  });

  it('fails when it can not be synthesized, and what was queued of it is dropped', async () => {
    const { line, speech } = start((synthesizer) => ({
      speak: async (text, locale) =>
        text.startsWith('For no') ? { kind: 'failed', note: 'no voice' } : synthesizer.speak(text, locale),
    }));
    expect(await speech.say(question, 'keys')).toEqual({ kind: 'failed', note: 'no voice' });
    const heard = line.heard.length;
    await line.time.sleep(3_000);
    expect(line.heard).toHaveLength(heard);
    await line.leg.hangUp();
  });
});

function voiceTimes(heard: AudioHeard): [number, number] {
  if (heard.kind !== 'voice') throw new Error(`heard ${heard.kind}`);
  return [heard.startedAtMs, heard.endedAtMs];
}

describe('an entry of keys', () => {
  it.each([
    ['1', 1, '1'],
    ['12', 1, '1'],
    ['1124', 4, '1124'],
    ['12#34', 17, '12#'],
    ['12*5#', 17, '12*5#'],
    ['*5', 17, '*'],
    ['#', 17, '#'],
    ['42', 17, '42'],
  ])('%s with at most %i keys is %s', async (pressed, maxKeys, digits) => {
    const { line, speech } = start();
    void line.press(pressed);
    expect(await speech.hear(1_000, maxKeys)).toMatchObject({ kind: 'keys', digits });
    await line.leg.hangUp();
  });

  it('is over 3 s after its last key, or at another sound', async () => {
    const { line, speech } = start();
    at(line, 500, () => line.press('4'));
    at(line, 3_000, () => line.press('2'));
    expect(await speech.hear(1_000, 17)).toMatchObject({ digits: '42', startedAtMs: 620, endedAtMs: 3_120 });
    expect(line.time.now).toBe(6_120);
    void line.press('7').then(() => line.beep());
    expect(await speech.hear(1_000, 17)).toMatchObject({ digits: '7' });
    expect(await speech.hear(1_000, 17)).toMatchObject({ kind: 'beep' });
    await line.leg.hangUp();
  });

  it('has no letters', async () => {
    const { line, speech } = start();
    void line.press('A1B');
    expect(await speech.hear(1_000, 2)).toMatchObject({ digits: '1' });
    await line.leg.hangUp();
  });
});

describe('who listens', () => {
  it('waits no longer than told, but hears out who has begun', async () => {
    const { line, speech } = start();
    expect(await speech.hear(1_000, 1)).toEqual({ kind: 'silence' });
    expect(line.time.now).toBe(1_000);
    at(line, 1_500, () => line.speak(2_000));
    const [startedAtMs, endedAtMs] = voiceTimes(await speech.hear(1_000, 1));
    expect(startedAtMs).toBeCloseTo(1_500, -2);
    expect(endedAtMs).toBeCloseTo(3_500, -2);
    await line.leg.hangUp();
  });

  it('is told of a voice without a pause in parts of four seconds', async () => {
    const { line, speech } = start();
    void line.speak(9_500);
    const parts = [await speech.hear(1_000, 1), await speech.hear(1_000, 1), await speech.hear(1_000, 1)];
    const lengths = parts.map(voiceTimes).map(([from, to]) => to - from);
    expect(lengths.slice(0, 2)).toEqual([4_000, 4_000]);
    expect(lengths[2]).toBeCloseTo(1_500, -2);
    expect(await speech.hear(1_000, 1)).toEqual({ kind: 'silence' });
    await line.leg.hangUp();
  });

  it('does not take a key that sounds on the line for a voice', async () => {
    const { line, speech } = start();
    void line.speak(300);
    at(line, 310, () => line.press('1'));
    expect(await speech.hear(1_000, 1)).toMatchObject({ digits: '1' });
    expect(await speech.hear(1_000, 1)).toEqual({ kind: 'silence' });
    await line.leg.hangUp();
  });

  it('hears of what came while nobody listened the last 32, also past the end of the leg', async () => {
    const { line, speech } = start();
    await line.press('1234567890'.repeat(4));
    line.hangUp();
    const heard: string[] = [];
    for (;;) {
      const each = await speech.hear(1_000, 1);
      if (each.kind !== 'keys') break;
      heard.push(each.digits);
    }
    expect(heard.join('')).toBe('90123456789012345678901234567890'.slice(0, 32));
    expect(await speech.hear(1_000, 1)).toEqual({ kind: 'left' });
  });

  it('is told at once when the callee leaves', async () => {
    const { line, speech } = start();
    at(line, 500, () => line.hangUp());
    expect(await speech.hear(10_000, 1)).toEqual({ kind: 'left' });
  });
});
