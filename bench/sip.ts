/**
 * What calls cost: `node bench/sip.ts [rate | flat | signalling | memory …]`; without names all sections run. SIPp must be
 * installed (Debian: `sip-tester`).
 *
 * rate: calls set up and ended per second, ours with SIPp in either part, against SIPp with SIPp in turns within one
 * run. flat: memory and descriptors after rounds of 1,000 calls with media. signalling, memory: what a call
 * holds while it is up, without and with its media.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type Call,
  createUserAgent,
  type IncomingCall,
  type LocalMedia,
  type MediaCall,
  openNetwork,
  startMediaEngine,
  type UserAgent,
} from '@trunkcall/sip';
import { freePort } from '../packages/sip/test/kit/free-port.ts';
import {
  type Folder,
  openFolder,
  type Program,
  startProgram,
} from '../packages/sip/test/peers/kit/programs.ts';
import { median } from './processes.ts';

const HOST = '127.0.0.1';
/** Calls that are being set up at once. */
const CONCURRENCY = 50;
const RATE_CALLS = 5_000;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const FLAT_CALLS = 1_000;
/** Transactions must be over soon after their calls for memory to be compared: 64·T1 is 3.2 s. */
const SHORT_TIMERS = { t1Ms: 50, t2Ms: 400, t4Ms: 500, timerDMs: 3_200 };
const MEGABYTE = 1024 * 1024;

interface Subject {
  readonly agent: UserAgent;
  readonly port: number;
}

async function openAgent(onInvite?: (call: IncomingCall) => void): Promise<Subject> {
  const port = await freePort();
  const network = await openNetwork({ listen: [{ transport: 'udp', address: HOST, port }] });
  const agent = createUserAgent({
    network,
    timers: SHORT_TIMERS,
    maxTransactions: 200_000,
    allowSource: () => true,
    ...(onInvite === undefined ? {} : { onInvite }),
  });
  return { agent, port };
}

const mediaAt = (port: number): LocalMedia => ({
  address: HOST,
  port,
  codecs: ['PCMU'],
  telephoneEvents: true,
  srtp: 'never',
  rtcpMux: false,
});

const startSipp = (folder: Folder, port: number, args: readonly string[]): Program =>
  startProgram('sipp', ['-i', HOST, '-p', String(port), '-nostdin', '-nd', ...args], { folder: folder.path });

/** One call of ours; undefined when it came to nothing. */
async function call({ agent }: Subject, port: number, media: LocalMedia): Promise<Call | undefined> {
  const outcome = await agent.call({ to: `sip:bob@${HOST}:${port}`, from: `sip:alice@${HOST}`, media })
    .outcome;
  return outcome.kind === 'answered' ? outcome.call : undefined;
}

/** Does a piece of work `count` times, some at once. */
async function repeat(count: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

/** Calls per second of some work that makes `RATE_CALLS` of them. */
async function rateOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return RATE_CALLS / ((performance.now() - start) / 1_000);
}

/** SIPp makes calls, as many at once as we do. Throws when one of them failed. */
async function sippCalls(folder: Folder, port: number): Promise<void> {
  const load = ['-sn', 'uac', '-r', '20000', '-l', String(CONCURRENCY), '-m', String(RATE_CALLS)];
  const caller = startSipp(folder, await freePort(), [...load, '-d', '0', `${HOST}:${port}`]);
  if ((await caller.done) !== 0) throw new Error(`calls of SIPp failed: ${caller.output()}`);
}

async function measureRate(folder: Folder): Promise<void> {
  const calleePort = await freePort();
  await using _callee = startSipp(folder, calleePort, ['-sn', 'uas']);
  const ours = await openAgent((incoming) => void incoming.accept({ media: mediaAt(40_000) }));
  let failed = 0;
  const oneOfOurs = async (): Promise<void> => {
    const up = await call(ours, calleePort, mediaAt(40_000));
    if (up === undefined) failed += 1;
    await up?.hangup();
  };
  const contenders = {
    'SIPp calls SIPp': () => sippCalls(folder, calleePort),
    'we call SIPp': () => repeat(RATE_CALLS, oneOfOurs),
    'SIPp calls us': () => sippCalls(folder, ours.port),
  };
  const rates = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, work] of Object.entries(contenders)) {
      rates.set(name, [...(rates.get(name) ?? []), await rateOf(work)]);
    }
  }
  const limit = median(rates.get('SIPp calls SIPp') ?? []);
  for (const [name, found] of rates) {
    const rate = median(found);
    console.log(
      `rate    ${name.padEnd(16)} ${rate.toFixed(0).padStart(6)} calls/s  ${(rate / limit).toFixed(2)}`,
    );
  }
  if (failed > 0) console.log(`rate    ${failed} calls of ours failed`);
  await ours.agent.close();
}

interface Footprint {
  /** Of the main thread, with its buffers. */
  readonly heap: number;
  /** Of the process, the media thread too. */
  readonly resident: number;
  readonly descriptors: number;
}

async function footprint(): Promise<Footprint> {
  for (let turn = 0; turn < 3; turn += 1) {
    globalThis.gc?.();
    await wait(50);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const descriptors = readdirSync('/proc/self/fd').length;
  return { heap: heapUsed + external, resident: rss, descriptors };
}

const inMegabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(1).padStart(7)} MB`;

function show(name: string, { heap, resident, descriptors }: Footprint): void {
  const text = `heap ${inMegabytes(heap)}  resident ${inMegabytes(resident)}  descriptors ${descriptors}`;
  console.log(`${name.padEnd(32)} ${text}`);
}

/** Opens the media of a call and makes it; throws when either fails. */
async function callWithMedia(
  ours: Subject,
  port: number,
  engine: ReturnType<typeof startMediaEngine>,
): Promise<{ readonly up: Call; readonly media: MediaCall }> {
  const opened = await engine.open({ onFrame: () => {} });
  if (opened.kind !== 'opened') throw new Error(opened.reason);
  const up = await call(ours, port, mediaAt(opened.call.port));
  if (up?.media === undefined) throw new Error('a call failed');
  opened.call.connect(up.media);
  return { up, media: opened.call };
}

async function untilIdle({ agent }: Subject): Promise<void> {
  while (agent.stats().transactions > 0 || agent.stats().dialogs > 0) await wait(50);
}

async function measureFlat(folder: Folder): Promise<void> {
  const calleePort = await freePort();
  await using _callee = startSipp(folder, calleePort, ['-sn', 'uas']);
  const ours = await openAgent();
  const engine = startMediaEngine({ address: HOST, ports: { first: 30_000, last: 59_999 } });
  show('flat    before', await footprint());
  for (let round = 1; round <= ROUNDS + 1; round += 1) {
    await repeat(FLAT_CALLS, async () => {
      const { up, media } = await callWithMedia(ours, calleePort, engine);
      await up.hangup();
      await media.close();
    });
    await untilIdle(ours);
    show(`flat    after ${round * FLAT_CALLS} calls`, await footprint());
  }
  await engine.close();
  await ours.agent.close();
}

async function measureMemory(folder: Folder, withMedia: boolean): Promise<void> {
  const calleePort = await freePort();
  await using _callee = startSipp(folder, calleePort, ['-sn', 'uas']);
  const ours = await openAgent();
  const engine = startMediaEngine({ address: HOST, ports: { first: 30_000, last: 59_999 } });
  const up: Call[] = [];
  const makeOne = async (): Promise<void> => {
    const made = withMedia
      ? (await callWithMedia(ours, calleePort, engine)).up
      : await call(ours, calleePort, mediaAt(40_000));
    if (made !== undefined) up.push(made);
  };
  // The first calls pay for what is loaded once.
  await repeat(CONCURRENCY, makeOne);
  const before = await footprint();
  await repeat(FLAT_CALLS, makeOne);
  while (ours.agent.stats().transactions > 0) await wait(50);
  const now = await footprint();
  const each = (bytes: number): string => `${(bytes / FLAT_CALLS / 1_024).toFixed(1)} KB`;
  const what = withMedia ? 'with its media' : 'signalling alone';
  console.log(
    `memory  a call, ${what}: heap ${each(now.heap - before.heap)}, resident ${each(now.resident - before.resident)}`,
  );
  await Promise.all(up.map((made) => made.hangup()));
  await engine.close();
  await ours.agent.close();
}

/** Without a bound the young generations of two heaps grow for thousands of calls, which hides what stays. */
const STEADY = ['--expose-gc', '--max-semi-space-size=1'];
const sections = {
  rate: { measure: measureRate, flags: [] },
  flat: { measure: measureFlat, flags: STEADY },
  signalling: { measure: (folder: Folder) => measureMemory(folder, false), flags: STEADY },
  memory: { measure: (folder: Folder) => measureMemory(folder, true), flags: STEADY },
};

const load = (): string => loadavg()[0]?.toFixed(2) ?? '-';

/** Runs each section in a process of its own, with its flags. */
function runSections(wanted: readonly string[]): void {
  console.log(`load average at the start ${load()}`);
  for (const [name, { flags }] of Object.entries(sections)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const args = [...flags, fileURLToPath(import.meta.url)];
    const env = { ...process.env, BENCH_SECTION: name };
    spawnSync(process.execPath, args, { stdio: 'inherit', env });
  }
  console.log(`load average at the end ${load()}`);
}

async function runSection(name: string): Promise<void> {
  await using folder = await openFolder();
  for (const [own, { measure }] of Object.entries(sections)) if (own === name) await measure(folder);
}

const section = process.env['BENCH_SECTION'];
if (section === undefined) runSections(process.argv.slice(2));
else await runSection(section);
