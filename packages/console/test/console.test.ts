/**
 * An author's way through the console, in a real browser, on the service as it is started: the first sign-in, a Goal, its
 * tests, a key, a Run that is watched, its evidence, a second version. Each test goes on where the one before ended.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, useScheme } from './accessible.ts';
import { openBrowser, openTab, password, signUp, sizes, type Tab } from './browser.ts';
import { newAnsweringGoal, startService, type RunningService } from './service.ts';

const build = fileURLToPath(new URL('../../../tools/build-console.ts', import.meta.url));
const missing = spawnSync('chromium', ['--version']).error !== undefined;

/** Shown as it is written, and never run. */
const attack = `<img src=x onerror="document.title='broken in'">`;

describe.skipIf(missing)('the console in a browser', () => {
  const closing: (() => Promise<void>)[] = [];
  let service: RunningService;
  let browser: Browser;
  let tab: Tab;
  let page: Page;
  let runId = '';
  beforeAll(async () => {
    execFileSync(process.execPath, [build], { stdio: ['ignore', 'ignore', 'inherit'] });
    service = await startService();
    closing.push(() => service.stop());
    browser = await openBrowser();
    closing.push(() => browser.close());
    tab = await openTab(browser, service.origin);
    page = tab.page;
  }, 120_000);
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name });
  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' });
  const goTo = async (name: string) => {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await heading(name).waitFor();
  };
  const saved = () => page.getByRole('status').getByText('Saved', { exact: true }).waitFor();

  test('the first person comes by the printed link, which then is used up', async () => {
    await signUp(page, service.firstLink);
    const other = await openTab(browser, service.origin);
    await other.page.goto(service.firstLink);
    await other.page.getByText('This link was used already').waitFor();
    expect(other.complaints).toEqual([]);
    await other.context.close();
  });

  test('a wrong password is refused in words, the right one opens the page that was asked for', async () => {
    const other = await openTab(browser, service.origin);
    await other.page.goto('/console/keys');
    await other.page.getByLabel('E-mail address').fill('ada@example.org');
    await other.page.getByLabel(/^Password/).fill('something else');
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    await other.page.getByText('The e-mail address or the password is wrong.').waitFor();
    await other.page.getByLabel(/^Password/).fill(password);
    await other.page.keyboard.press('Enter');
    await other.page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    expect(await other.page.evaluate('document.cookie')).toBe('');
    expect(other.complaints).toEqual([]);
    await other.context.close();
  });

  test('a Goal that is not whole can not be published, and says why; it is mended', async () => {
    await goTo('Goals');
    await button('New Goal').click();
    await heading('New Goal').waitFor();
    await page.getByLabel('Title').fill('');
    await page.getByText('1 thing to mend').waitFor();
    await button('Publish…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The draft is not valid yet').waitFor();
    await dialog.getByText('/title must not be empty').waitFor();
    expect(await dialog.getByRole('button', { name: 'Publish' }).isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByLabel('Title').fill(`Deliveries ${attack}`);
    await saved();
  });

  test('the draft is tried before it is published: with scripted callees, and by typing', async () => {
    await page.getByRole('tab', { name: 'Test' }).click();
    await button('Edit the callees').click();
    await button('Add a callee').click();
    await page.getByLabel('Name', { exact: true }).fill('Agrees');
    await page.getByRole('group', { name: 'Says, when asked for' }).getByLabel('suits').fill('Yes, please.');
    const expected = page.getByRole('group', { name: /^Result/ }).getByLabel('suits');
    await expected.selectOption('Yes');
    await button('Run the test').click();
    await page.getByText('1 passed, 0 failed').waitFor();
    const talk = page.getByRole('region', { name: 'Talk to the draft' });
    await talk.getByLabel('customer_name').fill(attack);
    await talk.getByRole('button', { name: 'Take the call' }).click();
    const heard = (words: RegExp) => page.getByRole('log', { name: 'Conversation' }).getByText(words).first();
    for (const [answer, next] of [
      ['Hello?', /automated assistant/],
      [`Yes. ${attack}`, /right\?|correct\?/],
    ] as const) {
      await talk.getByLabel('What you say').fill(answer);
      await page.keyboard.press('Enter');
      await heard(next).waitFor({ timeout: 20_000 });
    }
    await talk.getByLabel('What you say').fill('Yes');
    await page.keyboard.press('Enter');
    await page.getByText('The conversation is over. The agent hung up.').waitFor({ timeout: 20_000 });
    await page
      .getByRole('region', { name: 'Result', exact: true })
      .getByRole('cell', { name: 'Yes', exact: true })
      .waitFor();
    expect(await page.title()).not.toContain('broken in');
  });

  test('it is published, and is the current version', async () => {
    await button('Publish…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The first version').waitFor();
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('Active').waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByText('current').waitFor();
    expect(await page.getByText('current').count()).toBe(1);
  });

  test('the instructions offer the variables behind {{', async () => {
    await page.getByRole('tab', { name: 'Edit' }).click();
    const editor = page.getByRole('textbox', { name: 'Instructions' });
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' Ask {{cus');
    await page.getByRole('option', { name: '{{customer_name}}' }).click();
    await page.keyboard.type(' again.');
    await saved();
    expect(await editor.textContent()).toContain('Ask {{customer_name}} again.');
  });

  test('a Run appears by itself while the list is open, and is watched to its end', async () => {
    const goalId = /goal_\w+/.exec(page.url())?.[0] ?? '';
    await goTo('API keys');
    await button('New key').click();
    await page.getByRole('dialog').getByRole('button', { name: 'New key' }).click();
    const key = (await page.getByRole('dialog').locator('.secret').textContent()) ?? '';
    expect(key).toMatch(/^tc_test_/);
    await page.keyboard.press('Escape');
    await goTo('Runs');
    await page.getByText('No Runs match.').waitFor();
    const response = await fetch(`${service.origin}/v1/goals/${goalId}/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': 'one',
      },
      body: JSON.stringify({ phone: '+12025550100', variables: { customer_name: attack } }),
    });
    expect(response.status).toBe(201);
    runId = ((await response.json()) as { id: string }).id;
    await page.getByRole('link', { name: `Run ${runId}` }).click();
    await page
      .getByRole('region', { name: 'Result' })
      .getByRole('cell', { name: /^suits/ })
      .waitFor();
    await page.getByText('Result drawn').waitFor();
    expect(await page.getByText(attack).count()).toBeGreaterThan(0);
  });

  test('a field of the result opens the turn that is its evidence', async () => {
    await page.getByRole('link', { name: /^Show the evidence of suits/ }).click();
    const marked = page.locator('.timeline .marked');
    await marked.waitFor();
    expect(await marked.textContent()).toContain('Callee');
    const address = await marked.getAttribute('id');
    expect(new URL(page.url()).hash).toBe(`#${address}`);
    const other = await tab.context.newPage();
    await other.goto(page.url());
    await other.locator(`.timeline .marked#${address}:focus`).waitFor();
    await other.close();
  });

  test('what the Run would cost stands on its page, and in the usage, which a budget watches', async () => {
    const cost = page.getByText(/^Cost \(preview, not charged\): \$0\.\d{4}$/);
    await cost.waitFor({ timeout: 15_000 });
    const total = /\$0\.\d{4}/.exec((await cost.textContent()) ?? '')?.[0] ?? '';
    await goTo('Usage');
    await page.getByText('Preview, not charged').waitFor();
    await page.getByRole('region', { name: 'By day' }).getByRole('cell', { name: total }).waitFor();
    await page.getByRole('tab', { name: 'By Goal' }).click();
    await page.getByRole('region', { name: 'By Goal' }).getByText(attack).waitFor();
    const href = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
    const csv = await page.request.get(href ?? '');
    expect(csv.headers()['content-type']).toContain('text/csv');
    expect(await csv.text()).toContain(total.slice(1));
    await page.getByRole('tab', { name: 'By call' }).click();
    await page.getByRole('link', { name: `Run ${runId}` }).waitFor();
    await page.getByLabel('US dollars a month').fill('0.02');
    await button('Save').click();
    await page.getByText(/ of \$0\.0200 this month: \d{3} %/).waitFor();
    await expectAccessible(page);
    await goTo('Overview');
    await page.getByText(/of the budget of 0\.0200 USD/).waitFor();
  });

  test('a change that breaks callers must be acknowledged; the old Run still shows its version', async () => {
    await goTo('Goals');
    await page.getByRole('link', { name: /^Deliveries/ }).click();
    await page
      .getByRole('region', { name: 'Variables' })
      .getByRole('button', { name: 'Add a field' })
      .click();
    // The scripted callee brings what requests must bring.
    await page.getByRole('tab', { name: 'Test' }).click();
    await button('Edit the callees').click();
    await page.getByRole('group', { name: 'Agrees' }).getByLabel('field_2').fill('A-17');
    await saved();
    await button('Publish…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('requests without this variable will be refused').waitFor();
    const publish = dialog.getByRole('button', { name: 'Publish' });
    expect(await publish.isDisabled()).toBe(true);
    await dialog.getByLabel('I know, and publish it anyway').check();
    await dialog.getByRole('tab', { name: 'Variables' }).click();
    await dialog.locator('.cm-merge-b').getByText('field_2').first().waitFor();
    await publish.click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('tab', { name: 'Versions' }).click();
    const rows = page.getByRole('region', { name: 'Versions' }).getByRole('row');
    await rows.nth(2).waitFor();
    expect(await rows.nth(1).textContent()).toContain('2current');
    await rows.nth(2).getByRole('link', { name: '1', exact: true }).waitFor();
    await page.goto(`/console/runs/${runId}`);
    await page.getByRole('link', { name: 'v1' }).waitFor();
  });

  test('somebody else’s change is not overwritten unasked', async () => {
    await page.getByRole('link', { name: 'v1' }).click();
    await page.getByLabel('Title').waitFor();
    const other = await tab.context.newPage();
    await other.goto(page.url());
    await other.getByLabel('Title').fill('Theirs');
    await other.getByRole('status').getByText('Saved', { exact: true }).waitFor();
    await page.getByLabel('Title').fill('Mine');
    await page.getByText('Somebody else changed this draft').waitFor();
    expect(await button('Publish…').isDisabled()).toBe(true);
    await button('Load theirs').click();
    await expect.poll(() => page.getByLabel('Title').inputValue()).toBe('Theirs');
    await other.close();
    expect(await page.getByText('Somebody else changed this draft').count()).toBe(0);
  });

  test('hours are set with what callers meet outside them; what is wrong stands beside its field', async () => {
    const goalId = /goal_\w+/.exec(page.url())?.[0] ?? '';
    const draft = async () => {
      const read = await page.request.get(`/console/api/goals/${goalId}`);
      return ((await read.json()) as { draft: Record<string, unknown> }).draft;
    };
    const complaint = async (field: Locator) => {
      const place = await field.getAttribute('aria-describedby');
      const told = (place ?? '').split(' ').map((id) => `[id="${id}"]`);
      return page.locator(told.join(', ')).last().textContent();
    };
    await button('Calling hours').click();
    await page.getByLabel('Only at certain hours').press('Space');
    const days = page.getByRole('group', { name: 'Days' });
    for (const day of ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']) await days.getByLabel(day).press('Space');
    await page.getByLabel('Time zone').fill('Europe/Nowhere');
    await page.getByLabel('From', { exact: true }).fill('18:00');
    await page.getByLabel('A call to your number outside these hours').selectOption('Hears a message');
    await page.getByText('2 things to mend').waitFor();
    expect(await complaint(days)).toContain('at least 1 item');
    await days.getByLabel('Sat').press('Space');
    await page.getByText('3 things to mend').waitFor();
    expect(await complaint(page.getByLabel('Time zone'))).toContain('is not an IANA time zone');
    expect(await complaint(page.getByLabel('Until', { exact: true }))).toContain('must be later');
    expect(await complaint(page.getByLabel('Message'))).toContain('say what callers are to hear');
    await expectAccessible(page);
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByLabel('From', { exact: true }).fill('08:30');
    await page.getByLabel('Message').fill('We open at 8:30, {{nobody}}.');
    await page.getByText('1 thing to mend').waitFor();
    expect(await complaint(page.getByLabel('Message'))).toContain('{{nobody}} stands for no input variable');
    await page.getByLabel('Message').fill('We open at 8:30.');
    await saved();
    await page.getByText('1 thing to mend').waitFor({ state: 'detached' });
    expect(await draft()).toMatchObject({
      calling_window: { timezone: 'Europe/Berlin', days: ['sat'], from: '08:30', to: '17:00' },
      inbound: { outside_hours: 'message', message: 'We open at 8:30.' },
    });
    await page.getByLabel('Only at certain hours').press('Space');
    await page.getByText('1 thing to mend').waitFor();
    const outside = page.getByLabel('A call to your number outside these hours');
    expect(await complaint(outside)).toContain('without one every hour is open');
    await outside.selectOption('Is refused');
    await page.getByText('1 thing to mend').waitFor({ state: 'detached' });
    expect(await draft()).not.toHaveProperty('inbound');
  });

  test('a file that no form can show is mended as JSON', async () => {
    // React logs what a boundary catches: not in the tab whose complaints count.
    const other = await tab.context.newPage();
    await other.goto(page.url());
    await other.getByRole('button', { name: 'Calling', exact: true }).click();
    await other.getByRole('button', { name: 'Whole file' }).click();
    const file = other.getByRole('textbox', { name: 'Whole file' });
    const write = async (text: string) => {
      await file.click();
      await other.keyboard.press('Control+A');
      await other.keyboard.insertText(text);
    };
    const [goalId] = /goal_\w+/.exec(other.url()) ?? [];
    const read = await other.request.get(`/console/api/goals/${goalId}`);
    const { draft } = (await read.json()) as { draft: Record<string, unknown> };
    await write(JSON.stringify({ ...draft, targets: { countries: 5 } }));
    await other.getByText('The form can not show this draft.').waitFor();
    await other.getByText('/targets/countries').first().waitFor();
    await write('{');
    await other.getByText('Some text is not JSON yet.').waitFor();
    expect(await other.getByRole('button', { name: 'Publish…' }).isDisabled()).toBe(true);
    await write(JSON.stringify(draft));
    expect(await other.getByLabel('Title').inputValue()).toBe('Theirs');
    await other.getByRole('status').getByText('Saved', { exact: true }).waitFor();
    await other.close();
  });

  test('a number is entered, answered by a Goal, and called by a simulated person', async () => {
    const answering = await newAnsweringGoal(service);
    await page.goto('/console/numbers');
    await page.getByText('No numbers yet.').waitFor();
    await button('New number').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Number').fill('+12025550142');
    await dialog.getByLabel('Label').fill(`Support ${attack}`);
    await dialog.getByRole('button', { name: 'New number' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await button('Call (simulated): +12025550142').click();
    await page.getByText('Refused: no active Goal answers this number.').waitFor();
    const answers = page.getByRole('combobox', { name: 'Who answers +12025550142' });
    await answers.selectOption(service.credentials.goals['confirm-delivery'] ?? '');
    await button('Save').click();
    await page.getByText('nobody gives when a call comes in').waitFor();
    await answers.selectOption(answering);
    await button('Save').click();
    await page.getByText('nobody gives when a call comes in').waitFor({ state: 'detached' });
    await button('Show to callees: +12025550142').click();
    await page.getByText('shown to callees').waitFor();
    await button('Call (simulated): +12025550142').click();
    await page.getByText('The simulated caller was answered.').waitFor();
    await page.getByRole('link', { name: 'Open the Run' }).click();
    await page.getByText('Result drawn').waitFor();
    await page
      .getByText(/^Caller/)
      .first()
      .waitFor();
    await page.getByText('Hello, you have reached the automated assistant of').waitFor();
    await goTo('Runs');
    await page.getByLabel('Direction').selectOption('inbound');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByRole('cell', { name: /Inbound$/ }).waitFor();
  });

  test('a test call over a trunk shows each step as it happens', async () => {
    await goTo('Trunks');
    const trunk = page.getByRole('region', { name: 'simulated' });
    await trunk.getByText('Up', { exact: true }).first().waitFor();
    await trunk.getByLabel('Number').fill('+1 202 555 0100');
    await trunk.getByRole('button', { name: 'Place a test call' }).click();
    await trunk.getByText('Answered', { exact: true }).waitFor();
    await trunk.getByText('The announcement was played').waitFor();
    await trunk.getByText('Passed').waitFor();
    expect(page.url()).not.toContain('0100');
    await trunk.getByLabel('Number').fill('+12025550102');
    await trunk.getByRole('button', { name: 'Place a test call' }).click();
    await trunk.getByText('Busy').waitFor();
    await trunk.getByText(/SIP 486 · Q\.850 17/).waitFor();
    await trunk.getByLabel('Number').fill('0100');
    await trunk.getByRole('button', { name: 'Place a test call' }).click();
    await trunk.getByRole('alert').getByText(/phone/).waitFor();
  });

  test('a process is drained and taken back, and the overview says what that means', async () => {
    await goTo('System');
    await page.getByText('All is well.').waitFor();
    await button(/^Drain the process on/).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await page.getByText('Drained', { exact: true }).waitFor();
    await goTo('Overview');
    await page.getByText('Every worker is draining: no call begins.').waitFor();
    await page.getByRole('link', { name: 'To the system' }).click();
    await heading('System').waitFor();
    await button(/take calls again$/).click();
    await page.getByText('Alive', { exact: true }).waitFor();
    await page.getByText('All is well.').waitFor();
    expect(await page.getByText('TRUNKCALL_ENVIRONMENT').count()).toBe(1);
  });

  test('settings of an account are changed, and are there when one comes back', async () => {
    await goTo('Settings');
    const calling = page.getByRole('region', { name: 'Calling' });
    await calling.getByLabel('Region').fill('gb');
    await calling.getByRole('button', { name: 'Save' }).click();
    await calling.getByText('Saved').waitFor();
    const limits = page.getByRole('region', { name: 'Limits' });
    await limits.getByLabel('Call tasks at the same time').fill('4');
    await limits.getByLabel('Calls answered at the same time').fill('6');
    await limits.getByRole('button', { name: 'Save' }).click();
    await limits.getByText('Saved').waitFor();
    await page.reload();
    await limits.waitFor();
    await expect
      .poll(() => limits.getByLabel('Call tasks at the same time').inputValue(), { timeout: 5_000 })
      .toBe('4');
    expect(await limits.getByLabel('Calls answered at the same time').inputValue()).toBe('6');
  });

  test('a page whose program does not come offers to be loaded again', async () => {
    const other = await openTab(browser, service.origin);
    let away = true;
    await other.page.route(/\/numbers-[^/]*\.js$/, (route) => (away ? route.abort() : route.continue()));
    await other.page.goto('/console/numbers');
    await other.page.getByLabel('E-mail address').fill('ada@example.org');
    await other.page.getByLabel(/^Password/).fill(password);
    await other.page.keyboard.press('Enter');
    await other.page.getByText('This page could not be shown.').waitFor();
    away = false;
    await other.page.getByRole('button', { name: 'Reload' }).click();
    await other.page.getByRole('heading', { level: 1, name: 'Numbers' }).waitFor();
    expect(await other.page.getByText('This page could not be shown.').count()).toBe(0);
    await other.context.close();
  });

  test('the first step of the keyboard leads to the content', async () => {
    await page.goto('/console/runs');
    await heading('Runs').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
  });

  test.each(['keys', 'accounts', 'people', 'runs', 'numbers', 'webhooks', 'system', 'audit'])(
    'no table of %s is cut off, at a desk or on a phone',
    async (path) => {
      const cut = `[...document.querySelectorAll('.scroll')].filter((region) => region.scrollWidth > region.clientWidth)
        .map((region) => [region.ariaLabel, region.scrollWidth, region.clientWidth])`;
      await page.goto(`/console/${path}`);
      await heading(/./).waitFor();
      await page.getByRole('status', { name: 'Loading…' }).waitFor({ state: 'detached' });
      for (const size of [sizes.desk, sizes.phone]) {
        await page.setViewportSize(size);
        await expect.poll(() => page.evaluate(cut)).toEqual([]);
      }
      await page.setViewportSize(sizes.desk);
    },
  );

  const pages = [
    '',
    'goals',
    'goals/GOAL',
    'runs',
    'runs/RUN',
    'usage',
    'numbers',
    'keys',
    'people',
    'settings',
    'accounts',
    'trunks',
    'system',
    'audit',
    'nothing',
  ];

  test.each(pages)('/console/%s is accessible in light and dark, and fits a phone', async (path) => {
    const goalId = service.credentials.goals['confirm-delivery'] ?? '';
    await page.setViewportSize(sizes.desk);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`/console/${path.replace('GOAL', goalId).replace('RUN', runId)}`);
    await heading(/./).waitFor();
    await page.getByRole('status', { name: 'Loading…' }).waitFor({ state: 'detached' });
    await expectAccessible(page);
    await page.setViewportSize(sizes.phone);
    await useScheme(page, 'dark');
    await expectAccessible(page);
    const tooWide = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;
    await expect.poll(() => page.evaluate(tooWide)).toBe(0);
  });

  test('the first sentence of an account is left out with a reason alone, and said again', async () => {
    await page.setViewportSize(sizes.desk);
    await goTo('Accounts');
    await page.getByText('Says that a machine calls').waitFor();
    await button(/^Change the first sentence of/).click();
    const dialog = page.getByRole('dialog');
    const leaveOut = dialog.getByRole('button', { name: 'Leave it out' });
    await dialog.getByLabel(/^Why it may be left out/).fill('because');
    expect(await leaveOut.isDisabled()).toBe(true);
    await dialog.getByLabel(/^Why it may be left out/).fill('Every customer has agreed to it in writing.');
    await expectAccessible(page);
    await leaveOut.click();
    await page.getByText('Does not say that a machine calls').waitFor();
    await button(/^Change the first sentence of/).click();
    await dialog.getByText('Every customer has agreed to it in writing.').waitFor();
    await dialog.getByText('Left out by Ada Lovelace').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Say it again' }).click();
    await page.getByText('Says that a machine calls').waitFor();
    await goTo('Audit log');
    await page.getByText('account.disclosure_off').waitFor();
    await page.getByText('reason: Every customer has agreed to it in writing.').waitFor();
  });

  test('how many calls an account answers at once is limited, within bounds, and noted', async () => {
    await page.setViewportSize(sizes.desk);
    await goTo('Accounts');
    const limit = page.getByLabel(/^Most calls to .* answered at once$/);
    expect(await limit.inputValue()).toBe('6');
    await limit.fill('');
    await button('Save').click();
    await page.getByText('max_inbound_calls must be at least 1').waitFor();
    await limit.fill('7');
    await button('Save').click();
    await button('Save').waitFor({ state: 'detached' });
    await page.reload();
    await limit.waitFor();
    expect(await limit.inputValue()).toBe('7');
    await goTo('Audit log');
    await page.getByText('max_inbound_calls: 7').waitFor();
  });

  test('around an object stands its own account, and another one is chosen from the beginning', async () => {
    const { credentials } = service;
    const post = (path: string, token: string, json: unknown, headers = {}) =>
      fetch(`${service.origin}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(json),
      });
    const name = 'Second account';
    expect((await post('/operator/v1/accounts', credentials.operator_token, { name })).status).toBe(201);
    const variables = { customer_name: 'Ada', order_reference: 'A-1' };
    const goal = credentials.goals['confirm-delivery'] ?? '';
    const body = { phone: '+12025550100', variables };
    const sent = await post(`/v1/goals/${goal}/runs`, credentials.api_key, body, {
      'idempotency-key': 'own',
    });
    const { id } = (await sent.json()) as { id: string };
    await page.goto('/console');
    const account = page.getByRole('combobox', { name: 'Account' });
    const own = await account.inputValue();
    await account.selectOption(name);
    await expect.poll(() => account.inputValue()).not.toBe(own);
    await page.goto(`/console/runs/${id}`);
    await heading(/./).waitFor();
    await expect.poll(() => account.inputValue()).toBe(own);
    await account.selectOption(name);
    await heading('Overview').waitFor();
    await expect.poll(() => account.inputValue()).not.toBe(own);
    await account.selectOption(own);
  });

  test('no page complained, and nothing that was written ran', async () => {
    expect(tab.complaints).toEqual([]);
    expect(await page.title()).not.toContain('broken in');
  });

  test('who signs out is out, in every tab', async () => {
    await page.setViewportSize(sizes.desk);
    await page.goto('/console');
    await page.getByRole('button', { name: /your profile$/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading('Sign in to Trunkcall').waitFor();
    await expectAccessible(page);
    await page.goto('/console/people');
    await heading('Sign in to Trunkcall').waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
  });
});
