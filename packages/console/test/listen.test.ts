/**
 * Listening in on a call in a real browser. The simulated network has no sound, so the Run and its sound are put in their
 * place on the way to the page; what the server does is tried on a real call (`flows/sip/listen.test.ts`).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ConsoleRunDetail, GoalRun, ListenEnd, Listening, ListenMessage } from '@trunkcall/contract';
import type { Browser, Page, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible, useScheme } from './accessible.ts';
import { openBrowser, openTab, sizes, signUp, watchLoudspeaker, type Tab } from './browser.ts';
import { startService, type RunningService } from './service.ts';

const build = fileURLToPath(new URL('../../../tools/build-console.ts', import.meta.url));
const missing = spawnSync('chromium', ['--version']).error !== undefined;

/** 20 ms: the callee hums, we are silent. G.711 µ-law: 0xff is silence, 0x90 and 0x10 are loud. */
const frame = Buffer.from(
  Uint8Array.from({ length: 320 }, (_, at) => (at >= 160 ? 0xff : at % 8 < 4 ? 0x90 : 0x10)),
);

describe.skipIf(missing)('listening in on a call in a browser', () => {
  const closing: (() => Promise<void>)[] = [];
  let service: RunningService;
  let browser: Browser;
  let tab: Tab;
  let page: Page;
  let runId = '';
  /** What the page is told of the call. */
  let listening: Listening = 'open';
  let refusal: { readonly listening: Listening; readonly worker?: string } | null = null;
  let sockets: WebSocketRoute[] = [];
  let asked = 0;

  beforeAll(async () => {
    execFileSync(process.execPath, [build], { stdio: ['ignore', 'ignore', 'inherit'] });
    service = await startService();
    closing.push(() => service.stop());
    browser = await openBrowser(['--autoplay-policy=user-gesture-required']);
    closing.push(() => browser.close());
    tab = await openTab(browser, service.origin);
    page = tab.page;
    await page.addInitScript(watchLoudspeaker);
    await signUp(page, service.firstLink);
    runId = await newRun();
    await page.route(`**/console/api/runs/${runId}`, async (route) => {
      const response = await route.fetch();
      const run = (await response.json()) as ConsoleRunDetail;
      const ended =
        listening === 'over' ? {} : { completed_at: null, status: 'in_progress', recording: null };
      await route.fulfill({ response, json: { ...run, ...ended, listening } });
    });
    await page.route(`**/console/api/runs/${runId}/listenings`, async (route) => {
      asked += 1;
      const error = { code: 'listening_not_possible', message: 'no', details: refusal };
      if (refusal === null)
        await route.fulfill({ status: 201, json: { listening: 'aud_1', expires_at: '' } });
      else await route.fulfill({ status: 409, json: { error } });
    });
    await page.routeWebSocket(/\/listen\?listening=aud_1$/, (socket) => void sockets.push(socket));
  }, 120_000);
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  async function newRun(): Promise<string> {
    const goal = service.credentials.goals['confirm-delivery'] ?? '';
    const response = await fetch(`${service.origin}/v1/goals/${goal}/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.credentials.api_key}`,
        'content-type': 'application/json',
        'idempotency-key': 'listen',
      },
      body: JSON.stringify({
        phone: '+12025550100',
        variables: { customer_name: 'Grace', order_reference: 'A-17' },
      }),
    });
    return ((await response.json()) as GoalRun).id;
  }

  const part = () => page.getByRole('region', { name: 'Listen in', exact: true });
  const button = (name: string) => part().getByRole('button', { name });
  const loudness = () => page.evaluate<number>('globalThis.loudness?.() ?? 0');

  async function open(state: Listening): Promise<void> {
    listening = state;
    sockets = [];
    await page.goto(`/console/runs/${runId}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }

  test('the sound is heard, made quieter by keyboard, and stopped', async () => {
    await open('open');
    expect(asked).toBe(0);
    await button('Listen in').click();
    await button('Stop listening').waitFor();
    const [socket] = sockets;
    const sounding = setInterval(() => socket?.send(frame), 20);
    try {
      await expect.poll(loudness, { timeout: 10_000 }).toBeGreaterThan(0.1);
      await part().getByRole('slider', { name: 'Volume' }).press('Home');
      await expect.poll(loudness, { timeout: 10_000 }).toBeLessThan(0.01);
    } finally {
      clearInterval(sounding);
    }
    await useScheme(page, 'dark');
    await expectAccessible(page);
    await useScheme(page, 'light');
    await page.setViewportSize(sizes.phone);
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.setViewportSize(sizes.desk);
    await button('Stop listening').click();
    await button('Listen in').waitFor();
    expect(asked).toBe(1);
  });

  test.each<[ListenEnd, Listening, string]>([
    ['call_ended', 'over', 'The call is over.'],
    ['transferred', 'transferred', 'The callee was connected with somebody else.'],
  ])('the end is said: %s', async (reason, then, words) => {
    await open('open');
    await button('Listen in').click();
    await button('Stop listening').waitFor();
    listening = then;
    const ended: ListenMessage = { type: 'ended', reason };
    sockets[0]?.send(JSON.stringify(ended));
    await part().getByText(words).waitFor();
    expect(await button('Stop listening').count()).toBe(0);
  });

  test('where nobody can listen the page says why, before and after asking', async () => {
    await open('not_recorded');
    await part()
      .getByText(/are not recorded/)
      .waitFor();
    expect(await button('Listen in').isDisabled()).toBe(true);
    await expectAccessible(page);
    await open('transferred');
    await part()
      .getByText(/who was not told that others may hear/)
      .waitFor();
    expect(await button('Listen in').isDisabled()).toBe(true);
    await open('open');
    refusal = { listening: 'elsewhere', worker: 'wrk_1' };
    await button('Listen in').click();
    await part()
      .getByText(/The process is wrk_1/)
      .waitFor();
    refusal = null;
    await open('over');
    expect(await part().count()).toBe(0);
    expect(tab.complaints).toEqual([]);
  });
});
