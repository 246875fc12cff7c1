/**
 * A receiver of Trunkcall's webhooks, with nothing but Node:
 *
 *     WEBHOOK_SECRET=whsec_… PORT=9080 node examples/webhook-receiver/receiver.ts
 *
 * It does what every receiver should: bounds what it reads, checks the signature over the raw bytes before it parses
 * them, compares the event id in the header with the one in the body, handles each event once although it may come
 * more than once, and answers at once. It prints one line per event.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

const {
  PORT = '9080',
  /** As shown when the endpoint was added with `--signed`; without it, signatures are not checked. */
  WEBHOOK_SECRET: secret = '',
  /** Of the service's setting `TRUNKCALL_WEBHOOK_HEADER_PREFIX`. */
  WEBHOOK_HEADER_PREFIX: prefix = 'Trunkcall',
} = process.env;

const maxBytes = 4 * 1_024 * 1_024;
const toleranceSeconds = 5 * 60;
/** A real receiver remembers them in its database, in the transaction that handles the event. */
const seen = new Set<string>();
const maxSeen = 100_000;

/** What the receiver reads of an event; everything else is there for those who need it. */
interface CallEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id?: string; readonly status?: string };
}

const server = createServer((request, response) => {
  const answer = (status: number): void => void response.writeHead(status).end();
  if (request.method !== 'POST') return answer(405);
  read(request).then(
    (body) => answer(receive(request.headers, body)),
    () => answer(413),
  );
});

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error('too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The status to answer with. Anything but 2xx makes the service try again. */
function receive(headers: IncomingHttpHeaders, body: Buffer): number {
  if (secret !== '' && !isSigned(headers, body)) return 401;
  const event = parse(body);
  if (event === null || headers[`${prefix.toLowerCase()}-event-id`] !== event.id) return 400;
  const isNew = !seen.has(event.id);
  seen.add(event.id);
  if (seen.size > maxSeen) seen.delete(seen.values().next().value ?? '');
  console.log(
    `${isNew ? 'new' : 'again'} ${event.id} ${event.type} ${event.data.id ?? '-'} ${event.data.status ?? '-'}`,
  );
  return 204;
}

/** Standard Webhooks: HMAC-SHA-256 over `id.timestamp.body`; during a rotation there are two signatures. */
function isSigned(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false;
  // An old request that somebody recorded is not accepted again.
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) < toleranceSeconds)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(' ').some((signature) => {
    const sent = Buffer.from(signature.startsWith('v1,') ? signature.slice(3) : '', 'base64');
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
}

/** The body is somebody's text until its shape has been checked. */
function parse(body: Buffer): CallEvent | null {
  try {
    const event = JSON.parse(body.toString()) as Partial<CallEvent> | null;
    const isEvent =
      typeof event?.id === 'string' &&
      typeof event.type === 'string' &&
      typeof event.data === 'object' &&
      event.data !== null;
    return isEvent ? (event as CallEvent) : null;
  } catch {
    return null;
  }
}

server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
