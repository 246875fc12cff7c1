/** `<data directory>/credentials.json`: what a newcomer and the CLI need to talk to the service. Mode 600. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '@trunkcall/contract';

/** The file is there, but not as this program wrote it. */
export class CredentialsUnreadable extends Error {
  override readonly name = 'CredentialsUnreadable';
}

const pathIn = (dataDir: string): string => join(dataDir, 'credentials.json');

/** Replaces the file as a whole; on the disk when this returns. Throws: the file system's error. */
export function writeCredentials(dataDir: string, credentials: Credentials): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = pathIn(dataDir);
  const draft = `${path}.new`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(credentials, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}

/** The credentials that are there; null when there are none. Throws: when the file can not be read or parsed. */
export function readCredentials(dataDir: string): Credentials | null {
  try {
    return JSON.parse(readFileSync(pathIn(dataDir), 'utf8')) as Credentials;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new CredentialsUnreadable(`${pathIn(dataDir)} can not be read; mend or remove it`, {
      cause: error,
    });
  }
}
