import type { Ended } from '@trunkcall/sip';
import { describe, expect, it } from 'vitest';
import type { Ending, LegEnd } from '../../../../src/carriers/carrier.ts';
import { endingOf, isTrunkFault, legEndOf } from '../../../../src/carriers/sip/endings.ts';

const rejected = (sipStatus: number, more: Partial<Ended> = {}): Ended => ({
  kind: 'ended',
  by: 'remote',
  reason: 'rejected',
  sipStatus,
  provisional: 100,
  ...more,
});

type Row = readonly [outcome: Ending['outcome'], endedBy: Ending['endedBy']];

/** What a final response means when no cause stands beside it. */
const statuses: Readonly<Record<number, Row>> = {
  400: ['carrier_error', 'carrier'],
  402: ['carrier_error', 'carrier'],
  403: ['carrier_error', 'carrier'],
  404: ['invalid_number', 'carrier'],
  405: ['carrier_error', 'carrier'],
  406: ['carrier_error', 'carrier'],
  408: ['unreachable', 'callee'],
  410: ['invalid_number', 'carrier'],
  415: ['carrier_error', 'carrier'],
  420: ['carrier_error', 'carrier'],
  422: ['carrier_error', 'carrier'],
  480: ['unreachable', 'callee'],
  481: ['carrier_error', 'carrier'],
  482: ['carrier_error', 'carrier'],
  483: ['carrier_error', 'carrier'],
  484: ['invalid_number', 'carrier'],
  486: ['busy', 'callee'],
  487: ['carrier_error', 'carrier'],
  488: ['carrier_error', 'carrier'],
  500: ['carrier_error', 'carrier'],
  501: ['carrier_error', 'carrier'],
  502: ['carrier_error', 'carrier'],
  503: ['carrier_error', 'carrier'],
  504: ['carrier_error', 'carrier'],
  600: ['busy', 'callee'],
  603: ['declined', 'callee'],
  604: ['invalid_number', 'carrier'],
  606: ['carrier_error', 'carrier'],
  607: ['declined', 'callee'],
};

describe('the end of a call that nobody answered', () => {
  it.each(Object.entries(statuses))('%s without a cause', (status, [outcome, endedBy]) => {
    expect(endingOf(rejected(Number(status)))).toMatchObject({
      outcome,
      endedBy,
      sipStatus: Number(status),
      q850: null,
    });
  });

  it.each([
    [1, 'invalid_number'],
    [3, 'carrier_error'],
    [17, 'busy'],
    [18, 'unreachable'],
    [19, 'ring_timeout'],
    [20, 'unreachable'],
    [21, 'declined'],
    [22, 'invalid_number'],
    [27, 'unreachable'],
    [28, 'invalid_number'],
    [34, 'carrier_error'],
    [38, 'carrier_error'],
    [41, 'carrier_error'],
    [42, 'carrier_error'],
    [102, 'carrier_error'],
  ])('cause %i goes before the status that a gateway made of it', (q850, outcome) => {
    expect(endingOf(rejected(480, { q850 }))).toMatchObject({ outcome, sipStatus: 480, q850 });
    expect(endingOf(rejected(500, { q850 })).outcome).toBe(outcome);
  });

  it.each([16, 31, 127])('cause %i says nothing; the status does', (q850) => {
    expect(endingOf(rejected(486, { q850 }))).toMatchObject({ outcome: 'busy', q850 });
    expect(endingOf(rejected(404, { q850 })).outcome).toBe('invalid_number');
  });

  it('a phone that rang before 408, 480 or 487 was not answered', () => {
    for (const status of [408, 480, 487]) {
      expect(endingOf(rejected(status, { provisional: 180 }))).toMatchObject({
        outcome: 'ring_timeout',
        endedBy: 'callee',
      });
    }
  });

  it('486, 603 and 403 mean what the trunk’s profile says', () => {
    expect(endingOf(rejected(486), { status_486: 'declined' }).outcome).toBe('declined');
    expect(endingOf(rejected(603), { status_603: 'busy' }).outcome).toBe('busy');
    expect(endingOf(rejected(603), { status_603: 'carrier_error' }).outcome).toBe('carrier_error');
    expect(endingOf(rejected(403), { status_403: 'declined' })).toMatchObject({
      outcome: 'declined',
      endedBy: 'callee',
    });
  });

  it('our own ring limit is no answer, unless the trunk never responded', () => {
    const limit: Ended = {
      kind: 'ended',
      by: 'local',
      reason: 'ring_limit',
      sipStatus: 487,
      provisional: 180,
    };
    expect(endingOf(limit)).toMatchObject({ outcome: 'ring_timeout', endedBy: 'us', sipStatus: 487 });
    const silent: Ended = { kind: 'ended', by: 'local', reason: 'ring_limit' };
    expect(endingOf(silent)).toMatchObject({ outcome: 'carrier_error', endedBy: 'carrier', sipStatus: null });
  });

  it('what we gave up is canceled, whatever crossed it', () => {
    expect(endingOf(rejected(486), {}, 'aborted')).toMatchObject({ outcome: 'canceled', endedBy: 'us' });
  });

  it.each<Ended['reason']>(['redirected', 'no_response', 'unreachable', 'unauthorized', 'media_refused'])(
    '%s is the carrier’s fault, and says so in a note',
    (reason) => {
      const ending = endingOf({ kind: 'ended', by: 'network', reason });
      expect(ending).toMatchObject({ outcome: 'carrier_error', endedBy: 'carrier' });
      expect(ending.note).toMatch(/\w/);
    },
  );
});

describe('another trunk may be tried', () => {
  const fault = (ended: Ended) => isTrunkFault(ended, endingOf(ended));
  it('when the trunk could not be reached, was silent, or failed by itself', () => {
    expect(fault({ kind: 'ended', by: 'network', reason: 'unreachable' })).toBe(true);
    expect(fault({ kind: 'ended', by: 'network', reason: 'no_response' })).toBe(true);
    for (const status of [500, 502, 503, 504]) expect(fault(rejected(status))).toBe(true);
  });

  it('never when a phone may have rung', () => {
    for (const provisional of [180, 181, 183]) {
      expect(fault(rejected(503, { provisional }))).toBe(false);
      expect(fault({ kind: 'ended', by: 'network', reason: 'unreachable', provisional })).toBe(false);
    }
    expect(fault({ kind: 'ended', by: 'network', reason: 'no_response', provisional: 100 })).toBe(false);
    expect(fault({ kind: 'ended', by: 'network', reason: 'no_response', sipStatus: 200 })).toBe(false);
  });

  it('never for an end that is the callee’s, ours, or another trunk’s just as well', () => {
    for (const status of [400, 403, 404, 408, 480, 486, 488, 501, 600, 603])
      expect(fault(rejected(status))).toBe(false);
    expect(fault(rejected(503, { q850: 17 }))).toBe(false);
    expect(fault({ kind: 'ended', by: 'local', reason: 'ring_limit' })).toBe(false);
    expect(fault({ kind: 'ended', by: 'local', reason: 'media_refused' })).toBe(false);
    expect(fault({ kind: 'ended', by: 'remote', reason: 'unauthorized', sipStatus: 407 })).toBe(false);
  });
});

it.each<[Ended, 'media_failed' | null, LegEnd['reason'], LegEnd['endedBy']]>([
  [{ kind: 'ended', by: 'remote', reason: 'hangup' }, null, 'hung_up', 'callee'],
  [{ kind: 'ended', by: 'remote', reason: 'hangup', q850: 16 }, null, 'hung_up', 'callee'],
  [{ kind: 'ended', by: 'remote', reason: 'hangup', q850: 41 }, null, 'carrier_error', 'carrier'],
  [{ kind: 'ended', by: 'remote', reason: 'hangup', q850: 102 }, null, 'carrier_error', 'carrier'],
  [{ kind: 'ended', by: 'local', reason: 'hangup' }, null, 'hung_up', 'us'],
  [{ kind: 'ended', by: 'local', reason: 'aborted' }, null, 'hung_up', 'us'],
  [{ kind: 'ended', by: 'local', reason: 'hangup' }, 'media_failed', 'media_failed', 'carrier'],
  [{ kind: 'ended', by: 'local', reason: 'media_refused' }, null, 'media_failed', 'us'],
  [{ kind: 'ended', by: 'network', reason: 'session_expired' }, null, 'carrier_error', 'carrier'],
  [{ kind: 'ended', by: 'network', reason: 'no_response' }, null, 'carrier_error', 'carrier'],
])('an answered call that ended with %j (%s) is %s by %s', (ended, fault, reason, endedBy) => {
  expect(legEndOf(ended, fault)).toMatchObject({ reason, endedBy, q850: ended.q850 ?? null });
});
