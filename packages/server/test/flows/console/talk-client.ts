/** A page that talks to a draft, on a real WebSocket. */
import { once } from 'node:events';
import type { TalkMessage, TalkRequest } from '@trunkcall/contract';
import { WebSocket } from 'ws';
import { until } from '../../kit/until.ts';
import type { ConsoleService, Visitor } from './service.ts';

type Of<Type extends TalkMessage['type']> = Extract<TalkMessage, { type: Type }>;

export interface Talk {
  readonly socket: WebSocket;
  readonly messages: readonly TalkMessage[];
  /** 20 ms each. */
  readonly sound: readonly Buffer[];
  send(request: TalkRequest): void;
  /** The next message of a type, behind the last one that was asked for. */
  next<Type extends TalkMessage['type']>(type: Type): Promise<Of<Type>>;
  /** The next turn of the agent. */
  heard(): Promise<string>;
  /** The code with which the server closed. */
  readonly closed: Promise<number>;
}

export interface Handshake {
  readonly origin?: string | null;
  readonly cookie?: string;
}

const connect = (
  service: ConsoleService,
  visitor: Visitor,
  goalId: string,
  { origin = service.origin, cookie = visitor.cookie }: Handshake = {},
): WebSocket =>
  new WebSocket(`${service.origin.replace('http', 'ws')}/console/api/goals/${goalId}/talk`, {
    headers: { ...(cookie === '' ? {} : { cookie }), ...(origin === null ? {} : { origin }) },
  });

/** Connects. Throws: when the handshake is refused. */
export async function openTalk(
  service: ConsoleService,
  visitor: Visitor,
  goalId: string,
  handshake?: Handshake,
): Promise<Talk> {
  const socket = connect(service, visitor, goalId, handshake);
  const messages: TalkMessage[] = [];
  const sound: Buffer[] = [];
  let seen = 0;
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) sound.push(data);
    else messages.push(JSON.parse(data.toString()) as TalkMessage);
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await once(socket, 'open');
  async function next<Type extends TalkMessage['type']>(type: Type): Promise<Of<Type>> {
    const find = () => messages.findIndex((message, index) => index >= seen && message.type === type);
    await until(() => find() >= 0, `${type}; there are: ${JSON.stringify(messages.slice(seen))}`);
    const index = find();
    seen = index + 1;
    return messages[index] as Of<Type>;
  }
  return {
    socket,
    messages,
    sound,
    closed,
    next,
    send: (request) => socket.send(JSON.stringify(request)),
    async heard() {
      for (;;) {
        const { speaker, text } = await next('turn');
        if (speaker === 'bot') return text;
      }
    },
  };
}

/** The answer to a handshake that is refused. */
export async function refusedTalk(
  service: ConsoleService,
  visitor: Visitor,
  goalId: string,
  handshake?: Handshake,
): Promise<{ readonly status: number; readonly code: string }> {
  const socket = connect(service, visitor, goalId, handshake);
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
