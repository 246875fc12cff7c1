/**
 * INVITE server transaction (RFC 3261 §17.2.1 with RFC 6026 §7.1).
 *
 *   proceeding ─our 2xx─▶ accepted ──────────L─▶ terminated
 *        └─our 3xx–6xx─▶ completed ─ACK─▶ confirmed ─I─▶ terminated
 *                            └─H (no ACK)─▶ terminated
 *
 * `accepted` sends whatever 2xx its user hands it: the user repeats the 2xx until the ACK comes, which is no
 * part of this transaction.
 */

import {
  clearTimer,
  type Conditions,
  giveUpMs,
  type ServerEvent,
  setTimer,
  stay,
  type Step,
  step,
} from './machine.ts';

export type InviteServerState =
  | { readonly name: 'proceeding' }
  | { readonly name: 'accepted' }
  | { readonly name: 'completed'; readonly intervalMs: number }
  | { readonly name: 'confirmed' }
  | { readonly name: 'terminated' };

export const INVITE_SERVER_START: InviteServerState = { name: 'proceeding' };
const TERMINATED: InviteServerState = { name: 'terminated' };

export function nextInviteServer(
  state: InviteServerState,
  event: ServerEvent,
  conditions: Conditions,
): Step<InviteServerState> {
  const { timers, reliable } = conditions;
  switch (state.name) {
    case 'proceeding':
      switch (event.type) {
        case 'provisional':
        case 'retransmission':
          return step(state, { do: 'send' });
        case 'success':
          return step({ name: 'accepted' }, { do: 'send' }, setTimer('L', giveUpMs(timers)));
        case 'failure':
          return step(
            { name: 'completed', intervalMs: timers.t1Ms },
            { do: 'send' },
            ...(reliable ? [] : [setTimer('G', timers.t1Ms)]),
            setTimer('H', giveUpMs(timers)),
          );
        case 'transportError':
          return step(TERMINATED, { do: 'reportTransportError' });
        case 'ack':
        case 'timer':
          return stay(state);
      }
      break;
    case 'accepted':
      if (event.type === 'success') return step(state, { do: 'send' });
      return event.type === 'timer' && event.timer === 'L' ? step(TERMINATED) : stay(state);
    case 'completed':
      switch (event.type) {
        case 'retransmission':
          return step(state, { do: 'send' });
        case 'ack':
          return reliable
            ? step(TERMINATED, clearTimer('H'))
            : step({ name: 'confirmed' }, clearTimer('G'), clearTimer('H'), setTimer('I', timers.t4Ms));
        case 'transportError':
          return step(TERMINATED, { do: 'reportTransportError' });
        case 'timer': {
          if (event.timer === 'H') return step(TERMINATED, { do: 'reportTimeout' });
          if (event.timer !== 'G') return stay(state);
          const intervalMs = Math.min(state.intervalMs * 2, timers.t2Ms);
          return step({ name: 'completed', intervalMs }, { do: 'send' }, setTimer('G', intervalMs));
        }
        case 'provisional':
        case 'success':
        case 'failure':
          return stay(state);
      }
      break;
    case 'confirmed':
      return event.type === 'timer' && event.timer === 'I' ? step(TERMINATED) : stay(state);
    case 'terminated':
      return stay(state);
  }
  return stay(state);
}
