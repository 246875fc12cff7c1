/**
 * Builds the console into `dist`, when its sources are newer than what stands there:
 *
 *   node tools/build-console.ts [--force]
 *
 * Files that compress well get a `.br` and a `.gz` beside them, so that the server need not work at each request. The
 * build fails when the first page would be heavier than `firstLoadLimit`.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const home = fileURLToPath(new URL('../packages/console', import.meta.url));
const dist = join(home, 'dist');
/** Bytes that a browser loads before it shows the first page, compressed. */
const firstLoadLimit = 300_000;
const compressible = new Set(['.html', '.js', '.css', '.svg', '.json']);

/** Throws: when the build fails, or the first page is too heavy. */
async function buildConsole(): Promise<void> {
  // Another process may be building as well: each into a place of its own, and the last one to end wins.
  const draft = `${dist}.${process.pid}`;
  try {
    const { build } = await import('vite');
    await build({
      configFile: false,
      root: join(home, 'app'),
      base: '/console/',
      logLevel: 'error',
      html: { cspNonce: '__CSP_NONCE__' },
      build: {
        outDir: draft,
        emptyOutDir: true,
        manifest: 'manifest.json',
        modulePreload: { polyfill: false },
        chunkSizeWarningLimit: 1_000,
        target: 'es2023',
      },
    });
    const bytes = firstLoad(draft);
    console.log(`console: first load ${(bytes / 1_000).toFixed(0)} kB compressed`);
    if (bytes > firstLoadLimit) throw new Error(`the first load is larger than ${firstLoadLimit} bytes`);
    compress(draft);
    rmSync(dist, { recursive: true, force: true });
    renameSync(draft, dist);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Whether nothing has changed since the last build. */
function isFresh(): boolean {
  const page = join(dist, 'index.html');
  if (!existsSync(page)) return false;
  const sources = filesIn(join(home, 'app')).concat(
    join(home, 'package.json'),
    fileURLToPath(import.meta.url),
  );
  const newest = Math.max(...sources.map((path) => statSync(path).mtimeMs));
  return statSync(page).mtimeMs > newest;
}

function filesIn(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

interface Chunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
}

/** The page, its entry, and everything that these import or link without being asked. */
function firstLoad(directory: string): number {
  const manifest = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')) as Record<
    string,
    Chunk
  >;
  const files = new Set(['index.html']);
  const visit = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined || files.has(chunk.file)) return;
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const imported of chunk.imports ?? []) visit(imported);
  };
  visit('index.html');
  return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(directory, file))).length, 0);
}

function compress(directory: string): void {
  for (const file of filesIn(directory).filter((path) => compressible.has(extname(path)))) {
    const content = readFileSync(file);
    const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };
    writeFileSync(`${file}.br`, brotliCompressSync(content, brotli));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

// Whatever the shell says: a build of the libraries' development versions would be slow, and talkative.
process.env['NODE_ENV'] = 'production';
if (process.argv.includes('--force') || !isFresh()) await buildConsole();
