/** A page that talks to a draft, on a real WebSocket. */
import { once } from 'node:events';
import type { TalkMessage, TalkRequest } from '@trunkcall/contract';
import type { WebSocket } from 'ws';
import { until } from '../../kit/until.ts';
import type { ConsoleService, Visitor } from './service.ts';
import { connect, refusal, type Handshake } from './socket-client.ts';

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

const pathOf = (goalId: string) => `/goals/${goalId}/talk`;

/** Connects. Throws: when the handshake is refused. */
export async function openTalk(
  service: ConsoleService,
  visitor: Visitor,
  goalId: string,
  handshake?: Handshake,
): Promise<Talk> {
  const socket = connect(service, visitor, pathOf(goalId), handshake);
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
export const refusedTalk = (
  service: ConsoleService,
  visitor: Visitor,
  goalId: string,
  handshake?: Handshake,
) => refusal(connect(service, visitor, pathOf(goalId), handshake));
