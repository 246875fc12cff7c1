/**
 * Takes pictures of every page of the console, in light and dark, at a desk's size and a phone's.
 *
 *   npm run screenshots            all of them into screenshots/, and the README's into docs/images/
 *   npm run screenshots -- run     those whose name begins so
 *
 * The service is started with data of its own and calls simulated people; it needs Debian's `chromium`.
 */
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { openBrowser, openTab, signUp, sizes } from '../packages/console/test/browser.ts';
import { startService } from '../packages/console/test/service.ts';
import { authorityFile, startReceiver } from '../packages/server/test/kit/receiver.ts';
import { fillService, type SendToConsole, type Shown } from './screenshot-data.ts';

const folder = 'screenshots';
const images = 'docs/images';
const schemes = ['light', 'dark'] as const;
/** What the README shows, as a desk's screen shows it. */
const best: Readonly<Record<string, (typeof schemes)[number]>> = {
  overview: 'light',
  goal: 'light',
  run: 'dark',
};

/** A page, and what is done on it before the picture is taken. */
interface Picture {
  readonly name: string;
  readonly path: string;
  readonly prepare?: (page: Page) => Promise<void>;
}

const [wanted = ''] = process.argv.slice(2);
const receiver = await startReceiver();
const service = await startService({
  TRUNKCALL_WEBHOOK_ALLOW: `127.0.0.1:${receiver.port}`,
  TRUNKCALL_WEBHOOK_CA_FILE: authorityFile,
});
const browser = await openBrowser();
try {
  mkdirSync(folder, { recursive: true });
  mkdirSync(images, { recursive: true });
  const { page, context } = await openTab(browser, service.origin);
  context.setDefaultTimeout(30_000);
  await signUp(page, service.firstLink);
  const send = senderOf(page);
  const { accounts } = await send<{ accounts: { id: string }[] }>('GET', '/session');
  const [account] = accounts;
  if (account === undefined) throw new Error('the first start made no account');
  const shown = await fillService(service, account.id, receiver.origin, send);
  for (const picture of picturesOf(shown).filter(({ name }) => name.startsWith(wanted)))
    await takeAll(page, picture);
} finally {
  await browser.close();
  await service.stop();
  await receiver.close();
}

function picturesOf({ goal, run, call, task, delivery }: Shown): Picture[] {
  const openTab = (name: string) => async (page: Page) => {
    await page.getByRole('tab', { name }).click();
  };
  const plain = (path: string): Picture => ({ name: path, path });
  return [
    { name: 'overview', path: '' },
    plain('goals'),
    { name: 'goal', path: `goals/${goal}` },
    { name: 'goal-test', path: `goals/${goal}`, prepare: playThrough },
    { name: 'goal-versions', path: `goals/${goal}`, prepare: openTab('Versions') },
    plain('runs'),
    { name: 'run', path: `runs/${run}`, prepare: waitForWave },
    plain('calls'),
    { name: 'call', path: `calls/${call}` },
    { name: 'call-task', path: `calls/${task}` },
    plain('webhooks'),
    { name: 'delivery', path: `deliveries/${delivery}` },
    plain('usage'),
    plain('numbers'),
    plain('keys'),
    plain('people'),
    plain('settings'),
    plain('audit'),
    plain('accounts'),
    plain('trunks'),
    plain('system'),
  ];
}

/** Sends as the pages do, with the cookie of the person who is signed in. */
function senderOf(page: Page): SendToConsole {
  return async <T>(method: string, path: string, body?: unknown) => {
    const response = await page.request.fetch(`/console/api${path}`, {
      method,
      headers: { origin: service.origin, 'x-trunkcall-console': '1' },
      ...(body === undefined ? {} : { data: body }),
    });
    const text = await response.text();
    if (!response.ok()) throw new Error(`${method} ${path}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
}

async function waitForWave(page: Page): Promise<void> {
  await page.waitForFunction(
    `document.querySelector('.wave > div')?.shadowRoot?.querySelector('canvas') != null`,
  );
}

/** Calls the scripted callees, and takes the first words of a typed talk. */
async function playThrough(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Test' }).click();
  await page.getByLabel('Who speaks').selectOption('Scripted agent');
  await page.getByRole('button', { name: 'Run the test' }).click();
  await page.getByText(/\d passed, 0 failed/).waitFor();
  await page.getByLabel('customer_name').fill('Grace Hopper');
  await page.getByLabel('order_reference').fill('A-17');
  await page.getByRole('button', { name: 'Take the call' }).click();
  await page.getByText('You have picked up.').waitFor();
  await page.getByLabel('What you say').fill('Hello?');
  await page.keyboard.press('Enter');
  await page
    .getByRole('log', { name: 'Conversation' })
    .getByText(/at home/)
    .first()
    .waitFor();
}

async function takeAll(page: Page, picture: Picture): Promise<void> {
  const { name } = picture;
  for (const scheme of schemes) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize(sizes.desk);
    await open(page, picture, scheme);
    if (best[name] === scheme) await take(page, `${images}/${name}.png`);
    for (const [size, { width, height }] of Object.entries(sizes)) {
      await page.setViewportSize({ width, height });
      // What stands fixed on the screen stands where it does on a screen as high as the page.
      const whole = await page.evaluate<number>('document.documentElement.scrollHeight');
      await page.setViewportSize({ width, height: Math.max(height, whole) });
      await take(page, `${folder}/${name}-${scheme}-${size}.png`);
    }
  }
}

async function take(page: Page, path: string): Promise<void> {
  await page.evaluate('window.scrollTo(0, 0)');
  await page.screenshot({ path, animations: 'disabled' });
}

async function open(page: Page, { path, prepare }: Picture, scheme: (typeof schemes)[number]): Promise<void> {
  await page.goto(`/console/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('status', { name: 'Loading…' }).waitFor({ state: 'detached' });
  await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor();
  await prepare?.(page);
  await page.evaluate('document.fonts.ready');
}
