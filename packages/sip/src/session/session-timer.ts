/** Session timers (RFC 4028): who refreshes, how often, and when a silent peer counts as gone. Pure. */

import { deltaSeconds, parseSessionExpires, type SessionExpires } from '../message/fields.ts';
import type { Headers } from '../message/headers.ts';

export interface SessionTimerPolicy {
  /** What we ask for; 0 asks for nothing and inserts nothing. */
  readonly intervalSeconds: number;
  /** The least that we accept, at least 90 (RFC 4028 §5). */
  readonly minSeconds: number;
  /** Which side of our INVITE we ask to refresh; undefined leaves it to the peer. */
  readonly refresher?: 'uac' | 'uas' | undefined;
}

export const DEFAULT_SESSION_TIMER: SessionTimerPolicy = { intervalSeconds: 1_800, minSeconds: 90 };

export interface SessionTimer {
  readonly seconds: number;
  readonly refresher: 'local' | 'remote';
}

type HeaderLines = [name: string, value: string][];

/** The header fields of a request that asks for a timer, or refreshes the one that runs. */
export function requestHeaders(policy: SessionTimerPolicy, running?: SessionTimer): HeaderLines {
  if (policy.intervalSeconds === 0 && running === undefined) return [];
  const seconds = running?.seconds ?? policy.intervalSeconds;
  // Inside the dialog the refresher stays who it is, whoever sends this request.
  const role = running === undefined ? policy.refresher : running.refresher === 'local' ? 'uac' : 'uas';
  return [
    ['Session-Expires', role === undefined ? String(seconds) : `${seconds};refresher=${role}`],
    ['Min-SE', String(policy.minSeconds)],
  ];
}

/** The timer that the 2xx to our request starts. */
export function timerFromResponse(headers: Headers): SessionTimer | undefined {
  const expires = parseSessionExpires(headers);
  return expires && { seconds: expires.seconds, refresher: expires.refresher === 'uas' ? 'remote' : 'local' };
}

export type TimerAnswer =
  | { readonly kind: 'off' }
  | { readonly kind: 'on'; readonly timer: SessionTimer; readonly headers: HeaderLines }
  /** Answer 422 with these fields. */
  | { readonly kind: 'too_small'; readonly headers: HeaderLines };

/** What the 2xx to a peer's INVITE or UPDATE says about the timer (RFC 4028 §9). */
export function answerTimer(headers: Headers, policy: SessionTimerPolicy): TimerAnswer {
  const supported = headers.tokens('Supported').includes('timer');
  const asked = parseSessionExpires(headers) ?? ownWish(headers, policy, supported);
  if (asked === undefined) return { kind: 'off' };
  if (asked.seconds < policy.minSeconds && supported) {
    return { kind: 'too_small', headers: [['Min-SE', String(policy.minSeconds)]] };
  }
  const seconds = Math.max(asked.seconds, policy.minSeconds);
  const refresher = supported ? (asked.refresher ?? 'uac') : 'uas';
  return {
    kind: 'on',
    timer: { seconds, refresher: refresher === 'uac' ? 'remote' : 'local' },
    headers: [
      ['Session-Expires', `${seconds};refresher=${refresher}`],
      ...(supported ? ([['Require', 'timer']] satisfies HeaderLines) : []),
    ],
  };
}

function ownWish(
  headers: Headers,
  policy: SessionTimerPolicy,
  supported: boolean,
): SessionExpires | undefined {
  if (policy.intervalSeconds === 0 || !supported) return undefined;
  const least = deltaSeconds(headers.get('Min-SE')) ?? 0;
  return { seconds: Math.max(policy.intervalSeconds, least) };
}

/** What a 422 makes of our policy; undefined when it asks for nothing more than we had. */
export function raisedPolicy(policy: SessionTimerPolicy, headers: Headers): SessionTimerPolicy | undefined {
  const least = deltaSeconds(headers.get('Min-SE'));
  if (least === undefined || least <= policy.intervalSeconds) return undefined;
  return { ...policy, intervalSeconds: least, minSeconds: Math.max(least, policy.minSeconds) };
}

/** What to do when: refresh at half time, or give up shortly before the end (RFC 4028 §10). */
export function timerDuty({ seconds, refresher }: SessionTimer): {
  readonly duty: 'refresh' | 'expire';
  readonly afterMs: number;
} {
  if (refresher === 'local') return { duty: 'refresh', afterMs: seconds * 500 };
  return { duty: 'expire', afterMs: (seconds - Math.min(32, seconds / 3)) * 1_000 };
}
