/** A page that listens in on a call, on a real WebSocket. */
import { once } from 'node:events';
import type { ConsoleListening, ListenMessage } from '@trunkcall/contract';
import type { WebSocket } from 'ws';
import type { ConsoleService, Visitor } from './service.ts';
import { connect, refusal, type Handshake } from './socket-client.ts';

export interface Listener {
  readonly socket: WebSocket;
  /** 20 ms of both sides each. */
  readonly sound: readonly Buffer[];
  readonly messages: readonly ListenMessage[];
  /** The code with which the server closed. */
  readonly closed: Promise<number>;
}

/** Asks to listen in; the answer, whatever it is. */
export const ask = (visitor: Visitor, runId: string): Promise<Response> =>
  visitor.send('POST', `/runs/${runId}/listenings`);

const pathOf = (runId: string, note: string) => `/runs/${runId}/listen?listening=${note}`;

/** Notes that somebody listens in. Throws: when that is refused. */
export async function noteOf(visitor: Visitor, runId: string): Promise<string> {
  const response = await ask(visitor, runId);
  if (response.status !== 201) throw new Error(await response.text());
  return ((await response.json()) as ConsoleListening).listening;
}

/** Listens in, with a new note unless one is given. Throws: when that is refused. */
export async function listenIn(
  service: Pick<ConsoleService, 'origin'>,
  visitor: Visitor,
  runId: string,
  note?: string,
): Promise<Listener> {
  const socket = connect(service, visitor, pathOf(runId, note ?? (await noteOf(visitor, runId))));
  const sound: Buffer[] = [];
  const messages: ListenMessage[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) sound.push(data);
    else messages.push(JSON.parse(data.toString()) as ListenMessage);
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await once(socket, 'open');
  return { socket, sound, messages, closed };
}

/** The answer to a handshake that is refused. */
export const refusedListener = (
  service: Pick<ConsoleService, 'origin'>,
  visitor: Visitor,
  runId: string,
  note: string,
  handshake?: Handshake,
) => refusal(connect(service, visitor, pathOf(runId, note), handshake));
