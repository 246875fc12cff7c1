/**
 * The test of a Goal against its scripted callees: what `POST …/goals/test` answers, line by line (NDJSON). One line for
 * each callee as its call is over, then the summary. Nobody is phoned, and nothing of it is kept.
 */
import { Type } from 'typebox';
import { enumeration } from './enumeration.ts';
import { goalRunErrors, type GoalRunErrorCode } from './errors.ts';
import { ScriptedCallee, type AgentSettings, type GoalFile } from './goal-file.ts';
import { nullable } from './schemas.ts';
import { scalar, type Shape } from './shape.ts';

const closed = { additionalProperties: false } as const;

export const agentKinds = ['scripted', 'realtime', 'cascade'] as const satisfies AgentSettings['kind'][];
export type AgentKind = AgentSettings['kind'];

export interface GoalTestOrder {
  /** Valid, published or not. */
  readonly goal: GoalFile;
  /** Speaks instead of the Goal’s own agent, with the settings of the deployment. */
  readonly agent?: AgentKind | undefined;
  /** For whom the agent says that it calls. */
  readonly callerName: string;
}

/**
 * What a test says of a callee: the call ended as `expect` says; it did not; there is nothing to compare with; or the test
 * was stopped, or ran out of time, before the call was over.
 */
export const testVerdicts = ['passed', 'failed', 'not_judged', 'not_run'] as const;
export type TestVerdict = (typeof testVerdicts)[number];

export const TestTurn = Type.Object(
  {
    speaker: enumeration(['bot', 'user', 'unknown']),
    text: Type.String(),
    offset_seconds: Type.Number({ description: 'Since the answer.' }),
    interrupted: Type.Boolean(),
  },
  { ...closed, $id: 'TestTurn' },
);
export type TestTurn = Shape<typeof TestTurn>;

export const TestDifference = Type.Object(
  {
    pointer: Type.String({ description: 'RFC 6901 JSON pointer: `/result/FIELD` or `/error`.' }),
    expected: nullable(scalar('What it is.'), 'Null: nothing was expected here.'),
    actual: nullable(scalar('What it is.'), 'Null: there was nothing here.'),
  },
  { ...closed, $id: 'TestDifference', description: 'One place where a call ended otherwise than expected.' },
);
export type TestDifference = Shape<typeof TestDifference>;

export const TestEnd = Type.Object(
  {
    outcome: Type.String({
      description: 'How the telephone execution ended, such as `conversation` or `busy`.',
    }),
    result: nullable(Type.Record(Type.String(), scalar('A value.'))),
    error: nullable(
      Type.Object(
        {
          code: enumeration(Object.keys(goalRunErrors) as GoalRunErrorCode[]),
          detail_code: nullable(Type.String()),
        },
        closed,
      ),
    ),
  },
  { ...closed, $id: 'TestEnd', description: 'How a test call ended, as a Run that ends so would show it.' },
);
export type TestEnd = Shape<typeof TestEnd>;

export const CalleeTest = Type.Object(
  {
    object: Type.Literal('callee_test'),
    index: Type.Integer({ description: 'Place in `callees`, from 0.' }),
    name: Type.String({
      description: 'The callee’s name, or `callee 3` for the third when it has none; never its number.',
    }),
    verdict: enumeration(testVerdicts),
    expected: nullable(ScriptedCallee.properties.expect),
    actual: nullable(TestEnd, 'Null when the call did not come to an end.'),
    differences: Type.Array(TestDifference),
    note: nullable(
      Type.String(),
      'For the author: why the call did not come to an end, or what the agent says of its own failure.',
    ),
    transcript: Type.Array(TestTurn, { description: 'The first 200 turns; of long ones the beginning.' }),
    call_seconds: nullable(
      Type.Number(),
      'On the callee’s clock, since the answer; null when nobody answered.',
    ),
    took_seconds: Type.Number({ description: 'On the wall’s clock, with the drawing of the result.' }),
  },
  { ...closed, $id: 'CalleeTest' },
);
export type CalleeTest = Shape<typeof CalleeTest>;

export const GoalTestSummary = Type.Object(
  {
    object: Type.Literal('goal_test'),
    agent: enumeration(agentKinds, { description: 'Who spoke.' }),
    passed: Type.Integer(),
    failed: Type.Integer(),
    not_judged: Type.Integer(),
    not_run: Type.Integer(),
    took_seconds: Type.Number(),
  },
  { ...closed, $id: 'GoalTestSummary', description: 'The last line. Without it the test has broken off.' },
);
export type GoalTestSummary = Shape<typeof GoalTestSummary>;

export const GoalTestLine = Type.Union([CalleeTest, GoalTestSummary], { $id: 'GoalTestLine' });
export type GoalTestLine = Shape<typeof GoalTestLine>;
