/**
 * INVITE client transaction (RFC 3261 §17.1.1 with RFC 6026 §7.2).
 *
 *   idle ─start─▶ calling ─1xx─▶ proceeding
 *                   │ ╲            │  ╲
 *                  2xx  3xx–6xx   2xx  3xx–6xx
 *                   ▼     ▼        ▼     ▼
 *               accepted completed      (ACK from here)
 *                   └─M─▶ terminated ◀─D─┘        B, transport error ─▶ terminated
 *
 * After our CANCEL `proceeding` lasts 64·T1 at most (timer B again): a peer that says nothing any more must not
 * hold the transaction for ever (RFC 3261 §9.1).
 *
 * `accepted` passes every further 2xx on: a forked call can be answered twice, and each 2xx wants an ACK,
 * which the dialog sends.
 */

import {
  type ClientEvent,
  clearTimer,
  type Conditions,
  type Effect,
  giveUpMs,
  setTimer,
  stay,
  type Step,
  step,
} from './machine.ts';

export type InviteClientState =
  | { readonly name: 'idle' }
  | { readonly name: 'calling'; readonly intervalMs: number }
  | { readonly name: 'proceeding' }
  | { readonly name: 'accepted' }
  | { readonly name: 'completed' }
  | { readonly name: 'terminated' };

export const INVITE_CLIENT_START: InviteClientState = { name: 'idle' };
const TERMINATED: InviteClientState = { name: 'terminated' };

export function nextInviteClient(
  state: InviteClientState,
  event: ClientEvent,
  conditions: Conditions,
): Step<InviteClientState> {
  const { timers, reliable } = conditions;
  switch (state.name) {
    case 'idle':
      if (event.type !== 'start') return stay(state);
      return step(
        { name: 'calling', intervalMs: timers.t1Ms },
        { do: 'send' },
        ...(reliable ? [] : [setTimer('A', timers.t1Ms)]),
        setTimer('B', giveUpMs(timers)),
      );
    case 'calling':
      if (event.type === 'timer' && event.timer === 'A') {
        const intervalMs = state.intervalMs * 2;
        return step({ name: 'calling', intervalMs }, { do: 'send' }, setTimer('A', intervalMs));
      }
      if (event.type === 'timer' && event.timer === 'B') return step(TERMINATED, { do: 'reportTimeout' });
      if (event.type === 'transportError') return step(TERMINATED, { do: 'reportTransportError' });
      return onResponse(state, event, conditions, [clearTimer('A'), clearTimer('B')]);
    case 'proceeding':
      if (event.type === 'cancel') return step(state, setTimer('B', giveUpMs(timers)));
      if (event.type === 'timer' && event.timer === 'B') return step(TERMINATED, { do: 'reportTimeout' });
      return onResponse(state, event, conditions, []);
    case 'accepted':
      if (event.type === 'success') return step(state, { do: 'deliver' });
      return event.type === 'timer' && event.timer === 'M' ? step(TERMINATED) : stay(state);
    case 'completed':
      if (event.type === 'failure') return step(state, { do: 'ack' });
      if (event.type === 'transportError') return step(TERMINATED);
      return event.type === 'timer' && event.timer === 'D' ? step(TERMINATED) : stay(state);
    case 'terminated':
      return stay(state);
  }
}

function onResponse(
  state: InviteClientState,
  event: ClientEvent,
  conditions: Conditions,
  stop: readonly Effect[],
): Step<InviteClientState> {
  const { timers, reliable } = conditions;
  switch (event.type) {
    case 'provisional':
      return step(state.name === 'proceeding' ? state : { name: 'proceeding' }, ...stop, { do: 'deliver' });
    case 'success':
      return step({ name: 'accepted' }, ...stop, { do: 'deliver' }, setTimer('M', giveUpMs(timers)));
    case 'failure':
      return reliable
        ? step(TERMINATED, ...stop, { do: 'ack' }, { do: 'deliver' })
        : step(
            { name: 'completed' },
            ...stop,
            { do: 'ack' },
            { do: 'deliver' },
            setTimer('D', timers.timerDMs),
          );
    case 'start':
    case 'cancel':
    case 'timer':
    case 'transportError':
      return stay(state);
  }
}
