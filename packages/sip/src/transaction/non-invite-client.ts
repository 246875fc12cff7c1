/**
 * Client transaction of every method but INVITE (RFC 3261 §17.1.2).
 *
 *   idle ─start─▶ trying ─1xx─▶ proceeding ─2xx–6xx─▶ completed ─K─▶ terminated
 *                   └────────2xx–6xx──────────────────▲      F, transport error ─▶ terminated
 */

import {
  type ClientEvent,
  clearTimer,
  type Conditions,
  giveUpMs,
  setTimer,
  stay,
  type Step,
  step,
} from './machine.ts';

export type NonInviteClientState =
  | { readonly name: 'idle' }
  | { readonly name: 'trying'; readonly intervalMs: number }
  | { readonly name: 'proceeding' }
  | { readonly name: 'completed' }
  | { readonly name: 'terminated' };

export const NON_INVITE_CLIENT_START: NonInviteClientState = { name: 'idle' };
const TERMINATED: NonInviteClientState = { name: 'terminated' };

export function nextNonInviteClient(
  state: NonInviteClientState,
  event: ClientEvent,
  conditions: Conditions,
): Step<NonInviteClientState> {
  const { timers, reliable } = conditions;
  switch (state.name) {
    case 'idle':
      if (event.type !== 'start') return stay(state);
      return step(
        { name: 'trying', intervalMs: timers.t1Ms },
        { do: 'send' },
        ...(reliable ? [] : [setTimer('E', timers.t1Ms)]),
        setTimer('F', giveUpMs(timers)),
      );
    case 'trying':
    case 'proceeding':
      switch (event.type) {
        case 'provisional':
          return step(state.name === 'proceeding' ? state : { name: 'proceeding' }, { do: 'deliver' });
        case 'success':
        case 'failure': {
          const stop = [clearTimer('E'), clearTimer('F')];
          return reliable
            ? step(TERMINATED, ...stop, { do: 'deliver' })
            : step({ name: 'completed' }, ...stop, { do: 'deliver' }, setTimer('K', timers.t4Ms));
        }
        case 'transportError':
          return step(TERMINATED, { do: 'reportTransportError' });
        case 'timer':
          if (event.timer === 'F') return step(TERMINATED, { do: 'reportTimeout' });
          return event.timer === 'E' ? retransmit(state, timers.t2Ms) : stay(state);
        case 'start':
        case 'cancel':
          return stay(state);
      }
      break;
    case 'completed':
      return event.type === 'timer' && event.timer === 'K' ? step(TERMINATED) : stay(state);
    case 'terminated':
      return stay(state);
  }
  return stay(state);
}

function retransmit(
  state: Extract<NonInviteClientState, { name: 'trying' | 'proceeding' }>,
  t2Ms: number,
): Step<NonInviteClientState> {
  if (state.name === 'proceeding') return step(state, { do: 'send' }, setTimer('E', t2Ms));
  const intervalMs = Math.min(state.intervalMs * 2, t2Ms);
  return step({ name: 'trying', intervalMs }, { do: 'send' }, setTimer('E', intervalMs));
}
