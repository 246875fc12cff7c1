/** What must hold for every response, whoever made it. */
import { expect } from 'vitest';
import { apiErrors, type ApiErrorCode } from '@trunkcall/contract';

type Header = (name: string) => string | null | undefined;

/** What is wrong with a response: headers that all carry, and the error envelope of one that is not 2xx. */
export function formProblems(status: number, header: Header, body: string): string[] {
  const problems: string[] = [];
  const demand = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  demand(/^req_[0-9a-z]{26}$/.test(header('request-id') ?? ''), 'no Request-Id');
  demand(header('cache-control') === 'no-store', 'may be stored');
  demand(header('x-content-type-options') === 'nosniff', 'may be sniffed');
  if (status >= 200 && status < 300) return problems;
  demand(header('content-type') === 'application/json; charset=utf-8', 'an error that is not JSON');
  const parsed = JSON.parse(body) as { error: { code: string; message: string; details: unknown } };
  const { code, message, details } = parsed.error;
  demand(Object.keys(parsed).join(' ') === 'error', 'more than an error');
  demand(
    Object.keys(parsed.error).join(' ') === 'code message details',
    'other fields than code, message, details',
  );
  demand(statusesOf(code).includes(status), `the code ${code} does not go with ${status}`);
  demand(typeof message === 'string' && message !== '', 'no message');
  demand(typeof details === 'object' && details !== null && !Array.isArray(details), 'details are no object');
  return problems;
}

function statusesOf(code: string): readonly number[] {
  return Object.hasOwn(apiErrors, code) ? apiErrors[code as ApiErrorCode].statuses : [];
}

export function expectWellFormed(status: number, header: Header, body: string): void {
  expect(formProblems(status, header, body)).toEqual([]);
}

/** What a refusal says, when all else that must hold for its response does. */
export async function refusalOf(
  response: Response,
): Promise<{ status: number; code: string; message: string }> {
  const text = await response.text();
  const { status } = response;
  expectWellFormed(status, (name) => response.headers.get(name), text);
  if (response.ok) throw new Error(`not refused: ${status} ${text}`);
  const { error } = JSON.parse(text) as { error: { code: string; message: string } };
  return { status, code: error.code, message: error.message };
}

/** A refusal in short: `404 not_found`. */
export async function refusal(response: Response): Promise<string> {
  const { status, code } = await refusalOf(response);
  return `${status} ${code}`;
}
