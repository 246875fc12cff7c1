/**
 * What the bridge between a telephone line and a speech model costs: `node bench/voice.ts [section …]`.
 *
 * The process under test (`voice/bridge.ts`) holds conversations of the realtime agent on the media engine, on one
 * core where `taskset` is there. Callees (bare sockets) and the provider (of fixed, measured delay) are in this process.
 *
 *   delay    from the callee's last voice to our first, without the provider's share and the jitter buffer's 40 ms;
 *            against a datagram that goes to the provider and back through the same process without a bridge
 *   barge    from the first voice over ours to our last packet, and the same from when the detector fired
 *   load     60 conversations at once: the 99th percentile between two packets, against the same with one
 *   memory   what a conversation holds, and the heap after each 50 of 200
 */
import { fork, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { beat, Callee, noMeasures, type Measures } from './voice/callee.ts';
import type { Order, Told } from './voice/messages.ts';
import { startProvider } from './voice/provider.ts';

const bufferMs = 40;
const seconds = Number(process.env['BENCH_SECONDS'] ?? 15);
const wanted = process.argv.slice(2);
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

// ---- The process under test

const bridge = fork(fileURLToPath(new URL('voice/bridge.ts', import.meta.url)), {
  execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
});
const hasTaskset = spawnSync('taskset', ['--version']).error === undefined;
if (hasTaskset && bridge.pid !== undefined) spawnSync('taskset', ['-a', '-p', '-c', '0', String(bridge.pid)]);
process.once('exit', () => bridge.kill());
const waiting = new Set<(told: Told) => void>();
bridge.on('message', (told: Told) => {
  for (const take of waiting) take(told);
});
bridge.once('exit', (code) => {
  if (code !== 0) throw new Error('the process under test has ended');
});

/** Gives an order and waits for what it is answered with. */
function ask<Kind extends Told['kind']>(
  order: Order,
  kind: Kind,
  id?: number,
): Promise<Extract<Told, { kind: Kind }>> {
  return new Promise((resolve) => {
    const take = (told: Told): void => {
      if (told.kind !== kind || (id !== undefined && 'id' in told && told.id !== id)) return;
      waiting.delete(take);
      resolve(told as Extract<Told, { kind: Kind }>);
    };
    waiting.add(take);
    bridge.send(order);
  });
}

// ---- Conversations

const provider = await startProvider();
const { barePort } = await ask({ kind: 'provider', url: provider.url }, 'ready');
const callees = new Set<Callee>();
const beating = beat(callees);
let count = 0;

interface Conversation {
  readonly callee: Callee;
  readonly id: number;
}

async function begin(interruptsEvery: number): Promise<Conversation> {
  count += 1;
  const id = count;
  // Not all at the same moment of their turns.
  const callee = await Callee.open(provider.session(id), interruptsEvery, 800 + ((id * 137) % 1_500));
  const { port } = await ask({ kind: 'begin', id, calleePort: callee.port }, 'begun', id);
  callee.connect(port);
  callees.add(callee);
  return { callee, id };
}

async function end({ callee, id }: Conversation): Promise<void> {
  await ask({ kind: 'end', id }, 'ended', id);
  callees.delete(callee);
  callee.close();
}

/** Holds so many conversations at once; what is measured begins when all of them talk. */
async function hold(size: number, interruptsEvery: number, forMs: number): Promise<Measures> {
  const measures = noMeasures();
  const held: Conversation[] = [];
  for (let index = 0; index < size; index += 1) held.push(await begin(interruptsEvery));
  await wait(2_500);
  for (const { callee } of held) callee.measure(measures);
  await wait(forMs);
  await Promise.all(held.map(end));
  return measures;
}

/** Datagrams to the provider and back, one every 20 ms. */
async function bareWay(forMs: number): Promise<number[]> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const times: number[] = [];
  let sentAtMs = 0;
  socket.on('message', () => times.push(performance.now() - sentAtMs));
  for (const until = performance.now() + forMs; performance.now() < until; await wait(20)) {
    sentAtMs = performance.now();
    socket.send(Buffer.alloc(172), barePort, '127.0.0.1');
  }
  socket.close();
  return times;
}

function line(what: string, values: readonly number[], goal = ''): void {
  const figures = [50, 95, 99].map(
    (per) =>
      `p${per} ${percentile(values, per / 100)
        .toFixed(1)
        .padStart(6)} ms`,
  );
  console.log(`  ${what.padEnd(46)} ${figures.join('  ')}  (${values.length}) ${goal}`.trimEnd());
}

const sections: Readonly<Record<string, () => Promise<void>>> = {
  async delay() {
    const added: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      bare.push(...(await bareWay((seconds * 1_000) / 6)));
      const measures = await hold(10, 0, (seconds * 1_000) / 2);
      added.push(...measures.added.map((ms) => ms - bufferMs));
    }
    line('added voice to voice, beyond the jitter buffer', added, 'goal: p50 ≤ 20, p95 ≤ 40');
    line('bare way through the process', bare);
  },
  async barge() {
    const { bargeIn, afterFired } = await hold(10, 2, seconds * 1_000);
    line('first voice over ours → our last packet', bargeIn, 'goal: p95 ≤ 250');
    line('detector fires → our last packet', afterFired, 'goal: p95 ≤ 80');
  },
  async load() {
    const one = await hold(1, 4, (seconds * 1_000) / 3);
    const sixty = await hold(60, 4, seconds * 1_000);
    line('between two packets, 60 conversations', sixty.gaps, 'goal: p99 ≤ 25');
    line('between two packets, 1 conversation', one.gaps);
    const ratio = percentile(sixty.gaps, 0.99) / percentile(one.gaps, 0.99);
    console.log(`  ratio of the 99th percentiles ${ratio.toFixed(2)}`);
    line(
      'added voice to voice, 60 conversations',
      sixty.added.map((ms) => ms - bufferMs),
    );
  },
  async memory() {
    const atOnce = 50;
    await hold(atOnce, 0, 500);
    const before = await ask({ kind: 'memory' }, 'memory');
    const held: Conversation[] = [];
    for (let index = 0; index < atOnce; index += 1) held.push(await begin(0));
    await wait(4_000);
    const during = await ask({ kind: 'memory' }, 'memory');
    await Promise.all(held.map(end));
    const each = (more: number) => `${(more / atOnce / 1_024).toFixed(0)} KB`;
    const [heap, resident] = [
      each(during.heapBytes - before.heapBytes),
      each(during.residentBytes - before.residentBytes),
    ];
    console.log(`  a conversation holds ${heap} of heap, ${resident} resident`);
    const heaps: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      await hold(atOnce, 4, 1_500);
      heaps.push((await ask({ kind: 'memory' }, 'memory')).heapBytes);
    }
    const [first = 0, ...others] = heaps;
    const shown = heaps.map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(', ');
    const growth = (Math.max(...others) / first - 1) * 100;
    console.log(
      `  heap after each ${atOnce} of ${atOnce * 4} conversations: ${shown} MB (${growth.toFixed(1)} %, goal: no growth)`,
    );
  },
};

const [minute = 0] = loadavg();
console.log(`load of the machine ${minute.toFixed(1)}${hasTaskset ? ', the bridge on one core' : ''}`);
for (const [name, run] of Object.entries(sections)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(name);
  await run();
}
beating.stop();
provider.close();
bridge.removeAllListeners('exit');
bridge.send({ kind: 'stop' } satisfies Order);
await once(bridge, 'exit');
