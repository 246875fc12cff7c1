/** Listening in on a real call: our agent and a telephone hum, each at a pitch of its own, and a person hears both. */
import type { ConsoleAuditEntry, ConsoleRunDetail, OperatorList } from '@trunkcall/contract';
import { Trunkcall } from '@trunkcall/sdk';
import { decodeG711, encodeG711 } from '@trunkcall/sip';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { goalFile, publishGoal } from '../../kit/fixtures.ts';
import { startSipCallee, type SipCallee } from '../../kit/sip-callee.ts';
import { until } from '../../kit/until.ts';
import { ask, listenIn } from '../console/listen-client.ts';
import { ids, startConsole, type ConsoleService, type Visitor } from '../console/service.ts';
import { startSipWorker, type SipWorker } from '../inbound/sip-worker.ts';

const calleeHertz = 1_000;
const ourHertz = 600;
const hum = (hertz: number) =>
  Int16Array.from({ length: 50 * 8_000 }, (_, at) => 6_000 * Math.sin((2 * Math.PI * hertz * at) / 8_000));

/** Hums until the call is over. */
const hummer: Agent = {
  kind: 'scripted',
  problems: () => [],
  async converse(_, leg, __, signal) {
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    if (leg.media.kind === 'audio') leg.media.play(encodeG711('PCMU', hum(ourHertz)));
    await Promise.race([leg.ended, stopped]);
    return { kind: 'callee_left' };
  },
};

/** How much of the sound is at a pitch, 0–1. */
function shareOf(hertz: number, samples: Int16Array): number {
  let [real, imaginary, energy] = [0, 0, 0];
  for (const [at, sample] of samples.entries()) {
    const angle = (2 * Math.PI * hertz * at) / 8_000;
    real += sample * Math.cos(angle);
    imaginary += sample * Math.sin(angle);
    energy += sample * sample;
  }
  return energy === 0 ? 0 : (2 * (real * real + imaginary * imaginary)) / (samples.length * energy);
}

describe('listening in on a call over SIP', () => {
  let service: ConsoleService;
  let phone: SipCallee;
  let sip: SipWorker;
  let owner: Visitor;
  let developer: Trunkcall;
  beforeAll(async () => {
    service = await startConsole('postgres', { legOf: (id) => sip.worker.legOf(id) });
    phone = await startSipCallee({ atOnce: '', answers: [], plays: hum(calleeHertz) });
    sip = await startSipWorker({
      db: service.database.db,
      agents: [hummer],
      trunk: { proxy: { host: '127.0.0.1', port: phone.port } },
    });
    owner = await service.person('owner');
    developer = new Trunkcall({ baseUrl: service.origin, apiKey: service.apiKey });
  });
  afterAll(async () => {
    await sip.stop();
    await phone.close();
    await service.close();
  });

  /** Calls, and waits until somebody talks. */
  async function call(record: boolean): Promise<string> {
    const goal = await publishGoal(service.database.db, ids, service.accountId, goalFile({ record }));
    const { run } = await developer.createRun(goal, { phone: '+12025550123', variables: { name: 'Ada' } });
    await until(() => sip.worker.legOf(run.run_id) !== null, 'the answer');
    return run.id;
  }
  const stateOf = async (runId: string) => (await owner.get<ConsoleRunDetail>(`/runs/${runId}`)).listening;

  test('the callee is heard on the one side and our agent on the other, as it happens; the end of the call ends it', async () => {
    const runId = await call(true);
    expect(await stateOf(runId)).toBe('open');
    const one = await listenIn(service, owner, runId);
    const two = await listenIn(service, await service.operator(), runId);
    await until(() => one.sound.length > 100 && two.sound.length > 100, 'two seconds of sound');
    for (const { sound } of [one, two]) {
      // The first second may hold the beginning of the hum.
      const frames = sound.slice(50, 100);
      expect(new Set(frames.map(({ length }) => length))).toEqual(new Set([320]));
      const side = (from: number) =>
        decodeG711('PCMU', Buffer.concat(frames.map((frame) => frame.subarray(from, from + 160))));
      const [callee, ours] = [side(0), side(160)];
      // A stall of the machine may cost some of it.
      expect(shareOf(calleeHertz, callee)).toBeGreaterThan(0.6);
      expect(shareOf(ourHertz, ours)).toBeGreaterThan(0.6);
      expect(shareOf(ourHertz, callee)).toBeLessThan(0.05);
      expect(shareOf(calleeHertz, ours)).toBeLessThan(0.05);
    }
    phone.hangUp();
    expect(await Promise.all([one.closed, two.closed])).toEqual([1000, 1000]);
    expect(one.messages).toEqual([{ type: 'ended', reason: 'call_ended' }]);
    await expect.poll(() => stateOf(runId), { timeout: 10_000 }).toBe('over');
    expect((await ask(owner, runId)).status).toBe(409);
    const { data } = await (
      await service.operator()
    ).get<OperatorList<ConsoleAuditEntry>>('/audit?limit=100');
    const notes = data.filter(({ action, object_id }) => action === 'call.listened' && object_id === runId);
    expect(new Set(notes.map(({ person }) => person?.name))).toEqual(new Set(['First', 'owner']));
    expect(notes).toHaveLength(2);
  });

  test('a call that is not recorded is not open, and says why', async () => {
    const runId = await call(false);
    expect(await stateOf(runId)).toBe('not_recorded');
    const response = await ask(owner, runId);
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({
      error: { code: 'listening_not_possible', details: { listening: 'not_recorded' } },
    });
    phone.hangUp();
    await expect.poll(() => stateOf(runId), { timeout: 10_000 }).toBe('over');
  });
});
