/** The Via header field (RFC 3261 §20.42, RFC 3581). */

import { isToken, paramText, parseParams, type Params, writeParams } from './grammar.ts';
import { type HostPort, parseHostPort, writeHostPort } from './uri.ts';

export interface Via extends HostPort {
  /** Upper case: UDP, TCP, TLS or a name that we do not speak. */
  readonly transport: string;
  readonly params: Params;
}

/** A branch that starts so identifies its transaction alone (RFC 3261 §8.1.1.7). */
export const BRANCH_COOKIE = 'z9hG4bK';

const PROTOCOL = /^SIP[ \t]*\/[ \t]*2\.0[ \t]*\/[ \t]*([^\s/]+)[ \t]+([^;]*)/i;

export function parseVia(text: string): Via | undefined {
  const match = PROTOCOL.exec(text);
  if (match === null) return undefined;
  const transport = match[1] ?? '';
  const where = parseHostPort((match[2] ?? '').replace(/[ \t]/g, ''));
  const params = parseParams(text.slice(match[0].length));
  if (!isToken(transport) || where === undefined || params === undefined) return undefined;
  return { transport: transport.toUpperCase(), ...where, params };
}

export function writeVia(via: Via): string {
  return `SIP/2.0/${via.transport} ${writeHostPort(via)}${writeParams(via.params)}`;
}

export function branchOf(via: Via): string | undefined {
  return paramText(via.params, 'branch');
}
