/** eSpeak NG itself (Debian package `espeak-ng`). Skipped, and said so, where it is not installed. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeG711, encodeG711 } from '@trunkcall/sip';
import { voicePartMs } from '../../../../src/agents/audio/ear.ts';
import { hangOverMs, VoiceActivity } from '../../../../src/agents/audio/voice-activity.ts';
import { findEspeak } from '../../../../src/agents/audio/espeak.ts';
import type { Pcm, Synthesizer } from '../../../../src/agents/audio/synthesizer.ts';
import { systemClock as clock } from '../../../../src/platform/clock.ts';

const missing = spawnSync('espeak-ng', ['--version']).error !== undefined;
if (missing)
  process.stderr.write('SKIPPED: the tests with eSpeak NG. To run them: apt-get install -y espeak-ng\n');

async function spoken(synthesizer: Synthesizer, text: string, locale = 'en-US'): Promise<Pcm> {
  const made = await synthesizer.speak(text, locale);
  if (made.kind === 'failed') throw new Error(made.note);
  return made.pcm;
}

function rms(samples: Pcm): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** How long the voices are that an ear finds in it, after a second of silence; milliseconds. */
function voicesIn(pcm: Pcm): number[] {
  const line = new Int16Array(8_000 + pcm.length + 16_000);
  line.set(pcm, 8_000);
  const voice = new VoiceActivity();
  const lengths: number[] = [];
  let startedAtMs = 0;
  for (let at = 0; at + 160 <= line.length; at += 160) {
    const heard = voice.next(decodeG711('PCMU', encodeG711('PCMU', line.subarray(at, at + 160))));
    const now = at / 8 + 20;
    if (heard === 'began') startedAtMs = now - voice.lastingMs;
    if (heard === 'ended') lengths.push(now - hangOverMs - startedAtMs);
  }
  return lengths;
}

describe.skipIf(missing)('eSpeak NG', () => {
  let synthesizer: Synthesizer;
  beforeAll(async () => {
    const found = await findEspeak({ clock });
    if (found === null) throw new Error('not found');
    synthesizer = found;
  });

  it('speaks a sentence of a few seconds at the level of a line', async () => {
    const pcm = await spoken(synthesizer, 'Hello, this is an automated assistant calling for Parcel Post.');
    expect(pcm.length / 8_000).toBeGreaterThan(2);
    expect(pcm.length / 8_000).toBeLessThan(8);
    expect(rms(pcm)).toBeGreaterThan(1_500);
    expect(rms(pcm)).toBeLessThanOrEqual(3_250);
  });

  it('has a voice of its own for each locale that the agent speaks', async () => {
    const text = 'Universal 3.';
    const voices = await Promise.all(
      ['en-US', 'en-GB', 'es-ES', 'es-MX'].map((locale) => spoken(synthesizer, text, locale)),
    );
    const lengths = new Set(voices.map((pcm) => Buffer.from(pcm.buffer).toString('base64')));
    expect(lengths.size).toBe(4);
  });

  it('speaks letters of every language, and reads no phonemes and no controls', async () => {
    const plain = await spoken(synthesizer, "a  h@l'oU  b");
    expect(await spoken(synthesizer, "a [[h@l'oU]] b")).toEqual(plain);
    expect((await spoken(synthesizer, '¿Qué día? \u0000\uD800 «Ñandú»', 'es-ES')).length).toBeGreaterThan(
      4_000,
    );
  });

  it('keeps what it spoke, the same samples, up to a number of bytes', async () => {
    const small = await findEspeak({ clock, cacheBytes: 60_000 });
    if (small === null) throw new Error('not found');
    const first = await spoken(small, 'One.');
    expect(await spoken(small, 'One.')).toBe(first);
    for (const text of ['Two.', 'Three.', 'Four.', 'Five.', 'Six.']) await spoken(small, text);
    const again = await spoken(small, 'One.');
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });

  it('is heard as one voice: a hello is short, and the greeting of a machine long without a pause', async () => {
    expect(voicesIn(await spoken(synthesizer, 'Hello?'))).toEqual([expect.closeTo(500, -3)]);
    const greeting =
      'Hi, you have reached Ana Miller. Please leave a message after the tone, and I will call you back.';
    const voices = voicesIn(await spoken(synthesizer, greeting));
    expect(voices).toHaveLength(1);
    expect(voices[0]).toBeGreaterThan(voicePartMs);
  });

  it('speaks for many at once', async () => {
    const texts = Array.from({ length: 12 }, (_, index) => `Question number ${index}.`);
    const made = await Promise.all(texts.map((text) => synthesizer.speak(text, 'en-US')));
    expect(made.every(({ kind }) => kind === 'speech')).toBe(true);
  });
});

describe('the program behind it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkcall-espeak-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A program in place of eSpeak NG, that answers the question for its version. */
  async function standIn(name: string, script: string, timeLimitMs = 5_000): Promise<Synthesizer> {
    const command = join(folder, name);
    writeFileSync(command, `#!/bin/sh\n[ "$1" = --version ] && exit 0\n${script}\n`);
    chmodSync(command, 0o755);
    const found = await findEspeak({ clock, command, timeLimitMs });
    if (found === null) throw new Error('not found');
    return found;
  }

  it('may not be installed', async () => {
    expect(await findEspeak({ clock, command: join(folder, 'nothing') })).toBeNull();
  });

  it('gets the text by standard input, and neither text nor environment otherwise', async () => {
    const seen = join(folder, 'seen');
    const program = await standIn('watch', `{ echo "$@"; env; echo; cat; } > ${seen}`);
    process.env['KEYPAD_TEST_SECRET'] = 'do not tell';
    await program.speak('Call Ada about A-1042.', 'en-US');
    delete process.env['KEYPAD_TEST_SECRET'];
    const [outside = '', input] = readFileSync(seen, 'utf8').split('\n\n');
    expect(input).toBe('Call Ada about A-1042.');
    expect(outside).toContain('--stdin');
    expect(outside).not.toMatch(/Ada|1042|do not tell/);
  });

  it.each([
    ['fails', 'cat > /dev/null; exit 3', 'espeak-ng ended with 3'],
    ['does not read', 'exec 0<&-; exit 0', 'espeak-ng gave no sound'],
    [
      'writes something else',
      'echo hello, this is no sound, it is text and longer than a header is',
      'espeak-ng gave no sound',
    ],
    ['never stops', 'exec cat /dev/zero', 'espeak-ng gave too much sound'],
  ])('may be one that %s', async (name, script, note) => {
    const program = await standIn(name.replaceAll(' ', '-'), script);
    expect(await program.speak('Hello.', 'en-US')).toEqual({ kind: 'failed', note });
  });

  it('is killed when it hangs, and the next one runs', async () => {
    const pidFile = join(folder, 'pid');
    const program = await standIn('hang', `echo $$ > ${pidFile}; exec sleep 60`, 300);
    expect(await program.speak('Hello.', 'en-US')).toEqual({
      kind: 'failed',
      note: 'espeak-ng took too long',
    });
    const pid = readFileSync(pidFile, 'utf8').trim();
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 5_000 }).toBe(false);
  });
});
