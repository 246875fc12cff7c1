/**
 * The files of the console's build, from memory: a few megabytes, and no path from outside ever meets the disk.
 *
 * Files under `assets/` carry a hash in their names and never change; the page itself is asked for each time, and gets a
 * nonce of its own, which is what lets the editor's styles pass the content-security policy.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { headerValues } from '../headers.ts';
import { noSuchPath } from '../exchange.ts';

/** What the build puts where the nonce belongs. */
const nonceMark = '__CSP_NONCE__';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
};

interface StaticFile {
  readonly type: string;
  /** By content coding; `identity` is always there. */
  readonly bodies: ReadonlyMap<string, Buffer>;
}

const codings = { br: '.br', gzip: '.gz' } as const;

const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'self'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "media-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

const notBuilt =
  '<!doctype html><title>Trunkcall</title><p>The console is not built. Run <code>npm run build:console</code>, then start Trunkcall again.</p>';

export function pages(directory: string): FastifyPluginAsync {
  return async (app) => {
    const files = readFiles(directory);
    const page = files.get('index.html')?.bodies.get('identity')?.toString() ?? notBuilt;

    // Behind the application's own hook, which forbids every cache.
    app.addHook('onSend', async (request, reply) => {
      if (reply.statusCode === 200 && request.url.startsWith('/console/assets/')) {
        reply.header('cache-control', 'public, max-age=31536000, immutable');
      }
    });

    const sendPage = (reply: FastifyReply) => {
      const nonce = randomBytes(16).toString('base64url');
      reply
        .header('content-type', types['.html'])
        .header('content-security-policy', contentSecurityPolicy(nonce));
      return reply.send(page.replaceAll(nonceMark, nonce));
    };
    app.get('/', (_request, reply) => sendPage(reply));
    app.get<{ Params: { '*': string } }>('/*', (request, reply) => {
      const path = request.params['*'];
      const file = path === 'index.html' ? undefined : files.get(path);
      if (file !== undefined)
        return sendFile(reply, file, headerValues(request.raw.rawHeaders, 'accept-encoding'));
      // A missing file of an older build must not look like a script.
      if (path.startsWith('assets/') || extname(path) !== '') throw noSuchPath();
      return sendPage(reply);
    });
  };
}

function sendFile(
  reply: FastifyReply,
  { type, bodies }: StaticFile,
  accepted: readonly string[],
): FastifyReply {
  const wanted = accepted.join(',').toLowerCase();
  const coding =
    (['br', 'gzip'] as const).find((name) => accepts(wanted, name) && bodies.has(name)) ?? 'identity';
  reply.header('content-type', type).header('vary', 'accept-encoding');
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return reply.send(bodies.get(coding));
}

/** Whether a coding is named, and not with the weight 0 (RFC 9110 §12.5.3). */
const accepts = (wanted: string, coding: string): boolean =>
  wanted.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((text) => text.trim());
    return name === coding && !parameters.some((text) => /^q=0(\.0*)?$/.test(text));
  });

function readFiles(directory: string): ReadonlyMap<string, StaticFile> {
  if (!existsSync(directory)) return new Map();
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((path) =>
    path.replaceAll('\\', '/'),
  );
  const there = new Set(paths);
  const own = paths.filter((path) => types[extname(path)] !== undefined);
  return new Map(
    own.map((path) => {
      const bodies = new Map([['identity', readFileSync(join(directory, path))]]);
      for (const [coding, suffix] of Object.entries(codings)) {
        if (there.has(path + suffix)) bodies.set(coding, readFileSync(join(directory, path + suffix)));
      }
      return [path, { type: types[extname(path)] ?? '', bodies }];
    }),
  );
}
