/**
 * A Goal Run from POST to result over a real SIP call: the scripted agent speaks with eSpeak NG, and the callee, a
 * telephone on the loopback, presses keys. Skipped, and said so, where eSpeak NG is not installed.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { AnsweredBy, MediaQuality } from '@trunkcall/contract';
import { decodeG711 } from '@trunkcall/sip';
import { afterEach, describe, expect, it } from 'vitest';
import { findEspeak } from '../../../src/agents/audio/espeak.ts';
import type { Synthesizer } from '../../../src/agents/audio/synthesizer.ts';
import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { statement } from '../../../src/storage/database.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { startSipCallee, type SipCalleeOptions } from '../../kit/sip-callee.ts';
import { beep, informationTones } from '../../kit/sip/phones.ts';
import { startSipService } from './service.ts';

const missing = spawnSync('espeak-ng', ['--version']).error !== undefined;
if (missing) process.stderr.write('SKIPPED: a Goal Run over SIP. To run it: apt-get install -y espeak-ng\n');

const mediaOf = statement<{ media: MediaQuality | null; answered_by: AnsweredBy | null }>(
  'test_sip_media',
  'select media, answered_by from attempts',
);
const turnsOf = statement<{ speaker: string; text: string }>(
  'test_sip_turns',
  `select t.speaker, t.text from turns t join attempts a on a.id = t.attempt_id order by t.index`,
);

/** Speaks four times as fast: a test need not listen. */
function hurried(synthesizer: Synthesizer): Synthesizer {
  return {
    async speak(text, locale) {
      const made = await synthesizer.speak(text, locale);
      if (made.kind === 'failed') return made;
      return { kind: 'speech', pcm: made.pcm.filter((_, at) => at % 4 === 0) };
    },
  };
}

describe.skipIf(missing)('a Goal Run over a real SIP call', () => {
  const undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });

  async function place(options: SipCalleeOptions) {
    const callee = await startSipCallee(options);
    undo.push(() => callee.close());
    const espeak = await findEspeak({ clock: systemClock });
    if (espeak === null) throw new Error('not found');
    const agents = [createScriptedAgent({ clock: systemClock, synthesizer: hurried(espeak) })];
    const sip = await startSipService({ port: callee.port, agents });
    undo.push(async () => sip[Symbol.asyncDispose]());
    const run = await sip.run({
      title: 'Tests',
      record: true,
      result_schema: {
        ...goalFile().result_schema,
        properties: {
          confirmed: { type: 'boolean', description: 'Does it suit?' },
          parcels: { type: 'integer', description: 'How many?' },
        },
      },
    });
    const { db } = sip.service.database;
    const turns = await db.query(turnsOf);
    const [attempt] = await db.query(mediaOf);
    return {
      callee,
      recordings: sip.recordings,
      media: attempt?.media,
      answeredBy: attempt?.answered_by,
      run,
      turns: turns.map(({ speaker, text }) => `${speaker}: ${text}`),
    };
  }

  it(
    'brings home what the callee pressed, with the keys in the transcript, and hangs up',
    { timeout: 60_000 },
    async () => {
      const { run, turns, callee, recordings, media, answeredBy } = await place({
        atOnce: '#',
        answers: ['1', '12#', '1'],
      });
      expect(run).toMatchObject({
        status: 'completed',
        result: { confirmed: true, parcels: 12 },
        error: null,
      });
      const [cutShort = '', ...others] = turns;
      expect(cutShort).toMatch(/^bot: Hello, [^?]*$/);
      expect(others).toEqual([
        'user: [#]',
        expect.stringMatching(/^bot: Hello, this is an automated assistant calling for .* press 2\.$/),
        'user: [1] yes',
        expect.stringMatching(/^bot: How many\? Enter the number/),
        'user: [12#] 12',
        expect.stringMatching(/^bot: I have noted: confirmed: yes; parcels: 12\./),
        'user: [1] yes',
        'bot: Thank you very much. Goodbye.',
      ]);
      await expect.poll(() => callee.ends).toHaveLength(1);
      // Two directions of 16 bits at 8,000 Hz, for as long as the conversation was.
      const [file = ''] = readdirSync(recordings);
      expect(file).toMatch(/^att_\w+\.wav$/);
      await expect.poll(() => statSync(join(recordings, file)).size).toBeGreaterThan(44 + 2 * 2 * 8_000 * 5);
      expect(turns.join(' ')).toContain('and this call is recorded');
      // How it sounded is kept with the attempt.
      expect(media?.packets_in).toBeGreaterThan(100);
      expect(media).toMatchObject({ mos: expect.any(Number), packets_lost: 0 });
      expect(answeredBy).toBe('human');
    },
  );

  /** A machine's sound, and who it is. */
  const machines = [
    [
      'voicemail',
      async () => {
        const espeak = await findEspeak({ clock: systemClock });
        const greeting = await espeak?.speak('Please leave a message after the tone.', 'en-US');
        if (greeting?.kind !== 'speech') throw new Error('not spoken');
        return Int16Array.from([...greeting.pcm, ...decodeG711('PCMU', beep())]);
      },
    ],
    ['announcement', async () => decodeG711('PCMU', informationTones())],
  ] as const;
  it.each(machines)('is left when a machine answers: %s', { timeout: 60_000 }, async (who, sound) => {
    const { run, answeredBy, callee } = await place({ atOnce: '', answers: [], plays: await sound() });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'no_answer', detail_code: 'voicemail' } });
    expect(answeredBy).toBe(who);
    await expect.poll(() => callee.ends).toHaveLength(1);
  });
});
