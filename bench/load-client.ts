/**
 * A load client, run as a process of its own: keep-alive connections, one request at a time on each, answers parsed as
 * little as possible, so that what is measured is the server. Takes its order as JSON in the first argument and
 * prints a LoadReport.
 */
import { connect, type Socket } from 'node:net';

export interface LoadOrder {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A new Idempotency-Key for each request, beginning with this; the same one always when it ends in `!`. */
  readonly keyPrefix?: string;
  readonly expect: number;
}

export interface LoadReport {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const order = JSON.parse(process.argv[2] ?? '') as LoadOrder;
const expected = Buffer.from(`HTTP/1.1 ${order.expect} `);
const headEnd = Buffer.from('\r\n\r\n');
const latencies: number[] = [];
const stopAt = performance.now() + order.seconds * 1_000;
let sent = 0;

const fixedHead = [
  `${order.method} ${order.path} HTTP/1.1`,
  `host: ${order.host}`,
  ...Object.entries(order.headers).map(([name, value]) => `${name}: ${value}`),
  ...(order.body === undefined
    ? []
    : ['content-type: application/json', `content-length: ${Buffer.byteLength(order.body)}`]),
].join('\r\n');

function nextRequest(): string {
  sent += 1;
  const { keyPrefix } = order;
  const key =
    keyPrefix === undefined ? '' : `\r\nidempotency-key: ${keyPrefix}${keyPrefix.endsWith('!') ? '' : sent}`;
  return `${fixedHead}${key}\r\n\r\n${order.body ?? ''}`;
}

/** Sends request after request on one connection until the time is over. */
function drive(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: order.host, port: order.port, noDelay: true });
    let startedAt = 0;
    let held: Buffer = Buffer.alloc(0);
    const send = () => {
      if (performance.now() >= stopAt) {
        socket.end();
        resolve();
        return;
      }
      startedAt = performance.now();
      socket.write(nextRequest());
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const end = held.indexOf(headEnd);
      if (end < 0) return;
      const length = /content-length: (\d+)/i.exec(held.toString('latin1', 0, end))?.[1] ?? '0';
      if (held.length < end + 4 + Number(length)) return;
      if (!held.subarray(0, expected.length).equals(expected)) {
        reject(new Error(`unexpected answer: ${held.toString('latin1', 0, 400)}`));
        return;
      }
      latencies.push(performance.now() - startedAt);
      held = Buffer.alloc(0);
      send();
    });
  });
}

const begunAt = performance.now();
await Promise.all(Array.from({ length: order.connections }, drive));
const seconds = (performance.now() - begunAt) / 1_000;
latencies.sort((a, b) => a - b);
const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN;
const report: LoadReport = { perSecond: latencies.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
process.stdout.write(JSON.stringify(report));
