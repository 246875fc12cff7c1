/** An HTTP server on a real socket that answers as told, one entry per request, and keeps what it was sent. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; text as it is. */
  readonly body?: unknown;
  /** Cuts the connection instead of answering, or never answers. */
  readonly instead?: 'cut' | 'silence';
}

export interface ScriptedServer {
  readonly origin: string;
  readonly sent: readonly Sent[];
  close(): Promise<void>;
}

/** The last reply answers all requests that follow. */
export async function scriptedServer(replies: readonly Reply[]): Promise<ScriptedServer> {
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      sent.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      const reply = replies[Math.min(sent.length, replies.length) - 1] ?? {};
      if (reply.instead === 'cut') request.socket.destroy();
      if (reply.instead !== undefined) return;
      response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
      response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** The service's envelope for a refusal. */
export const refusal = (
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Reply => ({
  status,
  headers: { 'request-id': 'req_1', ...headers },
  body: { error: { code, message: `refused as ${code}`, details: { hint: 1 } } },
});
