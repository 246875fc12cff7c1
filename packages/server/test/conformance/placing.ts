/** Places calls on a carrier for its conformance suites. */
import type { CallOrder, Carrier, Ending, Leg, Media, Placed } from '../../src/carriers/carrier.ts';

export interface CarrierUnderTest<M extends Media, P> {
  readonly carrier: Carrier<M>;
  readonly phones: P;
  /** How long phones may ring, milliseconds; 5,000 when absent. */
  readonly ringLimitMs?: number;
  /** Releases what stands around the carrier. */
  close?(): Promise<void>;
}

export type Build<M extends Media, P> = () => CarrierUnderTest<M, P> | Promise<CarrierUnderTest<M, P>>;

export interface Placing<M extends Media> {
  /** What the watcher was told of the latest call. */
  readonly steps: string[];
  place(to: string, signal?: AbortSignal): Promise<Placed<M>>;
  /** Throws when nobody answers. */
  answered(to: string, signal?: AbortSignal): Promise<Leg<M>>;
  /** Throws when somebody answers. */
  ended(to: string): Promise<Ending>;
}

export function placingOn<M extends Media>({
  carrier,
  ringLimitMs = 5_000,
}: CarrierUnderTest<M, unknown>): Placing<M> {
  const steps: string[] = [];
  let calls = 0;
  async function place(to: string, signal = new AbortController().signal): Promise<Placed<M>> {
    steps.length = 0;
    const order: CallOrder = {
      attemptId: `att_conformance_${(calls += 1)}`,
      to,
      from: null,
      ringLimitMs,
      locale: 'en-US',
      simulation: {
        resultSchema: {
          type: 'object',
          additionalProperties: false,
          properties: { well: { type: 'boolean', description: 'Are you well?' } },
          required: ['well'],
        },
        callees: [],
      },
    };
    return carrier.place(order, { progress: (step) => steps.push(step) }, signal);
  }
  return {
    steps,
    place,
    async answered(to, signal) {
      const placed = await place(to, signal);
      if (placed.kind === 'ended') throw new Error(`not answered: ${JSON.stringify(placed.ending)}`);
      return placed.leg;
    },
    async ended(to) {
      const placed = await place(to);
      if (placed.kind === 'answered') throw new Error('answered');
      return placed.ending;
    },
  };
}
