import { describe, expect, it } from 'vitest';
import { ArrivalBuffer, PlayQueue } from '../../../../src/carriers/lab/sound-queues.ts';

const silence = 0xff;
const sound = (ms: number, code = 1) => new Uint8Array(ms * 8).fill(code);
const state = async (promise: Promise<string>) => Promise.race([promise, Promise.resolve('waiting')]);

describe('what waits to be played', () => {
  it('leaves in frames of 20 ms, the last one filled up with silence, and then nothing', () => {
    const queue = new PlayQueue();
    expect(queue.play(sound(30, 7))).toBe(true);
    expect(queue.next()).toEqual(sound(20, 7));
    const last = queue.next() ?? new Uint8Array();
    expect(last.subarray(0, 80)).toEqual(sound(10, 7));
    expect(last.subarray(80)).toEqual(sound(10, silence));
    expect(queue.next()).toBeNull();
    expect(queue.playedMs).toBe(30);
  });

  it('is a copy of what was given', () => {
    const queue = new PlayQueue();
    const audio = sound(20, 7);
    queue.play(audio);
    audio.fill(9);
    expect(queue.next()).toEqual(sound(20, 7));
  });

  it('has a bound of 120 s, and a piece beyond it is refused whole', () => {
    const queue = new PlayQueue();
    expect(queue.play(sound(119_990))).toBe(true);
    expect(queue.play(sound(20))).toBe(false);
    expect(queue.play(sound(10))).toBe(true);
    queue.next();
    expect(queue.play(sound(20))).toBe(true);
    expect(queue.play(sound(1))).toBe(false);
  });

  it('passes a mark when all that waited at its setting was played, not what came later', async () => {
    const queue = new PlayQueue();
    expect(await queue.mark()).toBe('played');
    queue.play(sound(40));
    const mark = queue.mark();
    queue.play(sound(40));
    const later = queue.mark();
    queue.next();
    expect(await state(mark)).toBe('waiting');
    queue.next();
    expect(await mark).toBe('played');
    expect(await state(later)).toBe('waiting');
  });

  it('an interruption drops the rest: counted are what was played and what was not, and marks know', async () => {
    const queue = new PlayQueue();
    queue.play(sound(1_000));
    const mark = queue.mark();
    for (let frame = 0; frame < 15; frame += 1) queue.next();
    expect(queue.clear()).toEqual({ playedMs: 300, droppedMs: 700 });
    expect(await mark).toBe('cleared');
    expect(queue.next()).toBeNull();
    expect(queue.clear()).toEqual({ playedMs: 300, droppedMs: 0 });
    queue.play(sound(20));
    const next = queue.mark();
    queue.next();
    expect(await next).toBe('played');
    expect(queue.playedMs).toBe(320);
  });

  it('takes nothing once it is closed, and keeps nobody waiting', async () => {
    const queue = new PlayQueue();
    queue.play(sound(1_000));
    const mark = queue.mark();
    queue.close();
    queue.close();
    expect(await mark).toBe('cleared');
    expect(queue.play(sound(20))).toBe(false);
    expect(await queue.mark()).toBe('cleared');
    expect(queue.clear()).toEqual({ playedMs: 0, droppedMs: 0 });
  });
});

describe('what arrives from the page', () => {
  const codes = (buffer: ArrivalBuffer, frames: number) =>
    Array.from({ length: frames }, () => buffer.next()[0]);

  it('is silence until three frames wait, then comes in order', () => {
    const buffer = new ArrivalBuffer();
    buffer.push(sound(20, 1));
    buffer.push(sound(20, 2));
    expect(codes(buffer, 2)).toEqual([silence, silence]);
    buffer.push(sound(20, 3));
    expect(codes(buffer, 3)).toEqual([1, 2, 3]);
  });

  it('survives a frame that is late by less than the lead without a gap', () => {
    const buffer = new ArrivalBuffer();
    for (const code of [1, 2, 3]) buffer.push(sound(20, code));
    expect(codes(buffer, 2)).toEqual([1, 2]);
    for (const code of [4, 5]) buffer.push(sound(20, code));
    expect(codes(buffer, 3)).toEqual([3, 4, 5]);
  });

  it('waits for three frames again behind a gap', () => {
    const buffer = new ArrivalBuffer();
    for (const code of [1, 2, 3]) buffer.push(sound(20, code));
    expect(codes(buffer, 4)).toEqual([1, 2, 3, silence]);
    buffer.push(sound(20, 4));
    expect(codes(buffer, 1)).toEqual([silence]);
    for (const code of [5, 6]) buffer.push(sound(20, code));
    expect(codes(buffer, 3)).toEqual([4, 5, 6]);
  });

  it('forgets what would be heard too late, and stays bounded', () => {
    const buffer = new ArrivalBuffer();
    for (let code = 1; code <= 13; code += 1) buffer.push(sound(20, code));
    expect(codes(buffer, 4)).toEqual([11, 12, 13, silence]);
  });
});
