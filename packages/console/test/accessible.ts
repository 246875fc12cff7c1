/** Whether everybody can use a page: what axe finds, in both schemes, and that nothing is cut off. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

export async function useScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
}

/** Asked again while the page still changes its colours. */
export async function expectAccessible(page: Page): Promise<void> {
  await expect.poll(() => seriousProblems(page), { timeout: 10_000, interval: 200 }).toEqual([]);
}

/**
 * What axe finds that would keep somebody from using the page. It does not copy the styles of what is closed in itself: the
 * copies break the content-security policy.
 */
async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], preload: false })`,
  )) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}
