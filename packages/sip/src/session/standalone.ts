/** Requests outside of calls: REGISTER and OPTIONS. */

import type { Authenticator } from '../auth/digest.ts';
import { exchange, type ExchangeOutcome } from '../dialog/exchange.ts';
import { NO_PARAMS } from '../message/grammar.ts';
import { Headers, type HeaderLine } from '../message/headers.ts';
import { NO_BODY } from '../message/message.ts';
import type { SipUri } from '../message/uri.ts';
import { randomToken } from '../random.ts';
import type { Hop } from '../transport/network.ts';
import { ALLOW, type Host, SUPPORTED } from './host.ts';

export interface StandaloneRequest {
  readonly method: 'REGISTER' | 'OPTIONS';
  /** The Request-URI; also where it is sent, unless `proxy` says otherwise. */
  readonly uri: SipUri;
  readonly proxy?: SipUri | undefined;
  readonly from: SipUri;
  readonly to: SipUri;
  readonly callId: string;
  /** Gives the next CSeq number. */
  readonly nextSequence: () => number;
  readonly headers: (hop: Hop) => readonly HeaderLine[];
  readonly authenticator?: Authenticator | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Never rejects. */
export function sendStandalone(host: Host, request: StandaloneRequest): Promise<ExchangeOutcome> {
  const { method, uri } = request;
  const fromTag = randomToken(host.stack.random);
  return exchange(host.stack, {
    method,
    uri,
    target: request.proxy ?? uri,
    authenticator: request.authenticator,
    signal: request.signal,
    make: (authorization, hop) => ({
      kind: 'request',
      method,
      uri,
      via: [],
      from: { display: '', uri: request.from, params: new Map([['tag', fromTag]]) },
      to: { display: '', uri: request.to, params: NO_PARAMS },
      callId: request.callId,
      cseq: { number: request.nextSequence(), method },
      headers: Headers.from([
        ['Max-Forwards', '70'],
        ...authorization,
        ...request.headers(hop),
        ALLOW,
        SUPPORTED,
        ['User-Agent', host.settings.name],
      ]),
      body: NO_BODY,
    }),
  });
}
