import type { Clock, Timer } from '../clock.ts';
import type { ExchangeOutcome } from '../dialog/exchange.ts';
import type { SipRequest } from '../message/message.ts';
import { asked, nextReferState, type ReferEvent, type ReferOutcome, type ReferState } from './refer-state.ts';

/** One REFER of ours on its way: feeds what comes to `refer-state.ts`. Its timer ends with it. */
export class Referral {
  /** Resolves once, within the limit. Never rejects. */
  readonly outcome: Promise<ReferOutcome>;
  readonly #limit: Timer;
  readonly #settle: (outcome: ReferOutcome) => void;
  #state: ReferState = asked;

  constructor(clock: Clock, limitMs: number) {
    const { promise, resolve } = Promise.withResolvers<ReferOutcome>();
    this.outcome = promise;
    this.#settle = resolve;
    this.#limit = clock.setTimer(limitMs, () => this.take({ kind: 'limit' }));
  }

  /** Whether the peer may still be calling somebody for us: then it must not be asked to call another one. */
  get isPending(): boolean {
    if (this.#state.kind !== 'done') return true;
    const { outcome } = this.#state;
    return outcome.kind === 'failed' && outcome.reason === 'limit';
  }

  take(event: ReferEvent): void {
    if (this.#state.kind === 'done') return;
    this.#state = nextReferState(this.#state, event);
    if (this.#state.kind !== 'done') return;
    this.#limit.cancel();
    this.#settle(this.#state.outcome);
  }
}

/** What the final response to a REFER, or its lack, means. */
export function referAnswered(outcome: ExchangeOutcome): ReferEvent {
  if (outcome.kind === 'failed') return { kind: 'refused', sipStatus: undefined };
  const { status, headers } = outcome.response;
  if (status < 200 || status > 299) return { kind: 'refused', sipStatus: status };
  return { kind: 'accepted', silent: /^\s*false\b/i.test(headers.get('Refer-Sub') ?? '') };
}

/** Whether a NOTIFY is about a REFER, and not about something that nobody subscribed to. */
export function isOfRefer({ headers }: SipRequest): boolean {
  return /^\s*refer\s*(;|$)/i.test(headers.get('Event') ?? '');
}

/** Reads how the referred call goes (RFC 3515 §2.4.4): the status line of a message fragment. */
export function readReferNotify({ headers, body }: SipRequest): ReferEvent {
  const isFragment = /^message\/sipfrag\s*(;|$)/i.test(headers.get('Content-Type') ?? '');
  const digits = isFragment
    ? /^SIP\/2\.0 ([1-6]\d\d)(?: |\r|\n|$)/.exec(body.toString('latin1'))?.[1]
    : undefined;
  const [state = ''] = (headers.get('Subscription-State') ?? '').split(';');
  return {
    kind: 'notified',
    status: digits === undefined ? undefined : Number(digits),
    last: state.trim().toLowerCase() === 'terminated',
  };
}
