import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startConsole, type ConsoleService } from './service.ts';

describe('the pages of the console', () => {
  let service: ConsoleService;
  beforeAll(async () => {
    service = await startConsole('embedded');
  });
  afterAll(() => service.close());

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${service.origin}${path}`, { headers, redirect: 'manual' });

  test.each(['/console', '/console/', '/console/goals/goal_1', '/console/join'])(
    '%s is the page, with a nonce of its own and a policy without unsafe-inline',
    async (path) => {
      const [one, two] = [await get(path), await get(path)];
      const nonces = await Promise.all(
        [one, two].map(async (response) => {
          const policy = response.headers.get('content-security-policy') ?? '';
          const nonce = /'nonce-([\w-]+)'/.exec(policy)?.[1];
          expect(policy).toContain("script-src 'self';");
          expect(policy).toContain("default-src 'none'");
          expect(policy).toContain("frame-ancestors 'none'");
          expect(policy).not.toContain('unsafe');
          expect(await response.text()).toContain(`nonce="${nonce}"`);
          return nonce;
        }),
      );
      expect(one.headers.get('cache-control')).toBe('no-store');
      expect(nonces[0]).not.toBe(nonces[1]);
    },
  );

  test.each([
    ['br, gzip', 'br', 'brotli'],
    ['gzip;q=0.5, br;q=0', 'gzip', 'gzip'],
    ['identity', null, 'console.log("plain")'],
  ])('a file is sent as %s allows', async (accepted, coding, body) => {
    const headers = { 'accept-encoding': accepted };
    const response = await new Promise<{ headers: Record<string, unknown>; text: string }>(
      (resolve, reject) => {
        // Not `fetch`, which would decode what it gets.
        import('node:http').then(({ get: ask }) => {
          ask(`${service.origin}/console/assets/app.js`, { headers }, (answer) => {
            let text = '';
            answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
            answer.on('end', () => resolve({ headers: answer.headers, text }));
          }).on('error', reject);
        }, reject);
      },
    );
    expect(response.text).toBe(body);
    expect(response.headers['content-encoding'] ?? null).toBe(coding);
    expect(response.headers['vary']).toBe('accept-encoding');
    expect(response.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(response.headers['content-type']).toBe('text/javascript; charset=utf-8');
  });

  test.each([
    '/console/assets/gone.js',
    '/console/assets/../index.html',
    '/console/..%2f..%2fpackage.json',
    '/console/favicon.ico',
    '/console/api/nothing',
    '/console/api',
  ])('%s is not found, and is not the page', async (path) => {
    const response = await get(path);
    const text = await response.text();
    expect([401, 404]).toContain(response.status);
    expect(text).toContain('"error"');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});
