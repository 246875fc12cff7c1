import { describe, expect, test } from 'vitest';
import type { CallOutcome, IncomingCall, TransportName } from '../../src/index.ts';
import { mediaAt, openAgent, type TestAgent, until } from '../kit/agents.ts';

const CALLS = 1_000;
const AT_ONCE = 100;
const RING_LIMIT_MS = 400;

describe.each<TransportName>(['udp', 'tcp'])('over %s', (transport) => {
  test('1,000 calls, ended in five ways, leave no transaction, dialog, timer or socket behind', async () => {
    let turn = 0;
    const answer = (call: IncomingCall): void => {
      const way = (turn += 1) % 5;
      call.ring();
      if (way === 0) call.reject(486);
      // Way 1 rings until the caller gives up.
      if (way === 2)
        void call
          .accept({ media: mediaAt(2) })
          .then((end) => (end.kind === 'answered' ? end.call.hangup() : end));
      if (way > 2) void call.accept({ media: mediaAt(2) });
    };
    const callee = await openAgent({ transport, onInvite: answer });
    const caller = await openAgent({ transport });
    const ends: string[] = [];
    for (let done = 0; done < CALLS; done += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => ends.push(await oneCall(caller, callee))),
      );
    }
    expect(new Set(ends)).toEqual(new Set(['rejected', 'ring_limit', 'hangup']));
    const left = (): unknown =>
      [caller, callee].map(({ agent, clock }) => ({ ...agent.stats(), timers: clock.pending }));
    await until(
      () =>
        [caller, callee].every(
          (one) => one.agent.stats().transactions === 0 && one.clock.pending === kept(one),
        ),
      'the last transactions',
    );
    expect(left()).toMatchObject([
      { transactions: 0, dialogs: 0 },
      { transactions: 0, dialogs: 0 },
    ]);
    expect(kept(caller) + kept(callee)).toBeLessThanOrEqual(transport === 'tcp' ? 4 : 0);
    await Promise.all([caller.agent.close(), callee.agent.close()]);
    expect([caller, callee].map(({ clock }) => clock.pending)).toEqual([0, 0]);
    await until(() => sockets().length === 0, 'the last socket');
  }, 120_000);
});

test('closing an agent ends its calls, tells the far end, and leaves nothing', async () => {
  const outcomes: CallOutcome[] = [];
  const callee = await openAgent({
    onInvite: (call) => void call.accept({ media: mediaAt(2) }).then((end) => outcomes.push(end)),
  });
  const silent = await openAgent({ onInvite: (call) => call.ring() });
  const caller = await openAgent();
  const up = await caller.agent.call({ to: callee.uri('b'), from: caller.uri('a'), media: mediaAt(4) })
    .outcome;
  const ringing = caller.agent.call({ to: silent.uri('b'), from: caller.uri('a'), media: mediaAt(4) });
  await until(() => outcomes.length === 1, 'the callee is connected');
  await until(() => silent.agent.stats().dialogs === 1, 'the other rings');
  await caller.agent.close();
  expect(await ringing.outcome).toMatchObject({ by: 'local', reason: 'cancelled' });
  expect(up.kind === 'answered' && (await up.call.ended)).toMatchObject({ by: 'local', reason: 'aborted' });
  const [accepted] = outcomes;
  expect(accepted?.kind === 'answered' && (await accepted.call.ended)).toMatchObject({ by: 'remote' });
  expect(caller.clock.pending).toBe(0);
  const late = caller.agent.call({ to: callee.uri('b'), from: caller.uri('a'), media: mediaAt(4) });
  expect(await late.outcome).toMatchObject({ kind: 'ended', by: 'local' });
  await Promise.all([callee.agent.close(), silent.agent.close()]);
});

/** Over TCP connections stay open for the next call, each with its idle timer. */
function kept({ agent }: TestAgent): number {
  return agent.stats().connections;
}

function sockets(): string[] {
  return process.getActiveResourcesInfo().filter((name) => /TCP|UDP/.test(name));
}

async function oneCall(caller: TestAgent, callee: TestAgent): Promise<string> {
  const options = {
    to: callee.uri('bob'),
    from: caller.uri('alice'),
    media: mediaAt(4),
    ringLimitMs: RING_LIMIT_MS,
  };
  const outcome = await caller.agent.call(options).outcome;
  if (outcome.kind === 'ended') return outcome.reason;
  return (await outcome.call.hangup()).reason;
}
