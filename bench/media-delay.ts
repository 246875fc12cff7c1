/**
 * How long a sound takes through the media path, one way: `node bench/media-delay.ts [clicks]`.
 *
 * One call plays a frame of noise into another; the time from the order to play it until the other call's owner has
 * the frame is measured, in turns with the same frame over a bare pair of UDP sockets. Of the difference the jitter
 * buffer holds the sound back for its target, 40 ms, which is its work; what is left is added by us: the wait for the
 * next tick on either side, and the way between the threads. Goal: less than one frame (20 ms).
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { FRAME_MS, FRAME_SAMPLES, SILENCE, startMediaEngine, type MediaCall } from '@trunkcall/sip';

const host = '127.0.0.1';
const bufferMs = 40;
const clicks = Number(process.argv[2] ?? 100);
const noise = new Uint8Array(FRAME_SAMPLES).fill(0x20);
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

const engine = startMediaEngine({ address: host, ports: { first: 20_000, last: 29_999 } });
let told: (at: number) => void = () => undefined;
const from = await openCall();
const to = await openCall((frame) => {
  if (frame.includes(0x20)) told(performance.now());
});
connect(from, to.port);
connect(to, from.port);
const bare = await openBare();
await wait(1_000);

const times: { media: number[]; bare: number[] } = { media: [], bare: [] };
let lost = 0;
const keep = (list: number[], ms: number | null): void => void (ms === null ? (lost += 1) : list.push(ms));
for (let click = 0; click < clicks; click += 1) {
  // At any moment of a tick.
  await wait(200 + ((click * 7) % FRAME_MS));
  const heardAfterMs = await timed((heard) => {
    told = heard;
    from.play(noise);
  });
  keep(times.media, heardAfterMs);
  keep(times.bare, await timed(bare));
}
const added = percentile(times.media, 0.5) - percentile(times.bare, 0.5) - bufferMs;
for (const [name, values] of Object.entries(times)) {
  const [p50, p95] = [percentile(values, 0.5), percentile(values, 0.95)];
  console.log(`${name.padEnd(6)} p50 ${p50.toFixed(1)} ms  p95 ${p95.toFixed(1)} ms`);
}
if (lost > 0) console.log(`${lost} were lost`);
console.log(`added beyond the jitter buffer: ${added.toFixed(1)} ms, a frame is ${FRAME_MS} ms`);
await engine.close();
process.exit(0);

async function openCall(onFrame: (frame: Uint8Array) => void = () => undefined): Promise<MediaCall> {
  const opened = await engine.open({ onFrame, idle: 'silence' });
  if (opened.kind !== 'opened') throw new Error(opened.reason);
  return opened.call;
}

function connect(call: MediaCall, port: number): void {
  call.connect({
    remoteAddress: host,
    remotePort: port,
    remoteRtcpPort: port,
    rtcpMux: true,
    codec: 'PCMU',
    payloadType: 0,
    packetMs: FRAME_MS,
    direction: 'sendrecv',
  });
}

/** Sends a frame over a pair of sockets and tells when it came. */
async function openBare(): Promise<(heard: (at: number) => void) => void> {
  const [left, right] = [createSocket('udp4'), createSocket('udp4')];
  right.bind(0, host);
  await once(right, 'listening');
  let heardBy: (at: number) => void = () => undefined;
  right.on('message', () => heardBy(performance.now()));
  return (heard) => {
    heardBy = heard;
    left.send(Buffer.alloc(12 + FRAME_SAMPLES, SILENCE.PCMU), right.address().port, host);
  };
}

/** Null when it was lost: a machine without time for us drops sound, as a network does. */
function timed(send: (heard: (at: number) => void) => void): Promise<number | null> {
  const began = performance.now();
  return new Promise((resolve) => {
    const limit = setTimeout(() => resolve(null), 1_000);
    send((at) => {
      clearTimeout(limit);
      resolve(at - began);
    });
  });
}
