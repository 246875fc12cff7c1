/**
 * The process under test: conversations of the realtime agent on legs of the media engine, as a worker holds them, but
 * for the signalling. Beside it a bare way through the same process: a datagram goes to the provider and back.
 */
import { once } from 'node:events';
import { createSocket } from 'node:dgram';
import { startMediaEngine, type Answered, type NegotiatedMedia } from '@trunkcall/sip';
import { WebSocket } from 'ws';
import type { Brief } from '../../packages/server/src/agents/agent.ts';
import { createRealtimeAgent } from '../../packages/server/src/agents/realtime/realtime-agent.ts';
import { createLeg } from '../../packages/server/src/carriers/sip/leg.ts';
import { Sound } from '../../packages/server/src/carriers/sip/sound.ts';
import { systemClock as clock } from '../../packages/server/src/platform/clock.ts';
import type { Order, Told } from './messages.ts';

const host = '127.0.0.1';
const engine = startMediaEngine({ address: host, ports: { first: 20_000, last: 27_999 } });
const calls = new Map<number, { readonly hangUp: () => void; readonly over: Promise<void> }>();
let url = '';

function tell(told: Told): void {
  process.send?.(told);
}

const brief: Brief = {
  direction: 'outbound',
  announcement: null,
  callerName: 'Parcel Post',
  title: 'Your parcel',
  instructions: 'You call about a delivery.',
  variables: {},
  locale: 'en-US',
  timeZone: 'UTC',
  resultSchema: { type: 'object', additionalProperties: false, properties: {}, required: [] },
  settings: { kind: 'realtime' },
  machine: 'hang_up',
  menu: 'navigate',
  recorded: false,
  disclosure: true,
  transfer: null,
  wrapUpAtMs: 3_600_000,
};

async function begin(id: number, calleePort: number): Promise<void> {
  const over = new AbortController();
  const sleep = (ms: number) => clock.sleep(ms, over.signal);
  const sound = await Sound.open({ engine, silenceLimitMs: 30_000, sleep });
  if (sound === null) throw new Error('no media port is free');
  const media: NegotiatedMedia = {
    remoteAddress: host,
    remotePort: calleePort,
    remoteRtcpPort: calleePort,
    rtcpMux: true,
    codec: 'PCMU',
    payloadType: 0,
    packetMs: 20,
    direction: 'sendrecv',
  };
  const ended = Promise.withResolvers<{ readonly by: 'local'; readonly reason: 'hangup' }>();
  const hangup = () => ended.resolve({ by: 'local', reason: 'hangup' });
  const call = { callId: `call-${id}`, ended: ended.promise, hangup } as unknown as Answered['call'];
  const leg = createLeg({
    answered: { kind: 'answered', call, media },
    sound,
    clock,
    over,
    transfer: async () => ({ kind: 'failed', why: 'failed' }),
  });
  const stop = new AbortController();
  // The provider tells its sessions apart by the model.
  const agent = createRealtimeAgent({
    clock,
    provider: { dialect: 'openai', url, apiKey: 'none', model: `call-${id}` },
  });
  const sink = { turn: () => undefined, optedOut: () => undefined, answeredBy: () => undefined };
  const held = agent.converse(brief, leg, sink, stop.signal).then(() => leg.hangUp());
  calls.set(id, { hangUp: () => stop.abort(), over: held.then(() => undefined) });
  tell({ kind: 'begun', id, port: sound.port });
}

async function end(id: number): Promise<void> {
  const call = calls.get(id);
  calls.delete(id);
  call?.hangUp();
  await call?.over;
  tell({ kind: 'ended', id });
}

/** A datagram goes to the provider and comes back to where it came from. */
async function openBareWay(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, host);
  await once(socket, 'listening');
  const provider = new WebSocket(`${url}?model=bare`);
  await once(provider, 'open');
  let from = 0;
  socket.on('message', (datagram, { port }) => {
    from = port;
    provider.send(JSON.stringify({ type: 'echo', audio: datagram.toString('base64') }));
  });
  provider.on('message', (data) => {
    const { audio } = JSON.parse((data as Buffer).toString()) as { audio: string };
    socket.send(Buffer.from(audio, 'base64'), from, host);
  });
  return socket.address().port;
}

process.on('message', (order: Order) => {
  switch (order.kind) {
    case 'provider':
      ({ url } = order);
      void openBareWay().then((barePort) => tell({ kind: 'ready', barePort }));
      return;
    case 'begin':
      return void begin(order.id, order.calleePort);
    case 'end':
      return void end(order.id);
    case 'memory': {
      globalThis.gc?.();
      const { heapUsed: heapBytes, rss: residentBytes } = process.memoryUsage();
      return tell({ kind: 'memory', heapBytes, residentBytes });
    }
    case 'stop':
      return void engine.close().then(() => process.exit(0));
  }
});
process.once('disconnect', () => process.exit(1));
