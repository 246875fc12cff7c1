import { spawnSync } from 'node:child_process';
import type { ResultSchema } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import { hasOptedOut } from '../../../src/agents/notes.ts';
import { findEspeak } from '../../../src/agents/audio/espeak.ts';
import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { deliverySchema, talk, testClock, type CallOptions } from '../../conformance/hold-call.ts';
import { audioCarrier, person, type Callee } from '../../kit/audio-callee.ts';

const missing = spawnSync('espeak-ng', ['--version']).error !== undefined;
if (missing)
  process.stderr.write('SKIPPED: a conversation with eSpeak NG. To run it: apt-get install -y espeak-ng\n');

const spanishSchema: ResultSchema = {
  ...deliverySchema,
  properties: {
    ...deliverySchema.properties,
    delivery_day: { type: 'string', description: '¿Qué día le viene bien?' },
  },
};

function call(callee: Callee, over: Partial<CallOptions> = {}) {
  const { carrier, synthesizer } = audioCarrier(callee);
  const agent = createScriptedAgent({ clock: testClock, synthesizer });
  return talk({ callLimitMs: 600_000, ...over, agent, carrier });
}

const answers = [
  [/^For no, press 2|^Para no, pulse 2/, '1'],
  [/evening, (press|pulse) 3/, '3'],
  [/^The third of May is/, '1124'],
  [/^El tres de mayo es/, '2411'],
] as const;

describe('a call by keys', () => {
  it('is written down as what was said, and which keys were pressed for what', async () => {
    const { turns } = await call(person(answers));
    expect(turns.map(({ speaker, text }) => `${speaker}: ${text.slice(0, 34)}`)).toEqual([
      'user: [speech]',
      'bot: Hello, this is an automated assist',
      'user: [1] yes',
      'bot: Which part of the day suits you be',
      'user: [3] evening',
      'bot: On which day should we deliver? En',
      'user: [1124] Tuesday, November 24',
      'bot: I have noted: somebody home: yes; ',
      'user: [1] yes',
      'bot: Thank you very much. Goodbye.',
    ]);
  });

  it('brings home the answers in Spanish', async () => {
    const { drawn, end } = await call(person(answers), {
      locale: 'es-ES',
      resultSchema: spanishSchema,
    });
    expect(end).toEqual({ kind: 'finished' });
    expect(drawn).toMatchObject({
      result: { somebody_home: true, part_of_day: 'evening', delivery_day: '2026-11-24' },
    });
  });

  it('brings home what was corrected after the read-back', async () => {
    const { drawn } = await call(person([[/^For no, press 2/, '1', '2', '2', '1'], ...answers.slice(1)]));
    expect(drawn).toMatchObject({ result: { somebody_home: false, part_of_day: 'evening' } });
  });

  it('takes an answer that cuts the question short, when its option was heard', async () => {
    const { drawn, turns } = await call(async (line) => {
      void person(answers.slice(0, 1))(line);
      await line.until(() => line.playing.startsWith('For afternoon') && line.playingMs > 200);
      await line.press('1');
      await person(answers.slice(2))(line);
    });
    const cut = turns.find(({ text }) => text.startsWith('Which part'));
    expect(cut).toMatchObject({ interrupted: true });
    expect(drawn).toMatchObject({ result: { part_of_day: 'morning' } });
  });

  it('ends with an opt-out when 9 is pressed', async () => {
    const { end, drawn, turns } = await call(person([[/^For no/, '9']]));
    expect(end).toEqual({ kind: 'opted_out' });
    expect(drawn).toMatchObject({ code: 'result_unavailable', detailCode: 'opted_out' });
    expect(turns.find(hasOptedOut)).toMatchObject({
      speaker: 'user',
      text: '[9]',
    });
  });

  it('is interrupted by a television three times, and then said to its end', async () => {
    const { turns } = await call(async (line) => {
      while (await line.time.sleep(1_500)) await line.speak(2_000);
    });
    const cut = turns.filter(({ interrupted }) => interrupted);
    expect(cut).toHaveLength(3);
    expect(turns.some(({ text }) => text.includes('press 9 at any time') && text.endsWith('press 2.'))).toBe(
      true,
    );
  });

  it('leaves a message that no voice cuts short', async () => {
    const { turns, end } = await call(
      async (line) => {
        await line.speak(6_000);
        line.beep();
        while (await line.time.sleep(1_000)) await line.speak(1_500);
      },
      { machine: 'leave_message' },
    );
    expect(end).toEqual({ kind: 'machine', did: 'leave_message' });
    expect(turns.at(-1)).toMatchObject({ speaker: 'bot', interrupted: false });
  });
});

describe.skipIf(missing)('a call with the voice of eSpeak NG', () => {
  it.each([
    ['en-US', deliverySchema],
    ['es-MX', spanishSchema],
  ])('goes the same way (%s)', async (locale, resultSchema) => {
    const espeak = await findEspeak({ clock: systemClock });
    if (espeak === null) throw new Error('not found');
    const { carrier, synthesizer } = audioCarrier(person(answers), 'a', espeak);
    const agent = createScriptedAgent({ clock: testClock, synthesizer });
    // Time on this line runs on while a sentence is made.
    const { drawn, end } = await talk({ agent, carrier, locale, resultSchema, callLimitMs: 36_000_000 });
    expect(end).toEqual({ kind: 'finished' });
    expect(drawn).toMatchObject({
      result: { somebody_home: true, part_of_day: 'evening', delivery_day: '2026-11-24' },
    });
  });
});
