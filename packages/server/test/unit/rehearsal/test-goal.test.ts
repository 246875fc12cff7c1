import type { CalleeTest, GoalFile, GoalTestSummary, ScriptedCallee } from '@trunkcall/contract';
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { createRealtimeAgent } from '../../../src/agents/realtime/realtime-agent.ts';
import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import { createChat } from '../../../src/platform/chat/chat.ts';
import { systemClock as clock } from '../../../src/platform/clock.ts';
import { Refusal } from '../../../src/platform/refusal.ts';
import type { Extractor } from '../../../src/result/extractor.ts';
import { createModelExtractor } from '../../../src/result/model/model-extractor.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';
import { calleeLimitMs } from '../../../src/rehearsal/test-callee.ts';
import { createGoalTester, testLimitMs } from '../../../src/rehearsal/test-goal.ts';
import { modelName, startChatServer } from '../../fakes/chat-server.ts';
import { hearsYes, noteless } from '../../fakes/hears-yes.ts';
import { startRealtimeServer } from '../../fakes/realtime-server.ts';
import { scriptedModel } from '../../fakes/scripted-model.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { createManualClock } from '../../kit/manual-clock.ts';

const scripted = createScriptedAgent({ clock, synthesizer: null });

/** Never says a word, and ends with the call alone. */
const mute: Agent = {
  kind: 'scripted',
  problems: () => [],
  converse: (_brief, _leg, _transcript, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'finished' }))),
};

const ada = { name: 'Ada' };
const says = (confirmed: string) => ({ confirmed });
let numbers = 0;
const callee = (over: Partial<ScriptedCallee> = {}): ScriptedCallee => ({
  phone: `+1212555${String((numbers += 1)).padStart(4, '0')}`,
  variables: ada,
  ...over,
});

interface Setting {
  readonly agents?: readonly Agent[];
  readonly extractor?: Extractor;
  readonly clock?: typeof clock;
}

const testerWith = ({ agents = [scripted], extractor = createScriptedExtractor(), ...own }: Setting = {}) =>
  createGoalTester({ clock: own.clock ?? clock, agents, extractor });

async function run(
  callees: readonly ScriptedCallee[],
  setting: Setting & { readonly goal?: Partial<GoalFile>; readonly signal?: AbortSignal } = {},
): Promise<{ summary: GoalTestSummary; tests: CalleeTest[] }> {
  const tester = testerWith(setting);
  const goal = goalFile({
    limits: { ring_seconds: 30, call_seconds: 120 },
    ...setting.goal,
    callees: [...callees],
  });
  const tests: CalleeTest[] = [];
  const ready = tester.prepare({ goal, callerName: 'Acme' });
  const summary = await tester.run(
    ready,
    (one) => tests.push(one),
    setting.signal ?? new AbortController().signal,
  );
  return { summary, tests: tests.toSorted((a, b) => a.index - b.index) };
}

function refusalOf(goal: GoalFile, setting?: Setting): Refusal {
  try {
    testerWith(setting).prepare({ goal, callerName: 'Acme' });
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('each callee', () => {
  test('is called, and its call is compared with what is expected of it', async () => {
    const { summary, tests } = await run([
      callee({ name: 'Agrees', says: says('Yes.'), expect: { result: { confirmed: true } } }),
      callee({ name: 'Disagrees', says: says('No.'), expect: { result: { confirmed: true } } }),
      callee({ name: 'Engaged', does: 'busy', expect: { error: 'no_answer' } }),
      callee({ says: says('Yes.') }),
    ]);
    expect(tests).toMatchObject([
      {
        name: 'Agrees',
        verdict: 'passed',
        actual: { outcome: 'conversation', result: { confirmed: true }, error: null },
      },
      {
        name: 'Disagrees',
        verdict: 'failed',
        differences: [{ pointer: '/result/confirmed', expected: true, actual: false }],
      },
      {
        name: 'Engaged',
        verdict: 'passed',
        actual: { outcome: 'busy', result: null, error: { code: 'no_answer', detail_code: 'busy' } },
        call_seconds: null,
        transcript: [],
      },
      { name: 'callee 4', verdict: 'not_judged', actual: { result: { confirmed: true } } },
    ]);
    expect(summary).toMatchObject({ agent: 'scripted', passed: 2, failed: 1, not_judged: 1, not_run: 0 });
  });

  test('hears for whom and about what it is called; the conversation is told, with its times', async () => {
    const { tests } = await run([callee({ says: says('Yes.') })], {
      goal: {
        result_schema: {
          type: 'object',
          additionalProperties: false,
          properties: { confirmed: { type: 'boolean', description: 'Does the parcel for {{name}} suit?' } },
          required: ['confirmed'],
        },
      },
    });
    const words =
      tests[0]?.transcript.filter(({ speaker }) => speaker === 'bot').map(({ text }) => text) ?? [];
    expect(words.join(' ')).toContain('Acme');
    expect(words.join(' ')).toContain('Does the parcel for Ada suit?');
    const offsets = tests[0]?.transcript.map(({ offset_seconds }) => offset_seconds) ?? [];
    expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
    expect(tests[0]?.call_seconds).toBeGreaterThan(offsets.at(-1) ?? 0);
  });

  test('lives in virtual time: a call of a minute takes a moment, and is the same each time', async () => {
    const same = callee({ does: 'never_hangs_up', expect: { error: 'timed_out' } });
    const [first, second] = await Promise.all([run([same]), run([same])]);
    expect(first.tests[0]).toMatchObject({ verdict: 'passed', call_seconds: 120 });
    expect(first.tests[0]?.took_seconds).toBeLessThan(10);
    expect(second.tests[0]).toEqual({ ...first.tests[0], took_seconds: second.tests[0]?.took_seconds });
  });
});

describe('the parts are those of a Run', () => {
  test('another agent speaks on request, with a model behind it', async () => {
    const server = await startRealtimeServer({ newModel: () => scriptedModel(clock.now()) });
    const { url, key: apiKey } = server;
    const realtime = createRealtimeAgent({
      clock,
      provider: { dialect: 'openai', url, apiKey, model: null },
    });
    const tester = testerWith({ agents: [scripted, realtime] });
    const goal = goalFile({
      limits: { ring_seconds: 30, call_seconds: 120 },
      callees: [callee({ says: says('Yes.'), expect: { result: { confirmed: true } } })],
    });
    const ready = tester.prepare({ goal, agent: 'realtime', callerName: 'Acme' });
    const tests: CalleeTest[] = [];
    const summary = await tester.run(ready, (one) => tests.push(one), new AbortController().signal);
    await server.close();
    expect(server.sessions).toHaveLength(1);
    expect(server.violations).toEqual([]);
    expect(tests[0]?.differences).toEqual([]);
    expect(summary).toMatchObject({ agent: 'realtime', passed: 1 });
  });

  test('a configured model draws the results, and is told on which day the call was', async () => {
    const server = await startChatServer({ model: hearsYes });
    const chat = createChat({ clock, url: server.url, apiKey: server.key, model: modelName });
    const { tests } = await run([callee({ says: says('Yes.'), expect: { result: { confirmed: true } } })], {
      agents: [noteless],
      extractor: createModelExtractor(chat),
    });
    await server.close();
    expect(tests[0]?.actual).toMatchObject({ result: { confirmed: true } });
    const asked = server.requests[0]?.messages[1]?.content;
    expect(asked).toMatch(/^The call was on \w+day, \d{4}-\d\d-\d\d\.\n/);
  });

  test('an extraction that fails is tried once more, and then is a failed one', async () => {
    let tries = 0;
    const extractor: Extractor = {
      extract: async () => {
        tries += 1;
        return { kind: 'failed', note: 'the model is away' };
      },
    };
    const { tests } = await run([callee({ says: says('Yes.'), expect: { error: 'result_failed' } })], {
      extractor,
    });
    expect(tests[0]).toMatchObject({ verdict: 'passed', note: 'the model is away' });
    expect(tries).toBe(2);
  });

  test('an agent that throws has failed, without its words', async () => {
    const broken: Agent = {
      ...mute,
      converse: async () => {
        throw new TypeError('+12125550100 said no');
      },
    };
    const { tests } = await run([callee()], { agents: [broken] });
    expect(tests[0]).toMatchObject({
      verdict: 'not_judged',
      actual: { outcome: 'agent_failed', error: { code: 'call_failed' } },
      note: 'TypeError',
    });
  });
});

describe('what can not be tested is refused with the place', () => {
  test('a Goal without callees', () => {
    for (const goal of [goalFile(), goalFile({ callees: [] })]) {
      expect(refusalOf(goal)).toMatchObject({
        code: 'goal_invalid',
        details: { problems: [{ pointer: '/callees' }] },
      });
    }
  });

  test('a callee without a required variable, by name', () => {
    const callees = [callee({ variables: ada }), { phone: '+12125550100', name: 'Nobody’s guest' }];
    expect(refusalOf(goalFile({ callees }))).toMatchObject({
      code: 'goal_invalid',
      details: {
        problems: [
          { pointer: '/callees/1/variables', message: 'Nobody’s guest: variables.name is required' },
        ],
      },
    });
  });

  test('a Goal whose agent can not speak here', () => {
    const goal = goalFile({ callees: [callee()], agent: { kind: 'realtime' } });
    expect(refusalOf(goal)).toMatchObject({ code: 'goal_not_ready', status: 409 });
    const german = goalFile({ callees: [callee()], locale: 'de-DE' });
    const { details } = refusalOf(german);
    expect(details).toEqual({ problems: [expect.stringContaining('does not speak the locale de-DE')] });
  });
});

describe('a test is bounded', () => {
  const many = (count: number) => Array.from({ length: count }, () => callee({ says: says('Yes.') }));

  test('few calls are held at once', async () => {
    let now = 0;
    let most = 0;
    const counting: Agent = {
      ...scripted,
      async converse(...call) {
        now += 1;
        most = Math.max(most, now);
        const end = await scripted.converse(...call);
        now -= 1;
        return end;
      },
    };
    const { tests } = await run(many(12), { agents: [counting] });
    expect(tests).toHaveLength(12);
    expect(most).toBe(4);
  });

  test('when it is stopped, calls end and the rest are not run; all are reported', async () => {
    const stop = new AbortController();
    const running = run(many(6), { agents: [mute], signal: stop.signal });
    setImmediate(() => stop.abort());
    const { summary, tests } = await running;
    expect(summary).toMatchObject({ passed: 0, not_run: 6 });
    expect(tests[5]).toMatchObject({
      verdict: 'not_run',
      actual: null,
      note: expect.stringContaining('stopped'),
    });
  });

  /** Lets time pass until the promise settles. */
  async function pass<T>(ticking: ReturnType<typeof createManualClock>, stepMs: number, work: Promise<T>) {
    const settled = new AbortController();
    void work.finally(() => settled.abort());
    while (!settled.signal.aborted) {
      ticking.advance(stepMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return work;
  }

  /** Thinks for ever. */
  const thinking: Agent = { ...mute, converse: () => new Promise(() => undefined) };
  const longCall = { limits: { ring_seconds: 30, call_seconds: 3_600 } };

  test('one call may take three minutes of real time, whatever its agent does', async () => {
    const ticking = createManualClock(calleeLimitMs);
    const work = run(many(1), { agents: [thinking], clock: ticking, goal: longCall });
    const { tests } = await pass(ticking, 1_000, work);
    expect(tests[0]).toMatchObject({
      verdict: 'not_run',
      note: 'the call took longer than 180 s',
      took_seconds: expect.closeTo(180, -1),
    });
  });

  test('all of them may take ten minutes', async () => {
    const ticking = createManualClock(calleeLimitMs);
    const work = run(many(20), { agents: [thinking], clock: ticking, goal: longCall });
    const { summary, tests } = await pass(ticking, 1_000, work);
    expect(summary).toMatchObject({ not_run: 20 });
    expect(summary.took_seconds).toBeLessThan(testLimitMs / 1_000 + 30);
    expect(tests[19]?.took_seconds).toBe(0);
  });

  test('a fifth test at the same time is refused, until one of four is over', async () => {
    const tester = testerWith({ agents: [mute] });
    const order = { goal: goalFile({ callees: [callee()] }), callerName: 'Acme' };
    const stop = new AbortController();
    const four = Array.from({ length: 4 }, () =>
      tester.run(tester.prepare(order), () => undefined, stop.signal),
    );
    expect(() => tester.prepare(order)).toThrow('4 tests are under way');
    stop.abort();
    await Promise.all(four);
    expect(tester.prepare(order).calls).toHaveLength(1);
  });
});
