/** An author tests a draft against simulated people, in a real browser, on the service as it is started. */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, useScheme } from './accessible.ts';
import { openBrowser, openTab, signUp, sizes, type Tab } from './browser.ts';
import { startService, type RunningService } from './service.ts';

const build = fileURLToPath(new URL('../../../tools/build-console.ts', import.meta.url));
const missing = spawnSync('chromium', ['--version']).error !== undefined;

describe.skipIf(missing)('testing a Goal in a browser', () => {
  const closing: (() => Promise<void>)[] = [];
  let service: RunningService;
  let browser: Browser;
  let tab: Tab;
  let page: Page;
  beforeAll(async () => {
    execFileSync(process.execPath, [build], { stdio: ['ignore', 'ignore', 'inherit'] });
    service = await startService();
    closing.push(() => service.stop());
    browser = await openBrowser();
    closing.push(() => browser.close());
    tab = await openTab(browser, service.origin);
    page = tab.page;
    await signUp(page, service.firstLink);
  }, 120_000);
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' });
  const lab = () => page.getByRole('region', { name: 'Scripted callees' }).first();
  const row = (name: string) => lab().getByRole('row', { name: new RegExp(name) });

  test('a new Goal has nobody to test with; the first callee is added, called and passes', async () => {
    await page.goto('/console/goals');
    await button('New Goal').click();
    await page.getByRole('heading', { level: 1, name: 'New Goal' }).waitFor();
    await page.getByRole('tab', { name: 'Test' }).click();
    await page.getByText('There is nobody to test with yet').waitFor();
    await button('Edit the callees').click();
    await button('Add a callee').click();
    await page.getByLabel('Name', { exact: true }).fill('Agrees');
    await page.getByRole('group', { name: 'Says, when asked for' }).getByLabel('suits').fill('Yes, please.');
    await page
      .getByRole('group', { name: /^Result/ })
      .getByLabel('suits')
      .selectOption('Yes');
    await button('Run the test').click();
    await page.getByText('1 passed, 0 failed').waitFor();
    expect(await row('Agrees').textContent()).toContain('Passed');
  });

  test('a call that ends otherwise fails, with the difference and the conversation', async () => {
    await page.getByRole('group', { name: 'Says, when asked for' }).getByLabel('suits').fill('No.');
    await page.getByText('The draft has changed since this test.').waitFor();
    await button('Run it again').click();
    await row('Agrees').getByText('Failed').waitFor();
    await button('Details of the call with Agrees').click();
    const difference = lab().locator('table table tr', { hasText: '/result/suits' });
    expect(await difference.getByRole('cell').allTextContents()).toEqual(['Yes', 'No']);
    await lab().locator('.timeline .turn.user', { hasText: 'No.' }).first().waitFor();
  });

  test('a callee without the variables that a request must bring is named', async () => {
    await lab().getByRole('group', { name: 'Variables of the call' }).getByLabel('customer_name').fill('');
    await page.getByText(/customer_name: is missing/).waitFor();
    await button('Run it again').click();
    const told = page.getByRole('alert').getByText('/callees/0/variables/customer_name');
    await told.waitFor();
    expect(await told.textContent()).toContain('is missing');
  });

  test('the callees of an example are called; the page is accessible, and fits a phone', async () => {
    await page.goto(`/console/goals/${service.credentials.goals['confirm-delivery']}`);
    await page.getByRole('tab', { name: 'Test' }).click();
    await page.getByLabel('Who speaks').selectOption('Scripted agent');
    await button('Run the test').click();
    await page.getByText('9 passed, 0 failed').waitFor();
    await button('Details of the call with Changes their mind').click();
    await button('Edit the callees').click();
    await expectAccessible(page);
    await useScheme(page, 'dark');
    await page.setViewportSize(sizes.phone);
    await expectAccessible(page);
    const tooWide = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;
    await expect.poll(() => page.evaluate(tooWide)).toBe(0);
    expect(tab.complaints).toEqual([]);
  });
});
