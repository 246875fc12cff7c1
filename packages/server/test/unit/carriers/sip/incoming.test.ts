import { Headers, parseAddress, parseUri, type IncomingCall } from '@trunkcall/sip';
import { describe, expect, it } from 'vitest';
import { callerOf, dialledNumbers } from '../../../../src/carriers/sip/incoming.ts';

const address = (text: string) => {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
};
const uri = (text: string) => {
  const parsed = parseUri(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
};

describe('what was dialled', () => {
  const us = { inbound_country: 'US' };
  const es = { inbound_country: 'ES' };
  it.each<[string, string, { inbound_country?: string }, string[]]>([
    ['sip:+12025550142@pbx', '<sip:+12025550142@pbx>', {}, ['+12025550142']],
    ['sip:%2B12025550142;npdi@pbx', '<sip:x@pbx>', {}, ['+12025550142']],
    ['tel:+1-202-555-0142;phone-context=+1', '<sip:x@pbx>', {}, ['+12025550142']],
    // Many trunks leave the + out.
    ['sip:12025550142@pbx', '<sip:x@pbx>', {}, ['+12025550142']],
    ['sip:2025550142@pbx', '<sip:x@pbx>', us, ['+12025550142', '+2025550142']],
    ['sip:0034910123456@pbx', '<sip:x@pbx>', es, ['+34910123456']],
    ['sip:910123456@pbx', '<sip:x@pbx>', es, ['+34910123456', '+910123456']],
    // A trunk that names its account there leaves the number in To.
    ['sip:acme@pbx', '<sip:+12025550142@pbx>', {}, ['+12025550142']],
    ['sip:+12025550142@pbx', '<sip:+12025550143@pbx>', {}, ['+12025550142', '+12025550143']],
    ['sip:pbx', '<sip:reception@pbx>', us, []],
    ['urn:service:sos', '<sip:112@pbx>', es, []],
  ])('as %s to %s, %j, may be %j', (requestUri, to, trunk, numbers) => {
    expect(dialledNumbers({ requestUri: uri(requestUri), to: address(to) }, trunk)).toEqual(numbers);
  });
});

describe('who calls', () => {
  const from = '<sip:+12125550199@pbx>;tag=1';
  it.each<[string, [string, string][], string | null]>([
    [from, [], '+12125550199'],
    ['"Anonymous" <sip:anonymous@anonymous.invalid>;tag=1', [], null],
    ['<sip:acme@pbx>;tag=1', [['P-Asserted-Identity', '<sip:+12125550111@pbx>']], '+12125550111'],
    [from, [['P-Asserted-Identity', 'nonsense <']], '+12125550199'],
    [from, [['P-Asserted-Identity', '<tel:+12125550111>']], '+12125550111'],
    // The trunk knows the number, and the caller wants it hidden.
    [from, [['Privacy', 'id']], null],
    [from, [['Privacy', 'header; ID']], null],
    [from, [['Privacy', 'none']], '+12125550199'],
  ])('from %s with %j is %s', (address_, headers, caller) => {
    const call: Pick<IncomingCall, 'from' | 'headers'> = {
      from: address(address_),
      headers: Headers.from(headers),
    };
    expect(callerOf(call, {})).toBe(caller);
  });
});
