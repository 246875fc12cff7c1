/**
 * A REFER that we sent inside a call (RFC 3515), pure: we ask the peer to call somebody in our place, and it tells
 * how that goes in NOTIFYs of the subscription that the REFER makes.
 *
 *   asked ──2xx──▶ accepted ──NOTIFY of a final status──▶ done
 *     └─ refused, silence ─┴─ NOTIFY that ends it, limit, end of the call ─▲
 *
 * A NOTIFY may overtake the response to the REFER. The first end counts; a step that does not fit returns the same
 * state.
 */

export type ReferOutcome =
  /** The target answered. */
  | { readonly kind: 'connected' }
  /** The peer took the call over, and does not say how it went on: no progress is told, or it hung up on us. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed'; readonly reason: ReferFailure; readonly sipStatus: number | undefined };

export type ReferFailure =
  /** The peer will not do it: `sipStatus` is its answer to the REFER, undefined when none came. */
  | 'refused'
  /** It tried in vain: `sipStatus` is what the target's side answered, undefined when it does not say. */
  | 'not_connected'
  /** The limit passed. The peer may still be trying: a REFER can not be taken back. */
  | 'limit'
  /** The call ended before the peer took it over. */
  | 'call_ended';

export type ReferState =
  | { readonly kind: 'asked' }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'done'; readonly outcome: ReferOutcome };

export type ReferEvent =
  /** 2xx to the REFER; `silent`: no NOTIFY will come (Refer-Sub: false, RFC 4488). */
  | { readonly kind: 'accepted'; readonly silent: boolean }
  | { readonly kind: 'refused'; readonly sipStatus: number | undefined }
  /** `status` of the message fragment, if it has one; `last`: the subscription is over. */
  | { readonly kind: 'notified'; readonly status: number | undefined; readonly last: boolean }
  | { readonly kind: 'limit' }
  | { readonly kind: 'call_ended'; readonly byPeer: boolean };

export const asked: ReferState = { kind: 'asked' };

export function nextReferState(state: ReferState, event: ReferEvent): ReferState {
  if (state.kind === 'done') return state;
  switch (event.kind) {
    case 'accepted':
      if (event.silent) return done({ kind: 'taken' });
      return state.kind === 'asked' ? { kind: 'accepted' } : state;
    case 'refused':
      return failed('refused', event.sipStatus);
    case 'notified':
      return notified(state, event.status, event.last);
    case 'limit':
      return failed('limit', undefined);
    case 'call_ended':
      // Many peers hang up on us as soon as they have taken the call over, without a word of how it goes.
      return state.kind === 'accepted' && event.byPeer
        ? done({ kind: 'taken' })
        : failed('call_ended', undefined);
  }
}

function notified(state: ReferState, status: number | undefined, last: boolean): ReferState {
  if (status !== undefined && status >= 200) {
    return status < 300 ? done({ kind: 'connected' }) : failed('not_connected', status);
  }
  if (last) return failed('not_connected', undefined);
  // Who tells of progress has accepted.
  return state.kind === 'asked' ? { kind: 'accepted' } : state;
}

const done = (outcome: ReferOutcome): ReferState => ({ kind: 'done', outcome });
const failed = (reason: ReferFailure, sipStatus: number | undefined): ReferState =>
  done({ kind: 'failed', reason, sipStatus });
