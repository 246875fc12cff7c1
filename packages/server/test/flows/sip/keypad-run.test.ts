/**
 * A Goal Run from POST to result over a real SIP call: the scripted agent speaks with eSpeak NG, and the callee, a
 * telephone on the loopback, presses keys. Skipped, and said so, where eSpeak NG is not installed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findEspeak } from '../../../src/agents/audio/espeak.ts';
import type { Synthesizer } from '../../../src/agents/audio/synthesizer.ts';
import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import { createReadiness } from '../../../src/authoring/readiness.ts';
import { createSipCarrier } from '../../../src/carriers/sip/sip-carrier.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createScriptedConcluder } from '../../../src/result/scripted-concluder.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';
import { statement } from '../../../src/storage/database.ts';
import { startWorker } from '../../../src/worker/worker.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { startSipCallee, type SipCalleeOptions } from '../../kit/sip-callee.ts';
import { ids, startService } from '../http/service.ts';

const missing = spawnSync('espeak-ng', ['--version']).error !== undefined;
if (missing) process.stderr.write('SKIPPED: a Goal Run over SIP. To run it: apt-get install -y espeak-ng\n');

const turnsOf = statement<{ speaker: string; text: string }>(
  'test_sip_turns',
  `select t.speaker, t.text from turns t join attempts a on a.id = t.attempt_id order by t.index`,
);

/** Speaks four times as fast: a test need not listen. */
function hurried(synthesizer: Synthesizer): Synthesizer {
  return {
    async speak(text, locale) {
      const made = await synthesizer.speak(text, locale);
      if (made.kind === 'failed') return made;
      return { kind: 'speech', pcm: made.pcm.filter((_, at) => at % 4 === 0) };
    },
  };
}

/** Lines without limits: they have tests of their own. */
const slots = {
  prepare: async () => undefined,
  take: async () => ({ kind: 'taken' }) as const,
  renew: async () => undefined,
  release: async () => undefined,
  countCall: async () => true,
  addCost: async () => undefined,
};

describe.skipIf(missing)('a Goal Run over a real SIP call', () => {
  const undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });

  async function place(options: SipCalleeOptions) {
    const recordings = mkdtempSync(join(tmpdir(), 'trunkcall-recordings-'));
    undo.push(async () => rmSync(recordings, { recursive: true, force: true }));
    const callee = await startSipCallee(options);
    undo.push(() => callee.close());
    const espeak = await findEspeak({ clock: systemClock });
    if (espeak === null) throw new Error('not found');
    const agents = [createScriptedAgent({ clock: systemClock, synthesizer: hurried(espeak) })];
    const log = createLog('silent');
    const carrier = await createSipCarrier({
      trunks: [
        {
          name: 'loopback',
          proxy: { host: '127.0.0.1', port: callee.port, transport: 'udp' },
          caller_numbers: ['+12025550100'],
          calls_per_second: 10,
          max_calls: 5,
          countries: ['US'],
        },
      ],
      sip: { bind: '127.0.0.1', udp_port: 0, media_ports: { first: 42_000, last: 42_999 } },
      clock: systemClock,
      log,
      slots,
      onFatal: (error) => {
        throw error;
      },
      dailyLimits: { callsPerNumber: 10, callsPerAccount: 10, spendPerAccount: null },
      recordings: { directory: recordings, retentionDays: 1 },
    });
    undo.push(() => carrier.close());
    const service = await startService({ over: { readiness: createReadiness({ agents, carrier }) } });
    undo.push(() => service.close());
    const goal = await service.newGoal({
      title: 'Tests',
      record: true,
      result_schema: {
        ...goalFile().result_schema,
        properties: {
          confirmed: { type: 'boolean', description: 'Does it suit?' },
          parcels: { type: 'integer', description: 'How many?' },
        },
      },
    });
    const worker = await startWorker({
      db: service.database.db,
      clock: systemClock,
      ids,
      log,
      carrier,
      agents,
      extractor: createScriptedExtractor(),
      concluder: createScriptedConcluder(),
      onPublished: () => undefined,
      settings: {
        leaseMs: 10_000,
        pollMs: 50,
        maxCallsPerProcess: 5,
        maxDeploymentCalls: 5,
        maxCarrierCalls: 5,
        drainMs: 1_000,
      },
    });
    undo.push(() => worker.stop());
    const accepted = await service.fetch(`/v1/goals/${goal}/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'one-call' },
      body: JSON.stringify({ phone: '+12025550123', variables: { name: 'Ada' } }),
    });
    expect(accepted.status).toBe(201);
    const { id } = (await accepted.json()) as { id: string };
    const read = async () =>
      (await (await service.fetch(`/v1/goals/${goal}/runs/${id}`)).json()) as {
        status: string;
        result: unknown;
        error: unknown;
      };
    await expect
      .poll(async () => ((run) => run.result !== null || run.error !== null)(await read()), {
        timeout: 50_000,
        interval: 100,
      })
      .toBe(true);
    const turns = await service.database.db.query(turnsOf);
    return {
      callee,
      recordings,
      run: await read(),
      turns: turns.map(({ speaker, text }) => `${speaker}: ${text}`),
    };
  }

  it(
    'brings home what the callee pressed, with the keys in the transcript, and hangs up',
    { timeout: 60_000 },
    async () => {
      const { run, turns, callee, recordings } = await place({ atOnce: '#', answers: ['1', '12#', '1'] });
      expect(run).toMatchObject({
        status: 'completed',
        result: { confirmed: true, parcels: 12 },
        error: null,
      });
      const [cutShort = '', ...others] = turns;
      expect(cutShort).toMatch(/^bot: Hello, [^?]*$/);
      expect(others).toEqual([
        'user: [#]',
        expect.stringMatching(/^bot: Hello, this is an automated assistant calling for .* press 2\.$/),
        'user: [1] yes',
        expect.stringMatching(/^bot: How many\? Enter the number/),
        'user: [12#] 12',
        expect.stringMatching(/^bot: I have noted: confirmed: yes; parcels: 12\./),
        'user: [1] yes',
        'bot: Thank you very much. Goodbye.',
      ]);
      await expect.poll(() => callee.ends).toHaveLength(1);
      // Two directions of 16 bits at 8,000 Hz, for as long as the conversation was.
      const [file = ''] = readdirSync(recordings);
      expect(file).toMatch(/^att_\w+\.wav$/);
      await expect.poll(() => statSync(join(recordings, file)).size).toBeGreaterThan(44 + 2 * 2 * 8_000 * 5);
      expect(turns.join(' ')).toContain('and this call is recorded');
    },
  );
});
