/**
 * How much of this process each receiver may take.
 *
 * - A lane that answers has up to `most` deliveries on their way. With each failure its share halves, down to one at a
 *   time, and with each success it doubles. So a receiver that hangs holds a single slot however much waits for it, and
 *   one that is back is at full speed a few deliveries later.
 * - A lane that answers fast may have more claimed than are on their way, as much as it takes in `aheadMs`: what waits
 *   here need not wait for the database. With the first failure they are given back.
 */
export interface Lanes<Item> {
  /** Begins, or keeps until the lane has a slot. */
  add(lane: string, item: Item): void;
  /** One that was begun has ended, after this long. Ends with whether the lane could do with more soon. */
  end(lane: string, succeeded: boolean, durationMs: number): boolean;
  /** How many more may be claimed of each lane; `most` of those that are not named. */
  rooms(): { readonly lanes: readonly string[]; readonly rooms: readonly number[] };
  /** What waits for a slot, of all lanes, which forget it. */
  drain(): Item[];
  /** How many have been added and have neither ended nor been given back. */
  readonly size: number;
}

export interface LanesOptions<Item> {
  readonly most: number;
  readonly begin: (item: Item) => void;
  readonly giveBack: (items: readonly Item[]) => void;
}

interface Lane<Item> {
  busy: number;
  readonly waiting: Item[];
  /** Of the last tries, milliseconds; null before the first. */
  averageMs: number | null;
}

/** Lanes that do badly are remembered; of more than this the oldest start again with `most`. */
const maxRemembered = 2_000;
const aheadMs = 100;
const mostAhead = 16;

export function createLanes<Item>({ most, begin, giveBack }: LanesOptions<Item>): Lanes<Item> {
  /** Those that hold something. */
  const active = new Map<string, Lane<Item>>();
  /** Of those that may not have `most`. */
  const limits = new Map<string, number>();
  let size = 0;

  const limitOf = (name: string): number => limits.get(name) ?? most;

  function setLimit(name: string, limit: number): void {
    limits.delete(name);
    if (limit < most) limits.set(name, limit);
    if (limits.size > maxRemembered) limits.delete(limits.keys().next().value ?? '');
  }

  /** How many a lane may hold. */
  function windowOf(name: string, { averageMs }: Lane<Item>): number {
    if (limits.has(name) || averageMs === null) return limitOf(name);
    return Math.floor(most * Math.min(mostAhead, Math.max(1, aheadMs / averageMs)));
  }

  function fillSlots(name: string, lane: Lane<Item>): void {
    while (lane.busy < limitOf(name)) {
      const item = lane.waiting.shift();
      if (item === undefined) return;
      lane.busy += 1;
      begin(item);
    }
  }

  function emptyLane(lane: Lane<Item>): Item[] {
    const items = lane.waiting.splice(0);
    size -= items.length;
    return items;
  }

  return {
    get size() {
      return size;
    },
    add(name, item) {
      const lane = active.get(name) ?? { busy: 0, waiting: [], averageMs: null };
      active.set(name, lane);
      size += 1;
      lane.waiting.push(item);
      fillSlots(name, lane);
    },
    end(name, succeeded, durationMs) {
      const lane = active.get(name);
      if (lane === undefined) return true;
      lane.busy -= 1;
      size -= 1;
      lane.averageMs = ((lane.averageMs ?? durationMs) * 7 + durationMs) / 8;
      setLimit(name, succeeded ? limitOf(name) * 2 : Math.max(1, Math.floor(limitOf(name) / 2)));
      const returned = succeeded ? [] : emptyLane(lane);
      if (returned.length > 0) giveBack(returned);
      fillSlots(name, lane);
      if (lane.busy === 0) active.delete(name);
      return lane.waiting.length <= windowOf(name, lane) / 2;
    },
    rooms() {
      const lanes = [...new Set([...active.keys(), ...limits.keys()])];
      const rooms = lanes.map((name) => {
        const lane = active.get(name);
        return lane === undefined ? limitOf(name) : windowOf(name, lane) - lane.busy - lane.waiting.length;
      });
      return { lanes, rooms };
    },
    drain: () => [...active.values()].flatMap(emptyLane),
  };
}
