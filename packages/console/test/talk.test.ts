/**
 * An author talks to a draft in a real browser: by typing, and through a microphone into which somebody speaks. Sound is
 * measured where it leaves the page and where it comes out of it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, useScheme } from './accessible.ts';
import { openBrowser, openTab, password, signUp, sizes, watchLoudspeaker, type Tab } from './browser.ts';
import { startService, type RunningService } from './service.ts';

const build = fileURLToPath(new URL('../../../tools/build-console.ts', import.meta.url));
const missing = ['chromium', 'espeak-ng'].filter(
  (program) => spawnSync(program, ['--version']).error !== undefined,
);
if (missing.length > 0)
  process.stderr.write(
    `SKIPPED: talking to a draft in a browser. To run it: apt-get install -y ${missing.join(' ')}\n`,
  );

/** The loudness of speech on a telephone line, root mean square of 16-bit samples, is some thousands. */
const loud = 500;

/** What went over the WebSocket of a page: the loudness of each frame of sound, and the sizes that there were. */
interface Wire {
  readonly sent: number[];
  readonly received: number[];
  readonly sizes: Set<number>;
}

function watchSocket(page: Page): Wire {
  const wire: Wire = { sent: [], received: [], sizes: new Set() };
  page.on('websocket', (socket) => {
    const note = (loudnesses: number[]) => (frame: { readonly payload: string | Buffer }) => {
      if (typeof frame.payload === 'string') return;
      wire.sizes.add(frame.payload.length);
      loudnesses.push(loudnessOf(frame.payload));
    };
    socket.on('framesent', note(wire.sent));
    socket.on('framereceived', note(wire.received));
  });
  return wire;
}

/** Of G.711 µ-law (ITU-T G.711). */
function loudnessOf(frame: Buffer): number {
  const energy = [...frame].reduce((sum, code) => {
    const inverted = ~code & 0xff;
    const sample = ((((inverted & 0x0f) << 3) + 0x84) << ((inverted & 0x70) >> 4)) - 0x84;
    return sum + sample * sample;
  }, 0);
  return Math.sqrt(energy / frame.length);
}

/** Somebody says hello and then listens: WAVE for the browser's microphone, which begins anew at its end. */
function aPersonWhoGreets(): Buffer {
  const spoken = execFileSync('espeak-ng', ['--stdout', 'Hello, who is calling, please?']);
  const rate = spoken.readUInt32LE(24);
  const sound = Buffer.concat([spoken.subarray(44), Buffer.alloc(rate * 2 * 30)]);
  const header = Buffer.from(spoken.subarray(0, 44));
  // The program does not know how long its stream becomes.
  header.writeUInt32LE(36 + sound.length, 4);
  header.writeUInt32LE(sound.length, 40);
  return Buffer.concat([header, sound]);
}

describe.skipIf(missing.length > 0)('talking to a draft in a browser', () => {
  const closing: (() => Promise<void> | void)[] = [];
  let service: RunningService;
  let browser: Browser;
  let tab: Tab;
  let page: Page;
  let wire: Wire;
  beforeAll(async () => {
    execFileSync(process.execPath, [build], { stdio: ['ignore', 'ignore', 'inherit'] });
    const directory = mkdtempSync(join(tmpdir(), 'trunkcall-voice-'));
    closing.push(() => rmSync(directory, { recursive: true, force: true }));
    const voice = join(directory, 'voice.wav');
    writeFileSync(voice, aPersonWhoGreets());
    service = await startService();
    closing.push(() => service.stop());
    browser = await openBrowser([
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${voice}`,
      '--autoplay-policy=no-user-gesture-required',
      // A name of another machine, as far as the browser can tell.
      '--host-resolver-rules=MAP console.example 127.0.0.1',
    ]);
    closing.push(() => browser.close());
    tab = await openTab(browser, service.origin);
    page = tab.page;
    wire = watchSocket(page);
    await page.addInitScript(watchLoudspeaker);
    await signUp(page, service.firstLink);
  }, 120_000);
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' });
  const conversation = () => page.getByRole('log', { name: 'Conversation' });
  const openTest = async (on: Page, origin = '') => {
    await on.goto(`${origin}/console/goals/${service.credentials.goals['confirm-delivery']}`);
    await on.getByRole('tab', { name: 'Test' }).click();
    await on.getByRole('region', { name: 'Talk to the draft' }).waitFor();
  };
  const fill = async () => {
    await page.getByLabel('customer_name').fill('Grace Hopper');
    await page.getByLabel('order_reference').fill('A-17');
  };
  const say = async (words: string) => {
    await page.getByLabel('What you say').fill(words);
    await page.keyboard.press('Enter');
  };
  const heard = (words: string | RegExp) =>
    conversation().getByText(words).first().waitFor({ timeout: 20_000 });

  test('a variable that is missing is named, as an API client would be told', async () => {
    await openTest(page);
    await button('Take the call').click();
    await page.getByRole('alert').getByText('variables.customer_name is required').waitFor();
    expect(await conversation().count()).toBe(0);
    await expectAccessible(page);
  });

  test('typed, a conversation comes to its result, and a field leads to what was said', async () => {
    await fill();
    await button('Take another call').click();
    await page.getByText('You have picked up.').waitFor();
    await page.locator('input:focus').waitFor();
    await say('Hello?');
    await heard(/automated assistant/);
    await heard(/at home/);
    await expectAccessible(page);
    const answers = [
      ['Yes, I will be there.', /part of the day/],
      ['In the evening.', /which day/i],
      ['The 3rd of May 2030.', /driver/],
      ['The bell is broken, please knock.', /right\?|correct\?/],
    ] as const;
    for (const [answer, next] of answers) {
      await say(answer);
      await heard(next);
    }
    await say('Yes');
    await page.getByText('The conversation is over. The agent hung up.').waitFor();
    const result = page.getByRole('region', { name: 'Result', exact: true }).first();
    await result.getByRole('cell', { name: '2030-05-03' }).waitFor();
    await result.getByRole('button', { name: /^Show the evidence of part_of_day/ }).click();
    expect(await conversation().locator('.marked').textContent()).toContain('In the evening.');
    await expectAccessible(page);
  });

  test('the keypad is part of what one can say, and hanging up ends it', async () => {
    await button('Take another call').click();
    await button('Say nothing').click();
    await heard(/automated assistant/);
    await button('Keypad').click();
    await button('Key 4').click();
    await button('Key 2').click();
    await button('Key hash').click();
    await heard('[42#]');
    await button('Hang up').click();
    await page.getByText('The conversation is over. You hung up.').waitFor();
    await page.getByText('No result.').waitFor();
    expect(await page.getByLabel('What you say').count()).toBe(0);
  });

  test('spoken, the microphone reaches the agent, and the agent is heard', async () => {
    await page.getByText('Speak', { exact: true }).click();
    await button('Take another call').click();
    await page.getByText('The agent hears you.').waitFor();
    await page.getByLabel('Loudness of the microphone').waitFor();
    const level = `document.querySelector('meter').value`;
    await expect.poll(() => page.evaluate(level), { timeout: 10_000 }).toBeGreaterThan(0.05);
    await expect
      .poll(() => wire.sent.filter((one) => one > loud).length, { timeout: 10_000 })
      .toBeGreaterThan(5);
    await expect
      .poll(() => wire.received.filter((one) => one > loud).length, { timeout: 20_000 })
      .toBeGreaterThan(25);
    await expect.poll(() => page.evaluate('loudness()'), { timeout: 10_000 }).toBeGreaterThan(0.01);
    // What the scripted agent makes of a voice.
    await heard('[speech]');
    expect([...wire.sizes]).toEqual([160]);
    await expectAccessible(page);
  });

  test('muted, the line stays open and carries silence', async () => {
    await button('Mute').click();
    await page.getByRole('button', { name: 'Mute', pressed: true }).waitFor();
    const sent = wire.sent.length;
    await expect.poll(() => wire.sent.length, { timeout: 10_000 }).toBeGreaterThan(sent + 60);
    expect(Math.max(...wire.sent.slice(sent + 10, sent + 60))).toBeLessThan(10);
  });

  test('it fits a phone, in the dark', async () => {
    await page.setViewportSize(sizes.phone);
    await useScheme(page, 'dark');
    await expectAccessible(page);
    const tooWide = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;
    await expect.poll(() => page.evaluate(tooWide)).toBe(0);
  });

  test('who leaves the page has hung up, and the microphone is given back', async () => {
    await page.setViewportSize(sizes.desk);
    await page.getByRole('tab', { name: 'Versions' }).click();
    const sent = wire.sent.length;
    await openTest(page);
    expect(wire.sent.length - sent).toBeLessThan(25);
    expect(tab.complaints).toEqual([]);
  });

  test('a page that browsers give no microphone says so, and can still type', async () => {
    const other = await openTab(browser, service.origin);
    const origin = service.origin.replace('127.0.0.1', 'console.example');
    await other.page.goto(`${origin}/console`);
    await other.page.getByLabel('E-mail address').fill('ada@example.org');
    await other.page.getByLabel(/^Password/).fill(password);
    await other.page.keyboard.press('Enter');
    await other.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await openTest(other.page, origin);
    await other.page.getByText('Speak', { exact: true }).click();
    await other.page.getByText(/pages that came by HTTPS/).waitFor();
    expect(await other.page.getByRole('button', { name: 'Take the call' }).isDisabled()).toBe(true);
    await other.page.getByText('Type', { exact: true }).click();
    expect(await other.page.getByRole('button', { name: 'Take the call' }).isDisabled()).toBe(false);
    expect(other.complaints).toEqual([]);
    await other.context.close();
  });
});
