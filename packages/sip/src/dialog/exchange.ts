/**
 * One request and its final response: over the hops of its target in turn, with digest authentication.
 * For every request but the INVITE that opens a call, which can be cancelled and forked.
 */

import type { Authenticator } from '../auth/digest.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import { type SipUri, writeUri } from '../message/uri.ts';
import type { ClientTransaction } from '../transaction/layer.ts';
import { giveUpMs } from '../transaction/machine.ts';
import type { Hop } from '../transport/network.ts';
import { hopsFor, type Stack } from './stack.ts';

export type ExchangeOutcome =
  | {
      readonly kind: 'response';
      readonly response: SipResponse;
      readonly request: SipRequest;
      readonly hop: Hop;
    }
  /** `unresolved`: the target has no address that we can reach. */
  | { readonly kind: 'failed'; readonly failure: 'timeout' | 'transport_error' | 'unresolved' | 'aborted' };

export interface ExchangePlan {
  readonly target: SipUri;
  /** A hop that the target's address is known to mean: it is preferred over the same one freshly resolved. */
  readonly knownHop?: Hop | undefined;
  /** Makes the request, anew for each try: a repeated request needs the next CSeq number. */
  make(authorization: readonly (readonly [string, string])[], hop: Hop): SipRequest;
  readonly authenticator?: Authenticator | undefined;
  readonly method: string;
  /** The Request-URI, which the digest covers. */
  readonly uri: SipUri;
  /** Repetitions of a 2xx to INVITE, each of which wants its ACK. */
  readonly onRepeated?: (response: SipResponse) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Never rejects. Ends with the final response, a 401 or 407 only when it can not be answered. */
export async function exchange(stack: Stack, plan: ExchangePlan): Promise<ExchangeOutcome> {
  const hops = preferKnown(await hopsFor(stack, plan.target), plan.knownHop);
  for (let tries = 0; ; tries += 1) {
    const outcome = await overHops(stack, plan, hops);
    if (outcome.kind === 'failed') return outcome;
    const { response } = outcome;
    const challenged = response.status === 401 || response.status === 407;
    if (!challenged || plan.authenticator?.challenged(response, tries) !== true) return outcome;
  }
}

/**
 * A connection is known under the name that its certificate was checked against. A peer's Record-Route often
 * names the same place by its bare address, under which it could not prove itself again.
 */
export function preferKnown(hops: readonly Hop[], known: Hop | undefined): Hop[] {
  return hops.map((hop) =>
    known !== undefined &&
    known.transport === hop.transport &&
    known.address === hop.address &&
    known.port === hop.port
      ? known
      : hop,
  );
}

async function overHops(stack: Stack, plan: ExchangePlan, hops: readonly Hop[]): Promise<ExchangeOutcome> {
  let outcome: ExchangeOutcome = { kind: 'failed', failure: 'unresolved' };
  const authorization = plan.authenticator?.headersFor(plan.method, writeUri(plan.uri)) ?? [];
  for (const [index, hop] of hops.entries()) {
    if (plan.signal?.aborted) return { kind: 'failed', failure: 'aborted' };
    outcome = await once(stack, plan, plan.make(authorization, hop), hop);
    // RFC 3263 §4.3: another place is tried when this one is dead, silent or overloaded.
    const dead = outcome.kind === 'failed' ? outcome.failure !== 'aborted' : outcome.response.status === 503;
    if (!dead || index === hops.length - 1) return outcome;
  }
  return outcome;
}

function once(stack: Stack, plan: ExchangePlan, request: SipRequest, hop: Hop): Promise<ExchangeOutcome> {
  return new Promise((resolve) => {
    let done = false;
    const settle = (outcome: ExchangeOutcome | Promise<ExchangeOutcome>): void => {
      if (done) return;
      done = true;
      limit?.cancel();
      plan.signal?.removeEventListener('abort', abort);
      resolve(outcome);
    };
    const abort = (): void => settle({ kind: 'failed', failure: 'aborted' });
    const transaction: ClientTransaction = stack.layer.request(request, hop, {
      onResponse: (response) => {
        if (response.status < 200) return;
        if (done) plan.onRepeated?.(response);
        else settle({ kind: 'response', response, request: transaction.request, hop });
      },
      onFailure: (failure) => {
        // What was too large for UDP found no TCP there: the same place gets it over UDP after all.
        const overUdp = failure === 'transport_error' && transaction.hop !== hop && !done;
        settle(overUdp ? once(stack, plan, request, hop) : { kind: 'failed', failure });
      },
    });
    plan.signal?.addEventListener('abort', abort);
    // An INVITE that was answered provisionally has no timer of its own (RFC 3261 §17.1.1.2).
    const limit =
      request.method === 'INVITE'
        ? stack.clock.setTimer(giveUpMs(stack.timers) + 1_000, () => {
            stack.layer.cancel(transaction);
            settle({ kind: 'failed', failure: 'timeout' });
          })
        : undefined;
  });
}
