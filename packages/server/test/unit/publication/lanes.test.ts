import { expect, it } from 'vitest';
import { createLanes } from '../../../src/publication/lanes.ts';

const most = 16;

function watchedLanes() {
  const begun: string[] = [];
  const returned: string[] = [];
  const lanes = createLanes<string>({
    most,
    begin: (item) => begun.push(item),
    giveBack: (items) => returned.push(...items),
  });
  const roomOf = (lane: string): number | undefined => {
    const { lanes: names, rooms } = lanes.rooms();
    return rooms[names.indexOf(lane)];
  };
  /** One delivery from its claim to its end. */
  const pass = (lane: string, succeeded: boolean, durationMs = 200): void => {
    lanes.add(lane, 'one');
    lanes.end(lane, succeeded, durationMs);
  };
  const addMany = (lane: string, count: number): void => {
    for (let index = 0; index < count; index += 1) lanes.add(lane, `${lane} ${index}`);
  };
  return { lanes, begun, returned, roomOf, pass, addMany };
}

it('gives a receiver that fails less and less, down to one at a time, and takes nothing from the others', () => {
  const { lanes, begun, roomOf, pass } = watchedLanes();
  for (let failures = 0; failures < 10; failures += 1) pass('dead', false);
  expect(roomOf('dead')).toBe(1);
  const before = begun.length;
  lanes.add('dead', 'first');
  lanes.add('dead', 'second');
  expect(begun.length).toBe(before + 1);
  expect(roomOf('healthy')).toBeUndefined();
});

it('gives it everything again after a few successes', () => {
  const { lanes, roomOf, pass } = watchedLanes();
  for (let failures = 0; failures < 5; failures += 1) pass('back', false);
  const rooms: (number | undefined)[] = [];
  for (let successes = 0; successes < 4; successes += 1) {
    rooms.push(roomOf('back'));
    pass('back', true);
  }
  expect(rooms).toEqual([1, 2, 4, 8]);
  expect(lanes.rooms().lanes).toEqual([]);
});

it('has no more on their way than one receiver may take, and begins the others in their order', () => {
  const { lanes, begun, addMany } = watchedLanes();
  addMany('a', 20);
  expect(begun).toHaveLength(most);
  lanes.end('a', true, 200);
  expect(begun.at(-1)).toBe('a 16');
  expect(lanes.size).toBe(19);
});

it('claims ahead for a receiver that answers fast, and not for a slow one', () => {
  const { roomOf, pass, addMany, lanes } = watchedLanes();
  addMany('fast', 1);
  addMany('slow', 1);
  pass('fast', true, 2);
  pass('slow', true, 3_000);
  expect(roomOf('fast')).toBe(16 * most - 1);
  expect(roomOf('slow')).toBe(most - 1);
  expect(lanes.size).toBe(2);
});

it('gives back what waits for a receiver as soon as it fails', () => {
  const { lanes, returned, addMany, roomOf } = watchedLanes();
  addMany('a', 20);
  expect(lanes.end('a', false, 200)).toBe(true);
  expect(returned).toEqual(['a 16', 'a 17', 'a 18', 'a 19']);
  expect(lanes.size).toBe(most - 1);
  expect(roomOf('a')).toBeLessThan(0);
});

it('gives up what waits at a stop', () => {
  const { lanes, addMany } = watchedLanes();
  addMany('a', 18);
  addMany('b', 17);
  expect(lanes.drain()).toEqual(['a 16', 'a 17', 'b 16']);
  expect(lanes.size).toBe(2 * most);
});

it('remembers a bounded number of receivers', () => {
  const { lanes, pass } = watchedLanes();
  for (let index = 0; index < 5_000; index += 1) pass(`lane ${index}`, false);
  expect(lanes.rooms().lanes.length).toBeLessThanOrEqual(2_000);
});
