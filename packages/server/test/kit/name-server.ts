/** A DNS server on loopback whose answers are scripted: the n-th question for a name gets its n-th answer. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import packet from 'dns-packet';

export interface NameServer {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** How often a name was asked for, with the question for IPv4 and that for IPv6 counted once. */
  asked(name: string): number;
  close(): Promise<void>;
}

/** Silence instead of an answer. */
export const silence = 'silence';

/** The last answer is repeated; names that are not scripted do not exist. */
export async function startNameServer(
  names: Readonly<Record<string, readonly (readonly string[] | typeof silence)[]>>,
): Promise<NameServer> {
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const query = packet.decode(message);
    const [question] = query.questions ?? [];
    if (question === undefined) return;
    const { name, type } = question;
    const key = `${type} ${name}`;
    const script = names[name];
    const answer = script?.[Math.min(asked.get(key) ?? 0, script.length - 1)];
    asked.set(key, (asked.get(key) ?? 0) + 1);
    if (answer === silence) return;
    const addresses = (answer ?? []).filter((each) => isIPv4(each) === (type === 'A'));
    socket.send(
      packet.encode({
        type: 'response',
        ...(query.id !== undefined && { id: query.id }),
        flags: packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE | (script === undefined ? 3 : 0),
        questions: [question],
        answers: addresses.map((data) => ({ type: type as 'A' | 'AAAA', name, ttl: 0, data })),
      }),
      port,
      address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked: (name) => asked.get(`A ${name}`) ?? 0,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
