import type { OperatorList } from '@trunkcall/contract';

/** How pages ask the server. Every refusal is an `ApiError`; what changes something carries the console's mark. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, details: Readonly<Record<string, unknown>>) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export interface Sent {
  readonly json?: unknown;
  /** A Goal file as it is. */
  readonly file?: string;
  /** The revision that the change was made on. */
  readonly revision?: number;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Asks `/console/api`. Throws: ApiError; with the status 0 when there was no answer. */
export async function ask<T>(method: Method, path: string, sent: Sent = {}): Promise<T> {
  const headers: Record<string, string> = method === 'GET' ? {} : { 'x-trunkcall-console': '1' };
  if (sent.json !== undefined) headers['content-type'] = 'application/json';
  if (sent.file !== undefined) headers['content-type'] = 'application/yaml';
  if (sent.revision !== undefined) headers['if-match'] = `"${sent.revision}"`;
  const body = sent.json === undefined ? sent.file : JSON.stringify(sent.json);
  const response = await fetch(`/console/api${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  }).catch(unreachable);
  const text = await response.text();
  if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as T;
  throw errorOf(response.status, text);
}

/**
 * Posts, and gives each line of the answer as it comes; what is behind the last line break was cut off.
 * Throws: as `ask`; also when the answer breaks off or the signal aborts.
 */
export async function* postForLines<T>(
  path: string,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const response = await fetch(`/console/api${path}`, {
    method: 'POST',
    headers: { 'x-trunkcall-console': '1' },
    signal,
  }).catch(unreachable);
  if (!response.ok) throw errorOf(response.status, await response.text());
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = (await reader?.read().catch(unreachable)) ?? { done: true };
    if (done || value === undefined) return;
    const lines = `${rest}${value}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as T;
  }
}

function unreachable(): never {
  throw new ApiError(0, 'unreachable', '', {});
}

export const read = <T>(path: string): Promise<T> => ask<T>('GET', path);

/** More items than these are not chosen from. */
const mostRead = 2_000;

/** All of a list, page by page. */
export async function readAll<T>(path: string): Promise<T[]> {
  const items: T[] = [];
  for (let after: string | null = null; items.length < mostRead;) {
    const page: OperatorList<T> = await read(`${path}${query({ limit: '100', after })}`);
    items.push(...page.data);
    after = page.next_cursor;
    if (after === null) break;
  }
  return items;
}

/** Whether the one who asks may not see it, or not any more: what an earlier answer said must not be shown either. */
export const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && [401, 403, 404].includes(error.status);

/** `?` and the parameters that are there, or nothing. */
export function query(parameters: Readonly<Record<string, string | null | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null || value === '' ? [] : [[name, value]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

function errorOf(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as {
      error: { code: string; message: string; details: Record<string, unknown> };
    };
    return new ApiError(status, error.code, error.message, error.details);
  } catch {
    return new ApiError(status, 'unknown', '', {});
  }
}
