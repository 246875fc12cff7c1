/**
 * Request bodies. Fastify's own parsing is switched off (`app.ts`): it judges the Content-Type before anyone
 * could ask for the key, and closes the connection on a client that is still sending, which then sees a reset
 * instead of its `413`.
 */
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../platform/refusal.ts';
import { describePath, parseStrictJson, type JsonPath } from './strict-json.ts';

/** Of a body that is too large, this much more is read and thrown away before the connection is cut. */
const maxDiscardedBytes = 1024 * 1024;

/**
 * Reads a whole body of at most `limit` bytes.
 *
 * Ends with: the bytes; empty when there is no body. Throws: Refusal `payload_too_large` (as soon as it is known, so
 * possibly while the client is still sending), `invalid_request` when the body breaks off, or what `abortBody`
 * says. Safe to repeat: no.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuseSize = () =>
      reject(new Refusal('payload_too_large', `the body is larger than ${limit} bytes`));
    if (Number(request.headers['content-length']) > limit) refuseSize();
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      refuseSize();
      if (size > limit + maxDiscardedBytes) request.destroy();
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', (error) => reject(error instanceof Refusal ? error : brokenOff(error)));
  });
}

function brokenOff(cause: unknown): Refusal {
  return new Refusal('invalid_request', 'the request body broke off', { cause });
}

/**
 * Lets a `readBody` that is waiting for more end with this refusal, when the parser has found that no more will
 * come. Ends with: whether there was one.
 */
export function abortBody(request: IncomingMessage, refusal: Refusal): boolean {
  if (request.complete || request.listenerCount('error') === 0) return false;
  request.emit('error', refusal);
  return true;
}

/** Fatal: what is not UTF-8 is refused, not replaced. Keeps a byte order mark, which then is not JSON (RFC 8259 §8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a body as strict JSON; `report` is told about what would not survive (see `strict-json.ts`).
 * Throws: Refusal `invalid_request` when it is not JSON in UTF-8 at all.
 */
export function parseJson(body: Buffer, report: (path: JsonPath, problem: string) => void): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch (cause) {
    throw new Refusal('invalid_request', 'the body is not UTF-8', { cause });
  }
  const parsed = parseStrictJson(text, report);
  if (!parsed.ok) {
    throw new Refusal('invalid_request', `the body is not JSON (at character ${parsed.offset})`);
  }
  return parsed.value;
}

/** Parses a body of which all must survive. Throws: Refusal `invalid_request`, with the place of the first problem. */
export function parseJsonBody(body: Buffer): unknown {
  return parseJson(body, refuseProblem);
}

function refuseProblem(path: JsonPath, problem: string): never {
  throw new Refusal('invalid_request', describeProblem(path, problem));
}

/** One sentence about a problem of a JSON body and its place. */
export function describeProblem(path: JsonPath, problem: string): string {
  return `${path.length === 0 ? 'the body' : describePath(path)} ${problem}`;
}
