import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { parseMessage } from '../../src/message/parse.ts';
import { writeMessage } from '../../src/message/write.ts';
import { parseDescription, writeDescription } from '../../src/sdp/description.ts';
import { StreamFramer } from '../../src/transport/framing.ts';
import { SeededRandom } from '../kit/seeded-random.ts';
import { TORTURE } from './torture-messages.ts';

/** What parsers stumble over. */
const PIECES = [
  '\r\n',
  '\r',
  '\n',
  '\r\n\r\n',
  '\r\n ',
  '"',
  '\\',
  '<',
  '>',
  ';',
  ';;',
  ',',
  '=',
  ':',
  '@',
  '?',
  '%',
  '%00',
  '[',
  ']',
  '[::1]',
  '\u0000',
  '\u00ff',
  '\ufffd',
  ' ',
  '\t',
  'SIP/2.0',
  'sip:',
  'tag=',
  'branch=z9hG4bK',
  '9'.repeat(40),
  'Content-Length: 5\r\n',
  'Via: ',
  '-1',
  '',
].map((text) => Buffer.from(text));

/** One to six cuts, doublings, insertions and flips in a torture message. */
function mutate(random: SeededRandom): Buffer {
  let bytes = random.pick(TORTURE).raw;
  for (let count = 1 + random.below(6); count > 0; count -= 1) {
    const at = random.below(bytes.length + 1);
    const to = at + random.below(Math.min(40, bytes.length - at + 1));
    const kind = random.below(4);
    if (kind === 0) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
    else if (kind === 1)
      bytes = Buffer.concat([bytes.subarray(0, at), random.pick(PIECES), bytes.subarray(at)]);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
    else {
      bytes = Buffer.from(bytes);
      if (at < bytes.length) bytes[at] = random.below(256);
    }
  }
  return bytes;
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

const MESSAGES = 120_000;
const LIMIT_MS = 20_000;

test('120,000 mutated messages neither break, hang nor fill the parser, and what parses can be written again', () => {
  const random = new SeededRandom(20_260_101);
  const startedAt = performance.now();
  let parsed = 0;
  let before = 0;
  for (let count = 0; count < MESSAGES; count += 1) {
    if (count === MESSAGES / 4) before = heapBytes();
    const outcome = parseMessage(mutate(random));
    if (outcome.kind !== 'parsed') continue;
    parsed += 1;
    const again = parseMessage(writeMessage(outcome.message));
    if (again.kind !== 'parsed')
      throw new Error(`written but not read: ${writeMessage(outcome.message).toString()}`);
  }
  expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS);
  expect(heapBytes() - before, 'heap growth in bytes').toBeLessThan(4 * 1024 * 1024);
  // Both roads must have been taken often, or the mutations test nothing.
  expect(parsed).toBeGreaterThan(MESSAGES / 20);
  expect(parsed).toBeLessThan(MESSAGES * 0.9);
});

test('no written message has more lines than it should, whatever was read', () => {
  const random = new SeededRandom(99);
  for (let count = 0; count < 5_000; count += 1) {
    const outcome = parseMessage(mutate(random));
    if (outcome.kind !== 'parsed') continue;
    const { message } = outcome;
    const head = writeMessage(message).toString('utf8').split('\r\n\r\n', 1)[0] ?? '';
    // Start line, From, To, Call-ID, CSeq, Content-Length, then Via and the others.
    expect(head.split(/\r|\n/).length).toBe(2 * (6 + message.via.length + message.headers.size) - 1);
  }
});

test('random session descriptions neither break nor hang the parser', () => {
  const random = new SeededRandom(3);
  const base =
    'v=0\r\no=- 1 2 IN IP4 1.2.3.4\r\ns=-\r\nc=IN IP4 1.2.3.4\r\nt=0 0\r\nm=audio 9 RTP/AVP 0 8 101\r\na=rtpmap:101 telephone-event/8000\r\na=sendrecv\r\n';
  for (let count = 0; count < 20_000; count += 1) {
    const at = random.below(base.length);
    const piece = random.pick(PIECES).toString();
    const description = parseDescription(base.slice(0, at) + piece + base.slice(at + random.below(10)));
    // A bare carriage return can not be written again, by intention.
    const writable = description !== undefined && !JSON.stringify(description).includes('\\r');
    const again = writable ? parseDescription(writeDescription(description)) : 'not to be written';
    expect(again).toBeDefined();
  }
});

test('a stream cut anywhere yields the same messages', () => {
  const random = new SeededRandom(5);
  const whole = TORTURE.filter(({ parse, name }) => parse === 'parsed' && name !== 'dblreq').map(
    ({ raw }) => raw,
  );
  const stream = Buffer.concat(whole);
  for (let count = 0; count < 200; count += 1) {
    const framer = new StreamFramer(65_535);
    const frames: Buffer[] = [];
    for (let at = 0; at < stream.length;) {
      const size = 1 + random.below(700);
      const outcome = framer.push(stream.subarray(at, at + size));
      expect(outcome.kind).toBe('frames');
      for (const frame of outcome.frames) if (frame.kind === 'message') frames.push(frame.bytes);
      at += size;
    }
    expect(frames).toEqual(whole);
    expect(framer.pendingBytes).toBe(0);
  }
});
