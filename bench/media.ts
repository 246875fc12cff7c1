/**
 * How many calls one media worker holds: `node bench/media.ts [streams …]`.
 *
 * A load of N two-way G.711 streams is put, in turns within one run, on the media engine and on a bare loop that
 * only sends and receives N datagrams every 20 ms (the most that Node's sockets allow). The streams talk to each other
 * in pairs, so one thread does all of their work; twenty of them talk to a peer in a thread of its own, which sends
 * their packets back and measures the time between two packets of a stream. A load is held while the 99th percentile
 * of that is at most 25 ms and at least 99 % of the packets came.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createHistogram } from 'node:perf_hooks';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { FRAME_MS, FRAME_SAMPLES, type MediaCall, startMediaEngine } from '@trunkcall/sip';

const LIMIT_MS = 25;
const MEASURE_MS = 4_000;
const SETTLE_MS = 1_500;
const HOST = '127.0.0.1';
/** Streams that are measured. */
const PROBES = 20;

interface Measured {
  readonly p99Ms: number;
  readonly packets: number;
}

type Role =
  | { readonly role: 'peer' }
  | { readonly role: 'bare'; readonly streams: number; readonly peer: number };

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends everything back. `measure` begins a measurement, `report` ends it. */
async function runPeer(): Promise<void> {
  const socket = createSocket({ type: 'udp4', lookup: (host, _, done) => done(null, host, 4) });
  await new Promise<void>((resolve) => socket.bind(0, HOST, resolve));
  const gaps = createHistogram();
  const last = new Map<number, number>();
  let packets = 0;
  let measuring = false;
  socket.on('message', (datagram, { port }) => {
    socket.send(datagram, port, HOST);
    if (!measuring) return;
    const now = performance.now();
    const before = last.get(port);
    last.set(port, now);
    packets += 1;
    if (before !== undefined) gaps.record(Math.max(1, Math.round((now - before) * 1_000)));
  });
  parentPort?.on('message', (order: 'measure' | 'report') => {
    measuring = order === 'measure';
    if (!measuring) parentPort?.postMessage({ p99Ms: gaps.percentile(99) / 1_000, packets }, []);
    gaps.reset();
    last.clear();
    packets = 0;
  });
  parentPort?.postMessage(socket.address().port, []);
}

/** The bound: a drift-correcting loop over connected sockets that does nothing else. */
async function runBare(streams: number, peer: number): Promise<void> {
  const sockets = Array.from({ length: streams }, () => createSocket('udp4'));
  for (const socket of sockets) {
    socket.on('message', () => {});
    await new Promise<void>((resolve) => socket.bind(0, HOST, resolve));
  }
  const ports = sockets.map((socket) => socket.address().port);
  for (const [index, socket] of sockets.entries()) {
    // Neighbours are pairs: 0 and 1, 2 and 3.
    const port = index < PROBES ? peer : (ports[index ^ 1] ?? peer);
    await new Promise<void>((resolve) => socket.connect(port, HOST, resolve));
  }
  const origin = performance.now();
  let ticks = 0;
  const tick = (): void => {
    for (const socket of sockets) socket.send(Buffer.allocUnsafe(12 + FRAME_SAMPLES));
    ticks = Math.max(ticks + 1, Math.floor((performance.now() - origin) / FRAME_MS));
    setTimeout(tick, Math.max(0, origin + (ticks + 1) * FRAME_MS - performance.now()));
  };
  tick();
}

function startRole(role: Role): Worker {
  return new Worker(new URL(import.meta.url), { workerData: role });
}

async function measure(peer: Worker): Promise<Measured> {
  await wait(SETTLE_MS);
  peer.postMessage('measure', []);
  await wait(MEASURE_MS);
  peer.postMessage('report', []);
  const [measured] = (await once(peer, 'message')) as [Measured];
  return measured;
}

async function measureBare(streams: number, peer: Worker, peerPort: number): Promise<Measured> {
  const bare = startRole({ role: 'bare', streams, peer: peerPort });
  await once(bare, 'online');
  const measured = await measure(peer);
  await bare.terminate();
  return measured;
}

async function measureEngine(
  streams: number,
  peer: Worker,
  peerPort: number,
  blockMain: boolean,
): Promise<Measured> {
  const engine = startMediaEngine({ address: HOST, ports: { first: 20_000, last: 59_999 } });
  const audio = new Uint8Array(10_000 * 8).fill(42);
  const calls: MediaCall[] = [];
  for (let index = 0; index < streams; index += 1) {
    const opened = await engine.open({ onFrame: () => {} });
    if (opened.kind !== 'opened') throw new Error(opened.reason);
    calls.push(opened.call);
  }
  for (const [index, call] of calls.entries()) {
    const port = index < PROBES ? peerPort : (calls[index ^ 1]?.port ?? peerPort);
    call.connect({
      remoteAddress: HOST,
      remotePort: port,
      remoteRtcpPort: port,
      rtcpMux: true,
      codec: 'PCMU',
      payloadType: 0,
      packetMs: FRAME_MS,
      direction: 'sendrecv',
    });
    call.play(audio);
  }
  const block = (): void => {
    const end = performance.now() + 80;
    while (performance.now() < end);
  };
  const blocking = blockMain ? setInterval(block, 500) : undefined;
  const measured = await measure(peer);
  clearInterval(blocking);
  await engine.close();
  return measured;
}

function isHeld({ p99Ms, packets }: Measured): boolean {
  return p99Ms <= LIMIT_MS && packets >= (0.99 * PROBES * MEASURE_MS) / FRAME_MS;
}

function show(name: string, streams: number, measured: Measured): void {
  const share = (100 * measured.packets * FRAME_MS) / (PROBES * MEASURE_MS);
  const verdict = isHeld(measured) ? 'held' : 'not held';
  console.log(
    `${name.padEnd(22)} ${String(streams).padStart(5)} streams  p99 ${measured.p99Ms.toFixed(1).padStart(6)} ms  ` +
      `${share.toFixed(1).padStart(5)} % of the packets  ${verdict}`,
  );
}

async function main(): Promise<void> {
  const loads = process.argv.slice(2).map(Number);
  const peer = startRole({ role: 'peer' });
  const [peerPort] = (await once(peer, 'message')) as [number];
  let [held, bound] = [0, 0];
  for (const streams of loads.length > 0 ? loads : [200, 500, 1_000]) {
    const bare = await measureBare(streams, peer, peerPort);
    show('bare loop', streams, bare);
    const media = await measureEngine(streams, peer, peerPort, false);
    show('media engine', streams, media);
    show('  main thread blocked', streams, await measureEngine(streams, peer, peerPort, true));
    if (isHeld(bare)) bound = Math.max(bound, streams);
    if (isHeld(media)) held = Math.max(held, streams);
  }
  console.log(
    `held: ${held} streams, the bare loop ${bound}: ${bound === 0 ? '-' : (held / bound).toFixed(2)}`,
  );
  await peer.terminate();
}

if (isMainThread) await main();
else {
  const role = workerData as Role;
  await (role.role === 'peer' ? runPeer() : runBare(role.streams, role.peer));
}
