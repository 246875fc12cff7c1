/** Debian's Chromium, driven by Playwright, and what it complained about. */
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const executablePath = '/usr/bin/chromium';

/** `flags` go on top of the usual ones. */
export function openBrowser(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  });
}

/** The sizes of a desk and of a phone. */
export const sizes = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;

export interface Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page logged as an error or threw, refusals of the content-security policy among it. */
  readonly complaints: readonly string[];
}

/** A tab of its own: nothing is shared with others. */
export async function openTab(browser: Browser, baseURL: string): Promise<Tab> {
  const context = await browser.newContext({ baseURL, viewport: sizes.desk, reducedMotion: 'reduce' });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A refused request is logged by the browser itself; pages show it to the person.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
  });
  return { page, context, complaints };
}

/** Keeps what comes out of the page's loudspeaker in reach: `loudness()` is that of the last 40 ms, 0–1. */
export const watchLoudspeaker = `{
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode) {
      const analyser = new AnalyserNode(this.context, { fftSize: 2048 });
      connect.call(this, analyser);
      const samples = new Float32Array(2048);
      globalThis.loudness = () => {
        analyser.getFloatTimeDomainData(samples);
        return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
      };
    }
    return connect.call(this, target, ...rest);
  };
}`;

export const password = 'correct horse battery';

/** The first person, an operator, comes by the link that the start printed. */
export async function signUp(page: Page, firstLink: string): Promise<void> {
  await page.goto(firstLink);
  await page.getByLabel('E-mail address').fill('ada@example.org');
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
}
