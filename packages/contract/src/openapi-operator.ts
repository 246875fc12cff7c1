/** The OpenAPI 3.1 document of the operator API, made from the schemas of its requests and answers. */
import { CallTask, OneShotCall } from './calls.ts';
import { GoalFile } from './goal-file.ts';
import { CalleeTest, GoalTestLine, GoalTestSummary, TestDifference, TestEnd, TestTurn } from './goal-test.ts';
import { accountPaths } from './openapi-operator-accounts.ts';
import { goalPaths } from './openapi-operator-goals.ts';
import { sharedResponses } from './openapi-operator-parts.ts';
import { systemPaths } from './openapi-operator-system.ts';
import { componentSchema, documentVersion, headers, type Json } from './openapi-parts.ts';
import type { OpenApiOptions } from './openapi.ts';
import { AccountDisclosure, CreatedKey, OperatorAccount, OperatorKey } from './operator.ts';
import { OperatorCall, OperatorCallDetail } from './operator-calls.ts';
import {
  GoalFileProblem,
  GoalValidation,
  OperatorGoal,
  OperatorGoalDetail,
  OperatorGoalVersion,
} from './operator-goals.ts';
import { OperatorNumber, RungNumber } from './operator-numbers.ts';
import { OperatorInvitation, OperatorPerson, PersonLink } from './operator-people.ts';
import {
  OperatorAttempt,
  OperatorEvent,
  OperatorEvidence,
  OperatorNote,
  OperatorRun,
  OperatorRunDetail,
  OperatorTurn,
  RunProgress,
  TurnLatency,
} from './operator-runs.ts';
import {
  Alert,
  DoctorReport,
  OperatorWorker,
  ProviderReport,
  SettingInForce,
  SystemReport,
} from './operator-system.ts';
import { MediaQuality, OperatorTestCall, OperatorTrunk, TrunkReport } from './operator-trunks.ts';
import {
  OperatorDelivery,
  OperatorDeliveryDetail,
  OperatorDeliveryTry,
  OperatorWebhook,
  WebhookWithSecret,
} from './operator-webhooks.ts';
import { ErrorEnvelope } from './schemas.ts';
import {
  AccountTotals,
  DeploymentUsage,
  UsageAmounts,
  UsageBudget,
  UsageByCall,
  UsageByDay,
  UsageByGoal,
  UsageCall,
  UsageDay,
  UsageGoal,
} from './usage.ts';

/** Each goes by its `$id`. */
const components = [
  OperatorAccount,
  AccountDisclosure,
  OperatorKey,
  CreatedKey,
  OperatorPerson,
  OperatorInvitation,
  PersonLink,
  OperatorNumber,
  RungNumber,
  UsageAmounts,
  UsageBudget,
  UsageByDay,
  UsageByGoal,
  UsageByCall,
  UsageDay,
  UsageGoal,
  UsageCall,
  DeploymentUsage,
  AccountTotals,
  GoalFile,
  GoalFileProblem,
  GoalValidation,
  OperatorGoal,
  OperatorGoalDetail,
  OperatorGoalVersion,
  GoalTestLine,
  CalleeTest,
  GoalTestSummary,
  TestEnd,
  TestDifference,
  TestTurn,
  OperatorRun,
  OperatorRunDetail,
  RunProgress,
  OperatorAttempt,
  OperatorTurn,
  OperatorNote,
  OperatorEvent,
  OperatorEvidence,
  TurnLatency,
  MediaQuality,
  OperatorCall,
  OperatorCallDetail,
  CallTask,
  OneShotCall,
  OperatorWebhook,
  WebhookWithSecret,
  OperatorDelivery,
  OperatorDeliveryDetail,
  OperatorDeliveryTry,
  OperatorWorker,
  ProviderReport,
  OperatorTrunk,
  TrunkReport,
  OperatorTestCall,
  SystemReport,
  DoctorReport,
  Alert,
  SettingInForce,
  ErrorEnvelope,
] as const;

export const operatorPrefix = '/operator/v1';

/** Builds the document; plain JSON. */
export function operatorOpenApiDocument({ baseUrl = '/' }: OpenApiOptions = {}): Json {
  const paths = Object.entries({ ...accountPaths, ...goalPaths, ...systemPaths });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trunkcall operator API',
      version: documentVersion,
      description:
        'Runs a deployment: what the CLI uses, and the same that people do in the console. Its token sees and may change every account. Unknown query parameters and fields are refused. A text of the format `printable-line` is one line without control characters and marks that turn the reading direction (U+202A–202E, U+2066–2069); `printable-text` may have line breaks and tabs.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    security: [{ operatorToken: [] }],
    tags: [
      { name: 'Accounts', description: 'Owners of Goals, keys and calls.' },
      { name: 'Keys', description: 'API keys for the Developer API.' },
      { name: 'People', description: 'Who uses the console, and what they may do there.' },
      { name: 'Numbers', description: 'Our own telephone numbers, and who answers them.' },
      { name: 'Usage', description: 'Previews of prices; nothing is charged.' },
      { name: 'Goals', description: 'Draft, test, publish, pause, retire.' },
      { name: 'Runs', description: 'Goal Runs with transcript, events and evidence.' },
      { name: 'Calls', description: 'Call tasks and one-shot calls.' },
      { name: 'Webhooks', description: 'Endpoints, and what was delivered to them.' },
      { name: 'Trunks', description: 'Routes into the telephone network.' },
      { name: 'Deployment', description: 'Processes, health and settings.' },
    ],
    paths: Object.fromEntries(paths.map(([path, item]) => [`${operatorPrefix}${path}`, item])),
    components: {
      securitySchemes: {
        operatorToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'An operator token, `tc_op_…`; the first start writes one to credentials.json.',
        },
      },
      headers,
      responses: sharedResponses,
      schemas: Object.fromEntries(
        components.map((schema) => [(schema as unknown as { $id: string }).$id, componentSchema(schema)]),
      ),
    },
  };
}
