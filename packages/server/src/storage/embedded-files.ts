/**
 * Files of the embedded database that really reach the disk.
 *
 * PGlite runs PostgreSQL in WebAssembly with `-F` (no fsync), and its Node file system has nothing behind
 * fsync(): the call succeeds and does nothing, so a power cut loses most of what was acknowledged.
 * Emscripten's `fd_sync` calls `stream_ops.fsync(stream)` if there is one; here there is. It ignores
 * fdatasync() altogether, hence `wal_sync_method=fsync`.
 */
import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** PGlite's own start parameters without "turn fsync off", and what durability and stable plans need. */
export const durableStartParams: readonly string[] = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...['fsync=on', 'wal_sync_method=fsync', 'full_page_writes=on', 'synchronous_commit=on'].flatMap(
    asParameter,
  ),
];

export function asParameter(setting: string): [string, string] {
  return ['-c', setting];
}

/** What Emscripten hands to a stream operation, as far as it is used here. */
interface Stream {
  /** The file descriptor of the operating system. */
  readonly nfd: number;
  /** The path inside PGlite, under `/pglite/data`. */
  readonly path?: string;
}

interface EmscriptenModule {
  readonly NODEFS: { readonly stream_ops: { fsync?: (stream: Stream) => number } };
  readonly FS: { readonly ErrnoError: new (errno: number) => Error };
}

type InitArguments = Parameters<NodeFS['init']>;

/** EIO in Emscripten's numbering (WASI). */
const ioError = 29;

export class DurableFiles extends NodeFS {
  /** How often the write-ahead log was brought to the disk; the self-test watches it. */
  walSyncs = 0;
  readonly #onSyncFailed: (error: unknown) => void;

  /** `onSyncFailed`: the kernel may have dropped the data, so nothing may be acknowledged any more. */
  constructor(directory: string, onSyncFailed: (error: unknown) => void) {
    super(directory);
    this.#onSyncFailed = onSyncFailed;
  }

  override async init(...[pg, options]: InitArguments): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options);
    const installHook = (module: unknown): void => {
      const { NODEFS, FS } = module as EmscriptenModule;
      NODEFS.stream_ops.fsync = (stream) => {
        try {
          this.#sync(stream);
          return 0;
        } catch (error) {
          this.#onSyncFailed(error);
          throw new FS.ErrnoError(ioError);
        }
      };
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), installHook] } };
  }

  #sync(stream: Stream): void {
    fsyncSync(stream.nfd);
    if (stream.path?.includes('/pg_wal/')) this.walSyncs += 1;
  }
}

/** Brings a directory with all that is in it to the disk; files first, so that no name points to nothing. */
export function syncTree(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) syncTree(path);
    else if (entry.isFile()) syncPath(path);
  }
  syncPath(directory);
}

export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
