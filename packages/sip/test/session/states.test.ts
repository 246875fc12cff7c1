/** The tables that decide over calls, cell by cell. A missing cell does not compile. */

import { describe, expect, test } from 'vitest';
import { type IncomingEvent, type IncomingState, nextIncoming } from '../../src/session/incoming-state.ts';
import { type Health, nextHealth } from '../../src/session/monitor.ts';
import { nextOutgoing, type OutgoingEvent, type OutgoingState } from '../../src/session/outgoing-state.ts';
import { planRegistration, type RegistrationState } from '../../src/session/registration.ts';
import {
  answerTimer,
  raisedPolicy,
  requestHeaders,
  timerDuty,
  timerFromResponse,
} from '../../src/session/session-timer.ts';
import { Headers } from '../../src/message/headers.ts';
import type { ExchangeOutcome } from '../../src/dialog/exchange.ts';
import { parseMessage } from '../../src/message/parse.ts';

describe('an outgoing call', () => {
  const table: Record<OutgoingState, Record<OutgoingEvent, string>> = {
    starting: {
      sent: 'calling',
      provisional: '.',
      success: '.',
      failure: 'ended finish',
      retry: '.',
      stop: 'ended finish',
      giveUp: '.',
    },
    calling: {
      sent: '.',
      provisional: 'proceeding',
      success: 'answered confirm',
      failure: 'ended finish',
      retry: 'calling sendInvite',
      stop: 'abandoning',
      giveUp: '.',
    },
    proceeding: {
      sent: '.',
      provisional: '.',
      success: 'answered confirm',
      failure: 'ended finish',
      retry: 'calling sendInvite',
      stop: 'cancelling sendCancel',
      giveUp: '.',
    },
    abandoning: {
      sent: '.',
      provisional: 'cancelling sendCancel',
      success: 'ended release finish',
      failure: 'ended finish',
      retry: 'ended finish',
      stop: '.',
      giveUp: 'ended finish',
    },
    cancelling: {
      sent: '.',
      provisional: '.',
      success: 'ended release finish',
      failure: 'ended finish',
      retry: 'ended finish',
      stop: '.',
      giveUp: 'ended finish',
    },
    answered: {
      sent: '.',
      provisional: '.',
      success: 'answered release',
      failure: '.',
      retry: '.',
      stop: '.',
      giveUp: '.',
    },
    ended: {
      sent: '.',
      provisional: '.',
      success: 'ended release',
      failure: '.',
      retry: '.',
      stop: '.',
      giveUp: '.',
    },
  };

  test.each(Object.entries(table))('in state %s', (state, row) => {
    const made = Object.fromEntries(
      Object.keys(row).map((event) => [
        event,
        short(state, nextOutgoing(state as OutgoingState, event as OutgoingEvent)),
      ]),
    );
    expect(made).toEqual(row);
  });
});

describe('an inbound call', () => {
  const table: Record<IncomingState, Record<IncomingEvent, string>> = {
    ringing: {
      accept: 'accepting settle',
      settled: '.',
      reject: 'ended sendRejection finish',
      withdraw: 'ended sendTerminated finish',
      ack: '.',
    },
    accepting: {
      accept: '.',
      settled: 'accepted sendSuccess',
      reject: 'ended sendRejection finish',
      withdraw: 'ended sendTerminated finish',
      ack: '.',
    },
    accepted: { accept: '.', settled: '.', reject: '.', withdraw: '.', ack: 'confirmed confirm' },
    confirmed: { accept: '.', settled: '.', reject: '.', withdraw: '.', ack: '.' },
    ended: { accept: '.', settled: '.', reject: '.', withdraw: '.', ack: '.' },
  };

  test.each(Object.entries(table))('in state %s', (state, row) => {
    const made = Object.fromEntries(
      Object.keys(row).map((event) => [
        event,
        short(state, nextIncoming(state as IncomingState, event as IncomingEvent)),
      ]),
    );
    expect(made).toEqual(row);
  });
});

function short(before: string, { state, effects }: { state: string; effects: readonly string[] }): string {
  return state === before && effects.length === 0 ? '.' : [state, ...effects].join(' ');
}

describe('the health of a trunk', () => {
  test('one answer brings it up, only failures in a row bring it down', () => {
    const states: Health[] = [];
    for (const alive of [false, true, true, false, true, false, false, false, true]) {
      states.push(nextHealth(states.at(-1) ?? { state: 'unknown', failures: 0 }, alive, 2));
    }
    expect(states.map(({ state }) => state)).toEqual([
      'unknown',
      'up',
      'up',
      'up',
      'up',
      'up',
      'down',
      'down',
      'up',
    ]);
  });

  test('what changes nothing gives back the same object', () => {
    const up: Health = { state: 'up', failures: 0 };
    const down: Health = { state: 'down', failures: 2 };
    expect(nextHealth(up, true, 2)).toBe(up);
    expect(nextHealth(down, false, 2)).toBe(down);
  });
});

function response(status: number, ...lines: string[]): ExchangeOutcome {
  const text = [
    `SIP/2.0 ${status} X`,
    'Via: SIP/2.0/UDP h;branch=z9hG4bK1',
    'From: <sip:a@a>;tag=1',
    'To: <sip:a@a>',
    'Call-ID: c',
    'CSeq: 1 REGISTER',
    ...lines,
  ];
  const outcome = parseMessage(Buffer.from(`${text.join('\r\n')}\r\n\r\n`));
  if (outcome.kind !== 'parsed' || outcome.message.kind !== 'response') throw new Error('no response');
  const { message } = outcome;
  return {
    kind: 'response',
    response: message,
    request: { ...message, kind: 'request', method: 'REGISTER', uri: message.to.uri },
    hop: { transport: 'udp', address: '1.1.1.1', port: 1 },
  };
}

describe('the plan of a registration', () => {
  const registering: RegistrationState = { kind: 'registering' };

  test.each<[string[], number]>([
    [['Contact: <sip:a@h>;expires=60'], 60],
    [['Contact: <sip:a@h>;expires=60, <sip:a@i>;expires=90'], 90],
    [['Expires: 120'], 120],
    [[], 600],
    // A registrar can not make us come back later than we asked.
    [['Expires: 99999'], 600],
    [['Contact: <sip:a@h>;expires=0'], 1],
  ])('refreshes when 80 to 90 %% of what %j grants have passed', (lines, granted) => {
    const early = planRegistration(registering, response(200, ...lines), 600, 0);
    const late = planRegistration(registering, response(200, ...lines), 600, 0.999);
    expect(early).toEqual({
      state: { kind: 'registered', grantedSeconds: granted },
      againInMs: granted * 800,
      expiresSeconds: 600,
    });
    expect(late.againInMs).toBeLessThan(granted * 900);
  });

  test('waits longer after each failure, at most half an hour, and as long as it is asked to', () => {
    const silent: ExchangeOutcome = { kind: 'failed', failure: 'timeout' };
    expect(planRegistration(registering, silent, 600, 0.999).againInMs / 1_000).toBeCloseTo(30, 0);
    expect(
      planRegistration({ kind: 'failed', failures: 3 }, silent, 600, 0.999).againInMs / 1_000,
    ).toBeCloseTo(240, 0);
    expect(
      planRegistration({ kind: 'failed', failures: 99 }, silent, 600, 0.999).againInMs / 1_000,
    ).toBeLessThanOrEqual(1_800);
    expect(planRegistration(registering, response(503, 'Retry-After: 100'), 600, 0).againInMs).toBe(100_000);
  });

  test('asks for more at once when the registrar wants more (423)', () => {
    expect(planRegistration(registering, response(423, 'Min-Expires: 1200'), 600, 0)).toMatchObject({
      againInMs: 0,
      expiresSeconds: 1_200,
    });
    // One that wants less than we asked is answered like any other failure, or we would ask for ever.
    expect(planRegistration(registering, response(423, 'Min-Expires: 60'), 600, 0).againInMs).toBeGreaterThan(
      0,
    );
  });
});

describe('session timers', () => {
  const policy = { intervalSeconds: 1_800, minSeconds: 90 };

  test('our side refreshes at half time, the other is given up shortly before the end', () => {
    expect(timerDuty({ seconds: 1_800, refresher: 'local' })).toEqual({ duty: 'refresh', afterMs: 900_000 });
    expect(timerDuty({ seconds: 1_800, refresher: 'remote' })).toEqual({
      duty: 'expire',
      afterMs: 1_768_000,
    });
    expect(timerDuty({ seconds: 90, refresher: 'remote' })).toEqual({ duty: 'expire', afterMs: 60_000 });
  });

  test('the 2xx says who refreshes; the caller does when it does not', () => {
    expect(timerFromResponse(Headers.from([['Session-Expires', '600;refresher=uas']]))).toEqual({
      seconds: 600,
      refresher: 'remote',
    });
    expect(timerFromResponse(Headers.from([['Session-Expires', '600']]))).toEqual({
      seconds: 600,
      refresher: 'local',
    });
    expect(timerFromResponse(Headers.none)).toBeUndefined();
  });

  test('inside the dialog the refresher stays who it is, whoever asks', () => {
    expect(requestHeaders(policy, { seconds: 600, refresher: 'remote' })[0]).toEqual([
      'Session-Expires',
      '600;refresher=uas',
    ]);
    expect(requestHeaders({ ...policy, intervalSeconds: 0 })).toEqual([]);
  });

  test('a 422 raises what we ask for, but only when it asks for more', () => {
    expect(raisedPolicy(policy, Headers.from([['Min-SE', '3600']]))).toEqual({
      intervalSeconds: 3_600,
      minSeconds: 3_600,
    });
    expect(raisedPolicy(policy, Headers.from([['Min-SE', '90']]))).toBeUndefined();
    expect(raisedPolicy(policy, Headers.none)).toBeUndefined();
  });

  test('an interval below our least is answered 422 only to a peer that understands it', () => {
    const asks = Headers.from([['Session-Expires', '30']]);
    expect(answerTimer(asks, policy)).toMatchObject({
      kind: 'on',
      timer: { seconds: 90, refresher: 'local' },
    });
    expect(answerTimer(asks.with([['Supported', 'timer']]), policy)).toEqual({
      kind: 'too_small',
      headers: [['Min-SE', '90']],
    });
  });
});
