/** A webhook receiver on loopback, with a certificate of the tests' own authority; it keeps what it got. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

const certificate = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`certificates/${name}.pem`, import.meta.url)), 'utf8');

/** Where the certificate of the tests' authority lies. */
export const authorityFile = fileURLToPath(new URL('certificates/authority.pem', import.meta.url));
/** Signed the receivers' certificate: `receiver.test`, `*.receiver.test`, `localhost` and the loopback addresses. */
export const authorities = certificate('authority');
export const identity = { key: certificate('receiver-key'), cert: certificate('receiver') };

export interface Got {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers a request that has been read, or does something else. */
export type Manner = (got: Got, response: ServerResponse, request: IncomingMessage) => void;

export interface Receiver {
  readonly port: number;
  /** `https://127.0.0.1:port`. */
  readonly origin: string;
  readonly got: readonly Got[];
  /** Connections that were opened. */
  readonly connections: () => number;
  /** How it behaves from now on. */
  behave(manner: Manner): void;
  close(): Promise<void>;
}

/** Answers with a status and no more. */
export const answers =
  (status: number, headers: Readonly<Record<string, string>> = {}): Manner =>
  (_got, response) =>
    void response.writeHead(status, headers).end();

/** Never answers. */
export const hangs: Manner = () => undefined;

export async function startReceiver(first: Manner = answers(200)): Promise<Receiver> {
  let manner = first;
  let connections = 0;
  const got: Got[] = [];
  const server = createServer(identity, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const { url: path = '', headers } = request;
      const one = { path, headers, body: Buffer.concat(chunks).toString() };
      got.push(one);
      manner(one, response, request);
    });
  });
  server.on('secureConnection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `https://127.0.0.1:${port}`,
    got,
    connections: () => connections,
    behave(next) {
      manner = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
