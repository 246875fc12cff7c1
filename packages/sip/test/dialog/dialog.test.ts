import { describe, expect, test } from 'vitest';
import {
  confirmDialog,
  type Dialog,
  dialogFromRequest,
  dialogFromResponse,
  keyOfDialog,
  keyOfRequest,
  makeRequest,
  refreshTarget,
  takeRequest,
} from '../../src/dialog/dialog.ts';
import { Headers } from '../../src/message/headers.ts';
import type { SipRequest, SipResponse } from '../../src/message/message.ts';
import { parseMessage } from '../../src/message/parse.ts';
import { writeUri } from '../../src/message/uri.ts';

function message(...lines: string[]) {
  const outcome = parseMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  if (outcome.kind !== 'parsed') throw new Error(outcome.why);
  return outcome.message;
}

const ENVELOPE = ['Via: SIP/2.0/UDP h;branch=z9hG4bK1', 'From: "A" <sip:alice@a>;tag=1', 'Call-ID: c'];

function invite(...more: string[]): SipRequest {
  return message(
    'INVITE sip:bob@b SIP/2.0',
    ...ENVELOPE,
    'To: <sip:bob@b>',
    'CSeq: 7 INVITE',
    'Contact: <sip:alice@1.1.1.1>',
    ...more,
  ) as SipRequest;
}

function ok(...more: string[]): SipResponse {
  return message(
    'SIP/2.0 200 OK',
    ...ENVELOPE,
    'To: <sip:bob@b>;tag=2',
    'CSeq: 7 INVITE',
    ...more,
  ) as SipResponse;
}

function made(dialog: Dialog | undefined, method = 'BYE') {
  if (dialog === undefined) throw new Error('no dialog');
  const { request, nextHop } = makeRequest(dialog, method);
  return {
    uri: writeUri(request.uri),
    routes: request.headers.all('Route'),
    nextHop: writeUri(nextHop),
    cseq: request.cseq.number,
  };
}

describe('the route set', () => {
  const contact = 'Contact: <sip:bob@2.2.2.2:5070>';

  test('without one, requests go to the peer’s Contact', () => {
    expect(made(dialogFromResponse(invite(), ok(contact)))).toEqual({
      uri: 'sip:bob@2.2.2.2:5070',
      routes: [],
      nextHop: 'sip:bob@2.2.2.2:5070',
      cseq: 8,
    });
  });

  test('the caller reverses Record-Route and goes to its first loose router, the target stays the Request-URI', () => {
    const dialog = dialogFromResponse(
      invite(),
      ok(contact, 'Record-Route: <sip:p2;lr>, <sip:p1;lr>', 'Record-Route: <sip:p0;lr>'),
    );
    expect(made(dialog)).toEqual({
      uri: 'sip:bob@2.2.2.2:5070',
      routes: ['<sip:p0;lr>', '<sip:p1;lr>', '<sip:p2;lr>'],
      nextHop: 'sip:p0;lr',
      cseq: 8,
    });
  });

  test('a strict router becomes the Request-URI and the target the last Route', () => {
    const dialog = dialogFromResponse(invite(), ok(contact, 'Record-Route: <sip:p1;lr>, <sip:strict>'));
    expect(made(dialog)).toEqual({
      uri: 'sip:strict',
      routes: ['<sip:p1;lr>', '<sip:bob@2.2.2.2:5070>'],
      nextHop: 'sip:strict',
      cseq: 8,
    });
  });

  test('the callee keeps the order of Record-Route', () => {
    const dialog = dialogFromRequest(invite('Record-Route: <sip:p1;lr>, <sip:p2;lr>'), '9');
    expect(made(dialog)).toMatchObject({
      uri: 'sip:alice@1.1.1.1',
      routes: ['<sip:p1;lr>', '<sip:p2;lr>'],
      cseq: 1,
    });
  });

  test('the 2xx replaces the route and the target of the provisional response', () => {
    const early = dialogFromResponse(invite(), ok(contact, 'Record-Route: <sip:p1;lr>'));
    const confirmed =
      early && confirmDialog(early, ok('Contact: <sip:bob@3.3.3.3>', 'Record-Route: <sip:p9;lr>'));
    expect(made(confirmed)).toMatchObject({ uri: 'sip:bob@3.3.3.3', routes: ['<sip:p9;lr>'] });
  });
});

describe('numbers and keys', () => {
  const dialog = dialogFromResponse(invite(), ok('Contact: <sip:bob@b>'));

  test('an ACK repeats the number of its INVITE and takes none of its own', () => {
    if (dialog === undefined) throw new Error('no dialog');
    const ack = makeRequest(dialog, 'ACK', { ackOf: 7 });
    expect(ack.request.cseq).toEqual({ number: 7, method: 'ACK' });
    expect(ack.dialog).toBe(dialog);
  });

  test('a request that is not newer than the last one is out of order', () => {
    const request = invite();
    const first = dialog && takeRequest(dialog, request);
    expect(first?.remoteSequence).toBe(7);
    expect(first && takeRequest(first, request)).toBeUndefined();
    expect(first && takeRequest(first, { ...request, cseq: { number: 6, method: 'BYE' } })).toBeUndefined();
  });

  test('both sides find the dialog under the key that the other’s requests carry', () => {
    const callee = dialogFromRequest(invite(), '2');
    expect(dialog && callee && keyOfRequest(makeRequest(dialog, 'BYE').request)).toBe(
      callee && keyOfDialog(callee),
    );
    expect(dialog && callee && keyOfRequest(makeRequest(callee, 'BYE').request)).toBe(
      dialog && keyOfDialog(dialog),
    );
  });

  test('an INVITE without one usable Contact opens no dialog', () => {
    expect(dialogFromRequest({ ...invite(), headers: Headers.none }, '9')).toBeUndefined();
    expect(dialogFromRequest(invite('Contact: <sip:other@b>'), '9')).toBeUndefined();
    expect(dialogFromRequest(invite('Record-Route: <sip:p1;lr'), '9')).toBeUndefined();
  });

  test('a refresh without Contact leaves the target', () => {
    expect(dialog && refreshTarget(dialog, Headers.none)).toBe(dialog);
  });
});
