/**
 * Server transaction of every method but INVITE and ACK (RFC 3261 §17.2.2).
 *
 *   trying ─our 1xx─▶ proceeding ─our 2xx–6xx─▶ completed ─J─▶ terminated
 *      └───────────────our 2xx–6xx──────────────▲
 */

import { type Conditions, giveUpMs, type ServerEvent, setTimer, stay, type Step, step } from './machine.ts';

export type NonInviteServerState =
  | { readonly name: 'trying' }
  | { readonly name: 'proceeding' }
  | { readonly name: 'completed' }
  | { readonly name: 'terminated' };

export const NON_INVITE_SERVER_START: NonInviteServerState = { name: 'trying' };
const TERMINATED: NonInviteServerState = { name: 'terminated' };

export function nextNonInviteServer(
  state: NonInviteServerState,
  event: ServerEvent,
  conditions: Conditions,
): Step<NonInviteServerState> {
  switch (state.name) {
    case 'trying':
    case 'proceeding':
      switch (event.type) {
        case 'provisional':
          return step(state.name === 'proceeding' ? state : { name: 'proceeding' }, { do: 'send' });
        case 'retransmission':
          // In `trying` there is nothing to repeat yet.
          return state.name === 'proceeding' ? step(state, { do: 'send' }) : stay(state);
        case 'success':
        case 'failure':
          return conditions.reliable
            ? step(TERMINATED, { do: 'send' })
            : step({ name: 'completed' }, { do: 'send' }, setTimer('J', giveUpMs(conditions.timers)));
        case 'transportError':
          return step(TERMINATED, { do: 'reportTransportError' });
        case 'ack':
        case 'timer':
          return stay(state);
      }
      break;
    case 'completed':
      if (event.type === 'retransmission') return step(state, { do: 'send' });
      if (event.type === 'transportError') return step(TERMINATED, { do: 'reportTransportError' });
      return event.type === 'timer' && event.timer === 'J' ? step(TERMINATED) : stay(state);
    case 'terminated':
      return stay(state);
  }
  return stay(state);
}
