import {
  agentKinds,
  type AgentKind,
  type CalleeTest,
  type GoalFileProblem,
  type GoalTestSummary,
  type Scalar,
  type TestVerdict,
} from '@trunkcall/contract';
import { TrunkcallError } from '@trunkcall/sdk';
import { parseGoalFile } from '@trunkcall/server/goal-file';
import { Option, type Command } from 'commander';
import { Failure, goalFileFailure } from '../failure.ts';
import { readGoalFile } from '../goal-file.ts';
import type { Context } from '../program.ts';
import { minutes, printable, section, table } from '../report.ts';

interface TestOptions {
  readonly agent?: AgentKind;
  readonly local?: boolean;
  readonly transcripts?: boolean;
}

interface Tested extends GoalTestSummary {
  /** In the order of the file. */
  readonly callees: readonly CalleeTest[];
}

export function goalTestCommand(command: Command, context: Context): void {
  command
    .description('call the scripted callees of a Goal and compare; ends with 1 when one is not as expected')
    .argument('<file>', 'a Goal file in YAML or JSON, or the id of a Goal whose draft to test')
    .addOption(new Option('--agent <kind>', 'who speaks instead of the Goal’s own agent').choices(agentKinds))
    .option('--local', 'test in this process, by its own TRUNKCALL_* settings; needs no service')
    .option('--transcripts', 'print every conversation, not only those that failed')
    .action(async (file: string, options: TestOptions) => {
      const tested = await (options.local === true ? testHere : testThere)(context, file, options);
      context.report.print(tested, (document) => testText(document, options.transcripts === true));
      if (tested.failed + tested.not_run > 0) context.exitWith(1);
    });
}

const isGoalId = (argument: string) => /^goal_[A-Za-z0-9]+$/.test(argument);

async function testThere({ connect }: Context, file: string, { agent }: TestOptions): Promise<Tested> {
  const goal = isGoalId(file) ? file : await readGoalFile(file);
  const client = await connect();
  const callees: CalleeTest[] = [];
  try {
    for await (const line of client.testGoal(goal, agent === undefined ? {} : { agent })) {
      if (line.object === 'goal_test') return whole(line, callees);
      callees.push(line);
    }
  } catch (error) {
    if (error instanceof TrunkcallError && !isGoalId(file)) throw namedFile(file, error);
    throw error;
  }
  throw new Failure('broken_off', 'the test broke off before its end; try it again');
}

async function testHere({ server }: Context, file: string, { agent }: TestOptions): Promise<Tested> {
  const { text } = await readGoalFile(file);
  const parsed = parseGoalFile(text);
  if (!parsed.ok) throw goalFileFailure(file, parsed.problems);
  const here = await server();
  const callees: CalleeTest[] = [];
  const order = { goal: parsed.file, agent, callerName: 'Trunkcall' };
  try {
    return whole(await here.testGoalHere(order, (test) => callees.push(test)), callees);
  } catch (error) {
    // A refusal of the server’s, which did not come by HTTP.
    if (error instanceof Error && 'code' in error && 'details' in error) throw namedFile(file, error);
    throw error;
  }
}

const whole = (summary: GoalTestSummary, callees: readonly CalleeTest[]): Tested => ({
  ...summary,
  callees: callees.toSorted((a, b) => a.index - b.index),
});

/** Who tested a file knows it by its name. */
function namedFile(file: string, error: { readonly code?: unknown; readonly details?: unknown }): unknown {
  const { problems } = { problems: [], ...(error.details as { problems?: readonly GoalFileProblem[] }) };
  if (error.code === 'goal_invalid') return goalFileFailure(file, problems);
  if (error.code !== 'goal_not_ready') return error;
  return new Failure('goal_not_ready', `${file} can not be tested with this agent here`, {
    details: { problems },
  });
}

const marks: Readonly<Record<TestVerdict, string>> = {
  passed: '✓',
  failed: '✗',
  not_judged: '?',
  not_run: '–',
};

function testText({ callees, agent, ...counts }: Tested, transcripts: boolean): string {
  const rows = callees.map((test) => [
    marks[test.verdict],
    test.name,
    endText(test),
    test.call_seconds === null ? '' : minutes(test.call_seconds),
  ]);
  const shown = callees.filter(({ verdict }) => transcripts || verdict === 'failed' || verdict === 'not_run');
  const { passed, failed, not_judged, not_run } = counts;
  const sum = [
    `${passed} passed`,
    `${failed} failed`,
    ...(not_run > 0 ? [`${not_run} not run`] : []),
    ...(not_judged > 0 ? [`${not_judged} not judged: write what to \`expect\` of them`] : []),
  ];
  return [
    table(['', 'CALLEE', 'ENDED', 'CALL'], rows),
    ...shown.map((test) => section(`${marks[test.verdict]} ${printable(test.name)}`, detailText(test))),
    `${sum.join(', ')} (${agent} agent, ${counts.took_seconds.toFixed(1)} s)`,
  ].join('\n\n');
}

function endText({ actual, note }: CalleeTest): string {
  if (actual === null) return note ?? 'not run';
  if (actual.error === null) return 'a result';
  const { code, detail_code: detail } = actual.error;
  return detail === null || detail === code ? code : `${code}: ${detail}`;
}

function detailText({ differences, note, transcript }: CalleeTest): string {
  const lines = [
    ...differences.map(
      ({ pointer, expected, actual }) =>
        `${pointer}: expected ${valueText(expected)}, was ${valueText(actual)}`,
    ),
    ...(note === null ? [] : [note]),
    ...transcript.map(
      ({ speaker, text, offset_seconds, interrupted }) =>
        `${minutes(offset_seconds)} ${speaker}${interrupted ? ' (cut short)' : ''}: ${text}`,
    ),
  ];
  return lines.map(printable).join('\n');
}

const valueText = (value: Scalar | null): string => (value === null ? 'none' : JSON.stringify(value));
