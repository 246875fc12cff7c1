/** Holds one call on a carrier with an agent, as the service does, and draws its result. */
import type {
  AnsweredBy,
  CallerBehavior,
  GoalFile,
  ResultSchema,
  ScriptedCallee,
  Variables,
} from '@trunkcall/contract';
import type { Agent, Brief, ConversationEnd, TransferOffer, Turn } from '../../src/agents/agent.ts';
import { hasOptedOut } from '../../src/agents/notes.ts';
import { createScriptedAgent } from '../../src/agents/scripted/scripted-agent.ts';
import type {
  Accepted,
  Carrier,
  CallOrder,
  Ending,
  Leg,
  LegEnd,
  Placed,
} from '../../src/carriers/carrier.ts';
import { createSimulatedNetwork } from '../../src/carriers/simulated/network.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { drawResult, type DrawnResult } from '../../src/result/draw-result.ts';
import { createScriptedExtractor } from '../../src/result/scripted-extractor.ts';

/** A Saturday. */
const today = '2026-11-21';

/** The system's clock, but its calendar stands at `today`, noon UTC. */
export const testClock: Clock = { ...systemClock, now: () => Date.parse(`${today}T12:00:00Z`) };

export const deliverySchema: ResultSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    somebody_home: { type: 'boolean', description: 'Will somebody be at home to accept the delivery?' },
    part_of_day: {
      type: 'string',
      enum: ['morning', 'afternoon', 'evening'],
      description: 'Which part of the day suits you best?',
    },
    delivery_day: { type: 'string', description: 'On which day should we deliver?' },
    driver_note: { type: 'string', description: 'Is there anything that the driver should know?' },
  },
  required: ['somebody_home', 'part_of_day', 'delivery_day'],
};

export interface CallOptions {
  readonly to?: string;
  readonly carrier?: Carrier;
  readonly agent?: Agent;
  readonly resultSchema?: ResultSchema;
  readonly callees?: readonly ScriptedCallee[];
  readonly variables?: Variables;
  readonly locale?: string;
  readonly title?: string;
  readonly machine?: GoalFile['machine'];
  readonly menu?: NonNullable<GoalFile['menu']>;
  readonly callLimitMs?: number;
  readonly wrapUpAtMs?: number;
  readonly signal?: AbortSignal;
  /** A simulated person calls us, and behaves so. */
  readonly caller?: CallerBehavior;
  readonly announcement?: string;
  readonly disclosure?: boolean;
  /** With whom the callee may be connected: numbers by name. */
  readonly targets?: Readonly<Record<string, string>>;
}

export type HeldCall =
  | { readonly kind: 'ended'; readonly ending: Ending }
  | {
      readonly kind: 'talked';
      readonly end: ConversationEnd;
      readonly legEnd: LegEnd;
      readonly turns: readonly Turn[];
      /** When the agent told that the callee wants no more calls, and after how many turns. */
      readonly optOut: { readonly atMs: number; readonly turns: number } | null;
      /** Who answered, as the agent told it, one after the other. */
      readonly answers: readonly AnsweredBy[];
      readonly drawn: DrawnResult;
      readonly limitReached: boolean;
      readonly lengthMs: number;
    };

export async function holdCall(options: CallOptions = {}): Promise<HeldCall> {
  const carrier = options.carrier ?? createSimulatedNetwork({ clock: testClock, speed: Infinity });
  const agent = options.agent ?? createScriptedAgent({ clock: testClock, synthesizer: null });
  const resultSchema = options.resultSchema ?? deliverySchema;
  const callLimitMs = options.callLimitMs ?? 120_000;
  const signal = options.signal ?? new AbortController().signal;
  const locale = options.locale ?? 'en-US';
  const order: CallOrder = {
    attemptId: 'att_test',
    to: options.to ?? '+12125550100',
    from: null,
    ringLimitMs: 30_000,
    locale,
    simulation: { resultSchema, callees: options.callees ?? [] },
  };
  const placed =
    options.caller === undefined
      ? await carrier.place(order, { progress: () => undefined }, signal)
      : await rung(options.caller, order, signal);
  if (placed.kind === 'ended') return placed;

  const { leg } = placed;
  const turns: Turn[] = [];
  const answers: AnsweredBy[] = [];
  let optOut: { readonly atMs: number; readonly turns: number } | null = null;
  const keepOptOut = () => (optOut ??= { atMs: leg.clock.now(), turns: turns.length });
  const sink = {
    turn(turn: Turn) {
      if (hasOptedOut(turn)) keepOptOut();
      turns.push(turn);
    },
    optedOut: () => void keepOptOut(),
    answeredBy: (who: AnsweredBy) => void answers.push(who),
  };
  const brief = briefFor({
    ...options,
    direction: options.caller === undefined ? 'outbound' : 'inbound',
    announcement: options.announcement ?? null,
    resultSchema,
    locale,
    wrapUpAtMs: options.wrapUpAtMs ?? callLimitMs - 30_000,
    transfer: options.targets === undefined ? null : transferOn(leg, options.targets, signal),
  });
  let limitReached = false;
  void leg.clock.sleep(callLimitMs).then((reached) => {
    limitReached = reached;
    if (reached) void leg.hangUp();
  });
  const end = await agent.converse(brief, leg, sink, signal);
  const legEnd = end.kind === 'transferred' ? await leg.ended : await leg.hangUp();
  const drawn = await drawResult({ resultSchema, turns }, createScriptedExtractor(), signal);
  return {
    kind: 'talked',
    end,
    legEnd,
    turns,
    answers,
    optOut,
    drawn,
    limitReached,
    lengthMs: leg.clock.now(),
  };
}

/** The leg of somebody who calls us. */
async function rung(does: CallerBehavior, order: CallOrder, signal: AbortSignal): Promise<Placed> {
  const network = createSimulatedNetwork({ clock: testClock, speed: Infinity });
  const accepted = Promise.withResolvers<Accepted>();
  network.onIncoming((call) => void call.accept(order, signal).then(accepted.resolve));
  const { to: from } = order;
  void network.ring({ callId: 'sim_test', to: '+12025550142', from, does });
  const call = await accepted.promise;
  if (call.kind !== 'answered') throw new Error(call.kind);
  return call;
}

function transferOn(leg: Leg, targets: Readonly<Record<string, string>>, signal: AbortSignal): TransferOffer {
  return {
    targets: Object.keys(targets).map((name) => ({ name, when: null })),
    async connect(name) {
      const order = { transferId: 'xfer_test', accountId: 'acct_test', ringLimitMs: 30_000 };
      const to = targets[name] ?? '';
      const outcome = await leg.transfer?.({ ...order, to, mayLeave: () => true }, signal);
      return outcome ?? { kind: 'failed', why: 'failed' };
    },
  };
}

export function briefFor(over: Partial<Omit<Brief, 'resultSchema'>> & Pick<Brief, 'resultSchema'>): Brief {
  return {
    direction: over.direction ?? 'outbound',
    announcement: over.announcement ?? null,
    callerName: 'Parcel Post',
    title: over.title ?? 'Your parcel delivery',
    instructions: 'You call about a delivery.',
    variables: over.variables ?? {},
    timeZone: 'UTC',
    locale: over.locale ?? 'en-US',
    resultSchema: over.resultSchema,
    settings: { kind: 'scripted' },
    machine: over.machine ?? 'hang_up',
    menu: over.menu ?? 'navigate',
    recorded: over.recorded ?? false,
    disclosure: over.disclosure ?? true,
    transfer: over.transfer ?? null,
    wrapUpAtMs: over.wrapUpAtMs ?? 90_000,
  };
}

/** Holds a call that must be answered. */
export async function talk(options: CallOptions = {}): Promise<Extract<HeldCall, { kind: 'talked' }>> {
  const call = await holdCall(options);
  if (call.kind === 'ended') throw new Error(`not answered: ${call.ending.outcome}`);
  return call;
}

/** The transcript as one line per turn. */
export function written(turns: readonly Turn[]): string[] {
  return turns.map(
    ({ speaker, text, offsetMs, interrupted }) => `${offsetMs} ${speaker}${interrupted ? '!' : ''}: ${text}`,
  );
}
