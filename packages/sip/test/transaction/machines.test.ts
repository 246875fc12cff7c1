/**
 * The four transaction machines as complete tables: every state meets every event. A cell is the next state and
 * the effects in short (`send`, `+B` sets timer B, `-A` clears timer A); `.` means that nothing happens and the
 * very same state object comes back.
 */

import { describe, expect, test } from 'vitest';
import { type InviteClientState, nextInviteClient } from '../../src/transaction/invite-client.ts';
import { type InviteServerState, nextInviteServer } from '../../src/transaction/invite-server.ts';
import {
  type ClientEvent,
  type Conditions,
  DEFAULT_TIMERS,
  type Effect,
  type ServerEvent,
  type Step,
  type TimerName,
} from '../../src/transaction/machine.ts';
import { nextNonInviteClient, type NonInviteClientState } from '../../src/transaction/non-invite-client.ts';
import { nextNonInviteServer, type NonInviteServerState } from '../../src/transaction/non-invite-server.ts';

const UNRELIABLE: Conditions = { timers: DEFAULT_TIMERS, reliable: false };
const RELIABLE: Conditions = { timers: DEFAULT_TIMERS, reliable: true };

function short(effect: Effect): string {
  if (effect.do === 'setTimer') return `+${effect.timer}`;
  if (effect.do === 'clearTimer') return `-${effect.timer}`;
  return effect.do;
}

function cell<State extends { name: string }>(before: State, { state, effects }: Step<State>): string {
  if (state === before && effects.length === 0) return '.';
  return [state.name, ...effects.map(short)].join(' ');
}

type Row<Keys extends string> = Readonly<Record<Keys, string>>;

function table<State extends { name: string }, Event>(
  states: readonly State[],
  events: Readonly<Record<string, Event>>,
  next: (state: State, event: Event, conditions: Conditions) => Step<State>,
  conditions: Conditions,
): Record<string, Record<string, string>> {
  return Object.fromEntries(
    states.map((state) => [
      state.name,
      Object.fromEntries(
        Object.entries(events).map(([name, event]) => [name, cell(state, next(state, event, conditions))]),
      ),
    ]),
  );
}

type ClientKey = Exclude<ClientEvent['type'], 'timer'>;
type ServerKey = Exclude<ServerEvent['type'], 'timer'>;

function clientEvents(timers: readonly TimerName[]): Record<string, ClientEvent> {
  const plain: Record<ClientKey, ClientEvent> = {
    start: { type: 'start' },
    cancel: { type: 'cancel' },
    provisional: { type: 'provisional' },
    success: { type: 'success' },
    failure: { type: 'failure' },
    transportError: { type: 'transportError' },
  };
  return {
    ...plain,
    ...Object.fromEntries(timers.map((timer) => [timer, { type: 'timer' as const, timer }])),
  };
}

function serverEvents(timers: readonly TimerName[]): Record<string, ServerEvent> {
  const plain: Record<ServerKey, ServerEvent> = {
    retransmission: { type: 'retransmission' },
    provisional: { type: 'provisional' },
    success: { type: 'success' },
    failure: { type: 'failure' },
    ack: { type: 'ack' },
    transportError: { type: 'transportError' },
  };
  return {
    ...plain,
    ...Object.fromEntries(timers.map((timer) => [timer, { type: 'timer' as const, timer }])),
  };
}

describe('INVITE client', () => {
  const states: InviteClientState[] = [
    { name: 'idle' },
    { name: 'calling', intervalMs: 500 },
    { name: 'proceeding' },
    { name: 'accepted' },
    { name: 'completed' },
    { name: 'terminated' },
  ];
  type Keys = ClientKey | 'A' | 'B' | 'D' | 'M';
  const none: Row<Keys> = {
    start: '.',
    cancel: '.',
    provisional: '.',
    success: '.',
    failure: '.',
    transportError: '.',
    A: '.',
    B: '.',
    D: '.',
    M: '.',
  };
  const over = (reliable: boolean): Record<InviteClientState['name'], Row<Keys>> => ({
    idle: { ...none, start: reliable ? 'calling send +B' : 'calling send +A +B' },
    calling: {
      ...none,
      provisional: 'proceeding -A -B deliver',
      success: 'accepted -A -B deliver +M',
      failure: reliable ? 'terminated -A -B ack deliver' : 'completed -A -B ack deliver +D',
      transportError: 'terminated reportTransportError',
      A: 'calling send +A',
      B: 'terminated reportTimeout',
    },
    proceeding: {
      ...none,
      cancel: 'proceeding +B',
      B: 'terminated reportTimeout',
      provisional: 'proceeding deliver',
      success: 'accepted deliver +M',
      failure: reliable ? 'terminated ack deliver' : 'completed ack deliver +D',
    },
    accepted: { ...none, success: 'accepted deliver', M: 'terminated' },
    completed: { ...none, failure: 'completed ack', transportError: 'terminated', D: 'terminated' },
    terminated: none,
  });

  test.each([UNRELIABLE, RELIABLE])(
    'does in every state on every event what the table says (reliable: $reliable)',
    (conditions) => {
      const made = table(states, clientEvents(['A', 'B', 'D', 'M']), nextInviteClient, conditions);
      expect(made).toEqual(over(conditions.reliable));
    },
  );

  test('timer A doubles without bound, B gives up at 64·T1, D waits 32 s, M 64·T1', () => {
    expect(delays(nextInviteClient({ name: 'idle' }, { type: 'start' }, UNRELIABLE))).toEqual({
      A: 500,
      B: 32_000,
    });
    expect(
      delays(
        nextInviteClient({ name: 'calling', intervalMs: 8_000 }, { type: 'timer', timer: 'A' }, UNRELIABLE),
      ),
    ).toEqual({ A: 16_000 });
    expect(delays(nextInviteClient({ name: 'proceeding' }, { type: 'failure' }, UNRELIABLE))).toEqual({
      D: 32_000,
    });
    expect(delays(nextInviteClient({ name: 'proceeding' }, { type: 'success' }, RELIABLE))).toEqual({
      M: 32_000,
    });
  });
});

describe('non-INVITE client', () => {
  const states: NonInviteClientState[] = [
    { name: 'idle' },
    { name: 'trying', intervalMs: 500 },
    { name: 'proceeding' },
    { name: 'completed' },
    { name: 'terminated' },
  ];
  type Keys = ClientKey | 'E' | 'F' | 'K';
  const none: Row<Keys> = {
    start: '.',
    cancel: '.',
    provisional: '.',
    success: '.',
    failure: '.',
    transportError: '.',
    E: '.',
    F: '.',
    K: '.',
  };
  const over = (reliable: boolean): Record<NonInviteClientState['name'], Row<Keys>> => {
    const final = reliable ? 'terminated -E -F deliver' : 'completed -E -F deliver +K';
    const waiting = {
      ...none,
      success: final,
      failure: final,
      transportError: 'terminated reportTransportError',
      F: 'terminated reportTimeout',
    };
    return {
      idle: { ...none, start: reliable ? 'trying send +F' : 'trying send +E +F' },
      trying: { ...waiting, provisional: 'proceeding deliver', E: 'trying send +E' },
      proceeding: { ...waiting, provisional: 'proceeding deliver', E: 'proceeding send +E' },
      completed: { ...none, K: 'terminated' },
      terminated: none,
    };
  };

  test.each([UNRELIABLE, RELIABLE])(
    'does in every state on every event what the table says (reliable: $reliable)',
    (conditions) => {
      const made = table(states, clientEvents(['E', 'F', 'K']), nextNonInviteClient, conditions);
      expect(made).toEqual(over(conditions.reliable));
    },
  );

  test('timer E doubles up to T2, is T2 once something came, K is T4', () => {
    const fire = { type: 'timer', timer: 'E' } as const;
    expect(delays(nextNonInviteClient({ name: 'trying', intervalMs: 500 }, fire, UNRELIABLE))).toEqual({
      E: 1_000,
    });
    expect(delays(nextNonInviteClient({ name: 'trying', intervalMs: 3_000 }, fire, UNRELIABLE))).toEqual({
      E: 4_000,
    });
    expect(delays(nextNonInviteClient({ name: 'proceeding' }, fire, UNRELIABLE))).toEqual({ E: 4_000 });
    expect(delays(nextNonInviteClient({ name: 'proceeding' }, { type: 'success' }, UNRELIABLE))).toEqual({
      K: 5_000,
    });
  });
});

describe('INVITE server', () => {
  const states: InviteServerState[] = [
    { name: 'proceeding' },
    { name: 'accepted' },
    { name: 'completed', intervalMs: 500 },
    { name: 'confirmed' },
    { name: 'terminated' },
  ];
  type Keys = ServerKey | 'G' | 'H' | 'I' | 'L';
  const none: Row<Keys> = {
    retransmission: '.',
    provisional: '.',
    success: '.',
    failure: '.',
    ack: '.',
    transportError: '.',
    G: '.',
    H: '.',
    I: '.',
    L: '.',
  };
  const over = (reliable: boolean): Record<InviteServerState['name'], Row<Keys>> => ({
    proceeding: {
      ...none,
      retransmission: 'proceeding send',
      provisional: 'proceeding send',
      success: 'accepted send +L',
      failure: reliable ? 'completed send +H' : 'completed send +G +H',
      transportError: 'terminated reportTransportError',
    },
    accepted: { ...none, success: 'accepted send', L: 'terminated' },
    completed: {
      ...none,
      retransmission: 'completed send',
      ack: reliable ? 'terminated -H' : 'confirmed -G -H +I',
      transportError: 'terminated reportTransportError',
      G: 'completed send +G',
      H: 'terminated reportTimeout',
    },
    confirmed: { ...none, I: 'terminated' },
    terminated: none,
  });

  test.each([UNRELIABLE, RELIABLE])(
    'does in every state on every event what the table says (reliable: $reliable)',
    (conditions) => {
      const made = table(states, serverEvents(['G', 'H', 'I', 'L']), nextInviteServer, conditions);
      expect(made).toEqual(over(conditions.reliable));
    },
  );

  test('timer G doubles up to T2, H gives up at 64·T1, I is T4', () => {
    const fire = { type: 'timer', timer: 'G' } as const;
    expect(delays(nextInviteServer({ name: 'proceeding' }, { type: 'failure' }, UNRELIABLE))).toEqual({
      G: 500,
      H: 32_000,
    });
    expect(delays(nextInviteServer({ name: 'completed', intervalMs: 3_000 }, fire, UNRELIABLE))).toEqual({
      G: 4_000,
    });
    expect(
      delays(nextInviteServer({ name: 'completed', intervalMs: 500 }, { type: 'ack' }, UNRELIABLE)),
    ).toEqual({ I: 5_000 });
  });
});

describe('non-INVITE server', () => {
  const states: NonInviteServerState[] = [
    { name: 'trying' },
    { name: 'proceeding' },
    { name: 'completed' },
    { name: 'terminated' },
  ];
  type Keys = ServerKey | 'J';
  const none: Row<Keys> = {
    retransmission: '.',
    provisional: '.',
    success: '.',
    failure: '.',
    ack: '.',
    transportError: '.',
    J: '.',
  };
  const over = (reliable: boolean): Record<NonInviteServerState['name'], Row<Keys>> => {
    const final = reliable ? 'terminated send' : 'completed send +J';
    const open = {
      ...none,
      provisional: 'proceeding send',
      success: final,
      failure: final,
      transportError: 'terminated reportTransportError',
    };
    return {
      trying: open,
      proceeding: { ...open, retransmission: 'proceeding send' },
      completed: {
        ...none,
        retransmission: 'completed send',
        transportError: 'terminated reportTransportError',
        J: 'terminated',
      },
      terminated: none,
    };
  };

  test.each([UNRELIABLE, RELIABLE])(
    'does in every state on every event what the table says (reliable: $reliable)',
    (conditions) => {
      const made = table(states, serverEvents(['J']), nextNonInviteServer, conditions);
      expect(made).toEqual(over(conditions.reliable));
    },
  );
});

function delays({ effects }: Step<unknown>): Record<string, number> {
  return Object.fromEntries(
    effects.flatMap((effect) => (effect.do === 'setTimer' ? [[effect.timer, effect.delayMs]] : [])),
  );
}
