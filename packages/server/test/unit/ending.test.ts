import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { endInOrder } from '../../src/ending.ts';
import { createLog } from '../../src/platform/log.ts';
import { createManualClock } from '../kit/manual-clock.ts';

const stopWithinMs = 45_000;

/** A program whose stop is over when the test says so. */
function start() {
  const exits: number[] = [];
  let stops = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const program = Object.assign(new EventEmitter(), { exit: (code: number) => void exits.push(code) });
  const clock = createManualClock(stopWithinMs);
  const stop = () => ((stops += 1), promise);
  endInOrder({ program, clock, log: createLog('silent'), stop, stopWithinMs });
  const settled = () => new Promise(setImmediate);
  const tell = async (event: string) => {
    program.emit(event, new Error('lost'));
    await settled();
    return stops;
  };
  const stopped = async () => {
    resolve();
    await settled();
    return exits;
  };
  return { clock, exits, tell, stopped, settled };
}

describe('the program', () => {
  test.each(['SIGTERM', 'SIGINT'])('is stopped by %s, and ends with 0', async (signal) => {
    const { tell, exits, stopped } = start();
    expect(await tell(signal)).toBe(1);
    expect(exits).toEqual([]);
    expect(await stopped()).toEqual([0]);
  });

  test.each(['uncaughtException', 'unhandledRejection'])(
    'is stopped by an %s, and ends with 1',
    async (fault) => {
      const { tell, exits, stopped } = start();
      expect(await tell(fault)).toBe(1);
      expect(exits).toEqual([]);
      expect(await stopped()).toEqual([1]);
    },
  );

  test('is stopped once, whatever happens meanwhile; a fault among that counts', async () => {
    const { tell, stopped } = start();
    await tell('SIGTERM');
    await tell('unhandledRejection');
    expect(await tell('uncaughtException')).toBe(1);
    expect(await stopped()).toEqual([1]);
  });

  test('ends at once with 1 at the second signal', async () => {
    const { tell, exits } = start();
    await tell('SIGINT');
    await tell('SIGINT');
    expect(exits).toEqual([1]);
  });

  test('ends with 1 when stopping takes too long', async () => {
    const { tell, exits, clock, settled } = start();
    await tell('SIGTERM');
    clock.advance(stopWithinMs);
    await settled();
    expect(exits).toEqual([1]);
  });
});
