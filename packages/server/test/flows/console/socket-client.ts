/** A page's WebSocket to the console, on a real socket. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { ConsoleService, Visitor } from './service.ts';

export interface Handshake {
  readonly origin?: string | null;
  readonly cookie?: string;
}

/** Asks `/console/api` plus `path` for a WebSocket, as a page of the visitor does. */
export const connect = (
  service: Pick<ConsoleService, 'origin'>,
  visitor: Visitor,
  path: string,
  { origin = service.origin, cookie = visitor.cookie }: Handshake = {},
): WebSocket =>
  new WebSocket(`${service.origin.replace('http', 'ws')}/console/api${path}`, {
    headers: { ...(cookie === '' ? {} : { cookie }), ...(origin === null ? {} : { origin }) },
  });

/** The answer to a handshake that is refused. */
export async function refusal(
  socket: WebSocket,
): Promise<{ readonly status: number; readonly code: string }> {
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number },
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { error: { code: string } };
  return { status: response.statusCode, code: body.error.code };
}
