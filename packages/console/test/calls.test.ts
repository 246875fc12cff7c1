/**
 * Runs with a recording, calls without a Goal, and webhooks, in a real browser on the service as it is started. What
 * callers, callees and receivers wrote tries to be more than text on every page. Each test goes on where the one before
 * ended.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GoalRun, OneShotCall } from '@trunkcall/contract';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorityFile, startReceiver, type Receiver } from '../../server/test/kit/receiver.ts';
import { stereoWave } from '../../server/test/kit/wave.ts';
import { expectAccessible, useScheme } from './accessible.ts';
import { openBrowser, openTab, signUp, sizes, type Tab } from './browser.ts';
import { startService, type RunningService } from './service.ts';

const build = fileURLToPath(new URL('../../../tools/build-console.ts', import.meta.url));
const missing = spawnSync('chromium', ['--version']).error !== undefined;

/** Shown as it is written, and never run. */
const attack = `</script><img src=x onerror="document.title='broken in'"><script>document.title='broken in'</script>`;
const callee = '+12025550100';
const seconds = 40;

describe.skipIf(missing)('runs, calls and webhooks in a browser', () => {
  const closing: (() => Promise<void>)[] = [];
  let receiver: Receiver;
  let service: RunningService;
  let browser: Browser;
  let tab: Tab;
  let page: Page;
  let runId = '';
  let callId = '';
  let taskId = '';
  let deliveryPath = '';
  beforeAll(async () => {
    execFileSync(process.execPath, [build], { stdio: ['ignore', 'ignore', 'inherit'] });
    receiver = await startReceiver((_got, response) => void response.writeHead(500).end(attack));
    closing.push(() => receiver.close());
    service = await startService({
      TRUNKCALL_WEBHOOK_ALLOW: `127.0.0.1:${receiver.port}`,
      TRUNKCALL_WEBHOOK_CA_FILE: authorityFile,
    });
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

  const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name });
  const region = (name: string) => page.getByRole('region', { name, exact: true });
  const button = (name: string | RegExp) => page.getByRole('button', { name });

  const send = <T>(path: string, body?: unknown) => ask<T>(service, path, body);

  test('an endpoint is added, and its secret is shown once', async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('No endpoints yet.').waitFor();
    await button('New endpoint').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('http://127.0.0.1/');
    await dialog.getByRole('button', { name: 'New endpoint' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('URL').fill(`${receiver.origin}/hook`);
    await dialog.getByLabel('Description').fill(attack);
    await dialog.getByRole('button', { name: 'New endpoint' }).click();
    expect(await dialog.locator('.secret').textContent()).toMatch(/^whsec_/);
    await page.keyboard.press('Escape');
    await region('Endpoints').getByText('Enabled').waitFor();
    expect(await page.content()).not.toContain('whsec_');
  });

  test('a call without a Goal is found, and read with its result, its transcript and its deliveries', async () => {
    const schema = {
      type: 'object',
      properties: { suits: { type: 'boolean', description: `whether it suits ${attack}` } },
      required: ['suits'],
    };
    const task = `Ask Ada whether Tuesday suits. ${attack}`;
    const call = await send<OneShotCall>('/v2/calls', {
      task,
      phone: callee,
      result_schema: schema,
      metadata: { note: attack },
    });
    callId = call.id;
    await page.getByRole('navigation').getByRole('link', { name: 'Calls', exact: true }).click();
    await page.getByRole('link', { name: new RegExp(callId) }).click();
    await heading(/^One-shot call/).waitFor();
    await region('Result')
      .getByRole('cell', { name: /^(Yes|No)$/ })
      .waitFor();
    await region('What happened').getByText('Callee').first().waitFor();
    await region('Webhook deliveries').getByRole('link').first().waitFor();
    const shown = await page.getByRole('main').textContent();
    expect(shown).toContain(task);
    expect(shown).not.toContain(callee);
    expect(await page.getByText(attack).count()).toBeGreaterThan(2);
  });

  test('a call task shows each recipient, and the turns that are its evidence', async () => {
    const { id } = await send<{ id: string }>('/v1/calls', {
      task: `Call and ask whether Tuesday suits. ${attack}`,
      recipients: [{ phones: [callee] }],
      recipient_result_schema: {
        type: 'object',
        properties: { suits: { type: 'boolean' } },
        required: ['suits'],
        additionalProperties: false,
      },
    });
    taskId = id;
    await page.goto(`/console/calls/${id}`);
    await region('Recipient 1')
      .getByText(/Attempt 1/)
      .waitFor();
    await region('Summary').getByText('Task completed').waitFor();
    await page
      .getByRole('link', { name: /^“.*”$/ })
      .first()
      .click();
    expect(await page.locator('.timeline .marked').textContent()).toContain('Callee');
  });

  test('a delivery shows the body as it is sent, and what the receiver answered, as text', async () => {
    await page.goto('/console/webhooks?state=pending');
    await page
      .getByRole('link', { name: /delivery dlv_/ })
      .last()
      .click();
    await region('Tries').getByText('500').first().waitFor();
    expect(await region('Tries').first().textContent()).toContain(attack);
    await page.getByText('As sent').click();
    const sent = receiver.got.map(({ body }) => body);
    const shown = await page.locator('.verbatim').textContent();
    expect(sent).toContain(shown);
    deliveryPath = new URL(page.url()).pathname;
    receiver.behave((_got, response) => void response.writeHead(204).end());
    await button('Send again').click();
    await page.getByRole('main').getByText('Delivered', { exact: true }).waitFor();
    expect(receiver.got.filter(({ body }) => body === shown).length).toBeGreaterThan(1);
  });

  test('a test event arrives, and an endpoint that is disabled says by whom', async () => {
    await page.goto('/console/webhooks');
    await button(/^Actions for/).click();
    await page.getByRole('menuitem', { name: 'Send a test event' }).click();
    await heading('webhook.test').waitFor();
    await page.getByRole('main').getByText('Delivered', { exact: true }).waitFor();
    await page.goto('/console/webhooks');
    await button(/^Actions for/).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await region('Endpoints')
      .getByText(/by a person/)
      .waitFor();
    expect(receiver.got.filter(({ body }) => body.includes('webhook.test'))).toHaveLength(1);
  });

  test('a recording is drawn, played from a turn, and moved through by keyboard; hearing it is noted', async () => {
    const goal = service.credentials.goals['confirm-delivery'] ?? '';
    const { id } = await send<GoalRun>(`/v1/goals/${goal}/runs`, {
      phone: callee,
      variables: { customer_name: attack, order_reference: 'A-17' },
    });
    runId = id;
    const read = () => send<GoalRun>(`/v1/goals/${goal}/runs/${id}`);
    await expect.poll(async () => (await read()).result, { timeout: 20_000 }).not.toBeNull();
    // The simulated network has no sound; what a trunk would have left is put in its place.
    const recordings = join(service.dataDir, 'recordings');
    mkdirSync(recordings, { recursive: true });
    const wave = stereoWave(seconds, (second) => (Math.floor(second / 4) % 2 === 0 ? [0.05, 0.6] : [0.5, 0]));
    writeFileSync(join(recordings, `${(await read()).call_id}.wav`), wave);
    const heard: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/recording'))
        heard.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    await page.goto(`/console/runs/${id}`);
    await page.locator('.wave canvas, .wave > div').first().waitFor();
    await page.waitForFunction(
      `document.querySelector('.wave > div')?.shadowRoot?.querySelector('canvas') != null`,
    );
    expect(heard).toEqual([`GET /console/api/runs/${id}/recording/peaks`]);
    await page
      .getByRole('button', { name: /^Play from/ })
      .nth(1)
      .click();
    await button('Pause').waitFor();
    await page.locator('.timeline li[aria-current]').waitFor();
    await button('Pause').click();
    await button(/^Play$/).waitFor();
    const position = page.getByRole('slider', { name: 'Position' });
    const before = Number(await position.inputValue());
    await position.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await expect
      .poll(async () => Number(await position.inputValue()), { timeout: 5_000 })
      .toBeGreaterThan(before + 1);
    expect(heard.filter((request) => request.startsWith('POST'))).toHaveLength(1);
    await page.goto('/console/audit');
    await page.getByRole('cell', { name: 'recording.heard' }).waitFor();
  });

  test('the transcript and the recording are downloaded', async () => {
    await page.goto(`/console/runs/${runId}`);
    const download = async (name: string) => {
      await button('Download').click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name }).click(),
      ]);
      return { name: file.suggestedFilename(), content: readFileSync(await file.path()) };
    };
    const transcript = await download('Transcript as text');
    expect(transcript.name).toBe(`${runId}.txt`);
    expect(transcript.content.toString()).toMatch(/^\[0:0\d\] (Agent|Callee): /);
    const whole = await download('Everything as JSON');
    expect(JSON.parse(whole.content.toString())).toMatchObject({ id: runId, title: expect.any(String) });
    const recording = await download('Recording (WAV)');
    expect(recording.content.length).toBe(44 + seconds * 32_000);
  });

  const pages = ['webhooks', 'calls', 'calls/CALL', 'calls/TASK', 'DELIVERY', 'runs/RUN'];

  test.each(pages)('/console/%s is accessible in light and dark, and fits a phone', async (name) => {
    const path = name
      .replace('CALL', callId)
      .replace('TASK', taskId)
      .replace('DELIVERY', deliveryPath.replace('/console/', ''))
      .replace('RUN', runId);
    await page.setViewportSize(sizes.desk);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`/console/${path}`);
    await heading(/./).waitFor();
    const loading = page.getByRole('status', { name: 'Loading…' });
    await expect.poll(() => loading.count(), { timeout: 10_000 }).toBe(0);
    await expectAccessible(page);
    await page.setViewportSize(sizes.phone);
    await useScheme(page, 'dark');
    await expectAccessible(page);
    const tooWide = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;
    await expect.poll(() => page.evaluate(tooWide), { timeout: 5_000 }).toBe(0);
  });

  test('no page complained, and nothing that was written ran', async () => {
    expect(tab.complaints).toEqual([]);
    expect(await page.title()).not.toContain('broken in');
  });
});

describe.skipIf(missing)('a live call in a browser', () => {
  test('shows its turns as they come; who stops it is asked first', { timeout: 90_000 }, async () => {
    // In real time, so that somebody can watch it.
    const service = await startService({ TRUNKCALL_SIMULATION_SPEED: '1' });
    const browser = await openBrowser();
    try {
      const { page } = await openTab(browser, service.origin);
      await signUp(page, service.firstLink);
      const goal = service.credentials.goals['confirm-delivery'] ?? '';
      const { id } = await ask<GoalRun>(service, `/v1/goals/${goal}/runs`, {
        phone: callee,
        variables: { customer_name: 'Ada', order_reference: 'A-17' },
      });
      await page.goto(`/console/runs/${id}`);
      await page.getByText('live', { exact: true }).waitFor();
      await page.locator('#turn-1').waitFor({ timeout: 20_000 });
      await page.getByText('It comes when the call is over.').waitFor();
      await page.getByRole('button', { name: 'Stop the call' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('live', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Stop the call' }).click();
      await dialog.getByRole('button', { name: 'Stop the call' }).click();
      await page.getByRole('main').getByText('Somebody stopped it.', { exact: true }).waitFor();
      expect(await page.getByText('live', { exact: true }).count()).toBe(0);
      expect(await page.getByRole('button', { name: 'Stop the call' }).count()).toBe(0);
    } finally {
      await browser.close();
      await service.stop();
    }
  });
});

/** Asks the Developer API; with a body it is a POST. */
async function ask<T>({ origin, credentials }: RunningService, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${origin}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${credentials.api_key}`,
      'content-type': 'application/json',
      'idempotency-key': String(Math.random()),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text) as T;
}
