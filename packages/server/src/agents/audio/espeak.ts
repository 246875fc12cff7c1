/**
 * Speech by eSpeak NG (Debian package `espeak-ng`): no key, no network, and a sentence is ready within some 30 ms.
 *
 * - One process for each text that is not cached, at most four at once. It gets the text by standard input, for
 *   every user of the machine can read arguments (I10), and no environment of ours.
 * - It has 10 s and 8 MiB of sound; then it is killed.
 * - Texts that were spoken lately are kept, up to 16 MiB of samples: the same Goal says the same sentences.
 */
import { spawn } from 'node:child_process';
import { assert } from '../../platform/assert.ts';
import type { Clock } from '../../platform/clock.ts';
import { levelled, Resampler } from './resampler.ts';
import { maxSpokenLength, type Pcm, type Synthesized, type Synthesizer } from './synthesizer.ts';

export interface EspeakOptions {
  readonly clock: Clock;
  /** The program; default `espeak-ng`, found in the usual places. */
  readonly command?: string;
  readonly timeLimitMs?: number;
  /** How much to keep, bytes of samples. */
  readonly cacheBytes?: number;
}

const maxAtOnce = 4;
const maxSoundBytes = 8 * 1024 * 1024;
const environment = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin',
  LANG: 'C.UTF-8',
};
/** Words a minute: a little slower than its default, for a telephone line. */
const wordsPerMinute = '155';

const voices: Readonly<Record<string, string>> = {
  en: 'en-us',
  'en-GB': 'en-gb',
  'en-IE': 'en-gb',
  es: 'es-419',
  'es-ES': 'es',
};

/** The synthesizer, or null when the program is not installed. */
export async function findEspeak(options: EspeakOptions): Promise<Synthesizer | null> {
  const found = await run(options, ['--version'], '');
  return found.kind === 'done' ? createEspeak(options) : null;
}

function createEspeak(options: EspeakOptions): Synthesizer {
  const cache = new SpeechCache(options.cacheBytes ?? 16 * 1024 * 1024);
  const enter = createTurnstile(maxAtOnce);
  let resampler: Resampler | null = null;

  function onLine({ rate, samples }: Wave): Pcm {
    // All voices have the same rate.
    if (resampler?.rate !== rate) resampler = new Resampler(rate);
    return levelled(resampler.run(samples));
  }

  async function synthesize(voice: string, text: string): Promise<Synthesized> {
    const args = ['--stdin', '--stdout', '-b', '1', '-v', voice, '-s', wordsPerMinute];
    const made = await enter(() => run(options, args, text));
    if (made.kind === 'failed') return made;
    const wave = readWave(made.output);
    if (wave === null) return { kind: 'failed', note: 'espeak-ng gave no sound' };
    return { kind: 'speech', pcm: onLine(wave) };
  }

  return {
    async speak(text, locale) {
      assert(text.length <= maxSpokenLength, 'a text to speak is short');
      const voice = voiceFor(locale);
      const key = `${voice} ${text}`;
      const cached = cache.get(key);
      if (cached !== undefined) return { kind: 'speech', pcm: cached };
      const made = await synthesize(voice, speakable(text));
      if (made.kind === 'speech') cache.add(key, made.pcm);
      return made;
    },
  };
}

/** Only letters of a checked locale get into the arguments. */
function voiceFor(locale: string): string {
  const { language, region } = new Intl.Locale(locale);
  return voices[`${language}-${region}`] ?? voices[language] ?? language;
}

/** Without what eSpeak NG would read as phonemes (`[[…]]`) or as control. */
function speakable(text: string): string {
  return text.toWellFormed().replace(/\p{C}+|\[\[|\]\]/gu, ' ');
}

type Ran =
  | { readonly kind: 'done'; readonly output: Buffer }
  | { readonly kind: 'failed'; readonly note: string };

/** Runs the program to its end. Never rejects; the process is gone when this resolves, or about to be. */
function run(
  { clock, command = 'espeak-ng', timeLimitMs = 10_000 }: EspeakOptions,
  args: readonly string[],
  input: string,
): Promise<Ran> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], env: environment });
    const output: Buffer[] = [];
    let bytes = 0;

    function finish(ran: Ran): void {
      over.abort();
      child.kill('SIGKILL');
      resolve(ran);
    }
    void clock.sleep(timeLimitMs, over.signal).then((tooLate) => {
      if (tooLate) finish({ kind: 'failed', note: 'espeak-ng took too long' });
    });
    child.on('error', () => finish({ kind: 'failed', note: 'espeak-ng could not be started' }));
    child.on('close', (code) =>
      finish(
        code === 0
          ? { kind: 'done', output: Buffer.concat(output) }
          : { kind: 'failed', note: `espeak-ng ended with ${code}` },
      ),
    );
    child.stdout.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > maxSoundBytes) finish({ kind: 'failed', note: 'espeak-ng gave too much sound' });
      else output.push(piece);
    });
    // It may end before it has read all; its exit code tells.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

interface Wave {
  readonly rate: number;
  readonly samples: Int16Array;
}

/**
 * Reads 16-bit mono RIFF/WAVE. The sizes in the header of a stream are not true (it was written before the sound
 * was made), so the sound goes to the end of the bytes. Null for anything else, and when there is no sound.
 */
function readWave(bytes: Buffer): Wave | null {
  const data = bytes.indexOf('data', 12, 'latin1');
  if (
    data < 36 ||
    bytes.toString('latin1', 0, 4) !== 'RIFF' ||
    bytes.toString('latin1', 8, 16) !== 'WAVEfmt '
  )
    return null;
  const [channels, rate, bits] = [bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt16LE(34)];
  if (channels !== 1 || bits !== 16 || rate < 8_000 || rate > 48_000) return null;
  const count = Math.floor((bytes.length - data - 8) / 2);
  if (count <= 0) return null;
  const samples = Int16Array.from({ length: count }, (_, at) => bytes.readInt16LE(data + 8 + 2 * at));
  return { rate, samples };
}

/** Keeps what was used last, up to a number of bytes. */
class SpeechCache {
  readonly #maxBytes: number;
  readonly #kept = new Map<string, Pcm>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): Pcm | undefined {
    const pcm = this.#take(key);
    if (pcm !== undefined) this.add(key, pcm);
    return pcm;
  }

  add(key: string, pcm: Pcm): void {
    this.#take(key);
    this.#kept.set(key, pcm);
    this.#bytes += pcm.byteLength;
    for (const [oldest] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#take(oldest);
    }
  }

  #take(key: string): Pcm | undefined {
    const pcm = this.#kept.get(key);
    if (pcm === undefined) return undefined;
    this.#kept.delete(key);
    this.#bytes -= pcm.byteLength;
    return pcm;
  }
}

/** Lets `places` pieces of work run at once; the others wait for their turn, in order. */
function createTurnstile(places: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
