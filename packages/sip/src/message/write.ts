import { writeAddress } from './address.ts';
import { singleLine } from './grammar.ts';
import type { SipMessage } from './message.ts';
import { writeUri } from './uri.ts';
import { writeVia } from './via.ts';

/**
 * Writes a message as it goes over the wire.
 *
 * The last guard against header injection: throws `UnsafeTextError` when any line would hold a line break,
 * whatever input it came from.
 */
export function writeMessage(message: SipMessage): Buffer {
  const lines = headLines(message);
  for (const line of lines) singleLine(line, 'a header line');
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), message.body]);
}

/** How many bytes a message has on the wire. */
export function messageLength(message: SipMessage): number {
  const ends = 2 * '\r\n'.length;
  return Buffer.byteLength(headLines(message).join('\r\n')) + ends + message.body.length;
}

function headLines(message: SipMessage): string[] {
  const lines = [
    message.kind === 'request'
      ? `${message.method} ${writeUri(message.uri)} SIP/2.0`
      : `SIP/2.0 ${message.status} ${message.reason}`,
    ...message.via.map((via) => `Via: ${writeVia(via)}`),
    `From: ${writeAddress(message.from)}`,
    `To: ${writeAddress(message.to)}`,
    `Call-ID: ${message.callId}`,
    `CSeq: ${message.cseq.number} ${message.cseq.method}`,
  ];
  for (const [name, value] of message.headers) lines.push(`${name}: ${value}`);
  lines.push(`Content-Length: ${message.body.length}`);
  return lines;
}
