import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credentials } from '@trunkcall/contract';
import { OperatorClient } from '@trunkcall/sdk';
import { Failure } from './failure.ts';

export type Connect = () => Promise<OperatorClient>;

/**
 * Finds the service and the token: `TRUNKCALL_URL` and `TRUNKCALL_OPERATOR_TOKEN`, and what is not set there in
 * `credentials.json` of the data directory (`TRUNKCALL_DATA_DIR`, by default ./data).
 *
 * Throws: Failure that says what to set.
 */
export async function connect(env: Readonly<Record<string, string | undefined>>): Promise<OperatorClient> {
  const file = join(env['TRUNKCALL_DATA_DIR'] || 'data', 'credentials.json');
  const complete = env['TRUNKCALL_URL'] && env['TRUNKCALL_OPERATOR_TOKEN'];
  const saved = complete ? {} : await readCredentials(file);
  const baseUrl = env['TRUNKCALL_URL'] || saved.base_url;
  const operatorToken = env['TRUNKCALL_OPERATOR_TOKEN'] || saved.operator_token;
  if (baseUrl === undefined) throw missing('TRUNKCALL_URL', file);
  if (operatorToken === undefined) throw missing('TRUNKCALL_OPERATOR_TOKEN', file);
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new Failure(
      'not_configured',
      'TRUNKCALL_URL must be an http or https address, such as http://127.0.0.1:8080',
      {
        exit: 2,
      },
    );
  }
  return new OperatorClient({ baseUrl, operatorToken });
}

async function readCredentials(file: string): Promise<Partial<Credentials>> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Partial<Credentials>;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new Failure('not_configured', `${file} can not be read as JSON`, { exit: 2, cause: error });
  }
}

function missing(name: string, file: string): Failure {
  const message = `${name} is not set and ${file} does not give it; set it, or TRUNKCALL_DATA_DIR to the service’s data directory`;
  return new Failure('not_configured', message, { exit: 2 });
}
