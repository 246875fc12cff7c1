import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptRuns, findAcceptingGoal, findRunByKey, isDoNotCall } from '../../src/storage/acceptance.ts';
import {
  claimToCancel,
  endExecution,
  findAttempt,
  intendToDial,
  recordAnswer,
  recordAnsweredBy,
  recordOptOut,
  recordMedia,
  recordRinging,
  recordTurn,
  requestCancel,
} from '../../src/storage/attempts.ts';
import { findHearing, findNewestNote } from '../../src/storage/audit.ts';
import * as callAcceptance from '../../src/storage/call-acceptance.ts';
import * as callViews from '../../src/storage/call-views.ts';
import * as calls from '../../src/storage/calls.ts';
import { listAccountCalls } from '../../src/storage/console-calls.ts';
import { listMovingCalls, listMovingDeliveries } from '../../src/storage/console-views.ts';
import type { Database, Statement } from '../../src/storage/database.ts';
import * as events from '../../src/storage/events.ts';
import { acceptInbound, findInboundRun, findLine, findRunOfCall } from '../../src/storage/inbound.ts';
import {
  claimDialJobs,
  claimJobs,
  findExpiredJobs,
  putBackJob,
  renewLeases,
  seizeExpiredJob,
} from '../../src/storage/jobs.ts';
import {
  findCallConversations,
  findResultSchema,
  findTurns,
  publishResult,
} from '../../src/storage/results.ts';
import { findGoalRuns } from '../../src/storage/runs.ts';
import {
  addDailySpend,
  countDailyCall,
  countTrunkCall,
  releaseTrunkLine,
  renewTrunkLines,
  takeTrunkLine,
  takeTrunkTurn,
} from '../../src/storage/trunk-slots.ts';
import {
  claimDeliveries,
  forgetOldEvents,
  readyDueDeliveries,
  recordTries,
} from '../../src/storage/deliveries.ts';
import {
  findDelivery,
  listDeliveries,
  listDeliveriesOfAccount,
  listDeliveriesOfCall,
  listDeliveriesOfEndpoint,
  listTries,
  replayDelivery,
} from '../../src/storage/delivery-views.ts';
import {
  findUncounted,
  findUsageMonth,
  listUsage,
  listUsageOfRun,
  listUsedBudgets,
  markBudgetTold,
  recordUsage,
  sumUsage,
  sumUsageByDay,
  sumUsageByGoal,
} from '../../src/storage/usage.ts';
import { beat } from '../../src/storage/workers.ts';
import { enqueueTestEvent, enqueueWebhooks, listEndpointsOfAccount } from '../../src/storage/webhooks.ts';
import { databases, freshDatabase, type TestDatabase } from '../kit/database.ts';

const hot: readonly Statement<unknown>[] = [
  acceptRuns,
  findAcceptingGoal,
  findRunByKey,
  isDoNotCall,
  findGoalRuns,
  claimDialJobs,
  claimJobs,
  findExpiredJobs,
  putBackJob,
  renewLeases,
  seizeExpiredJob,
  intendToDial,
  recordRinging,
  recordAnswer,
  recordAnsweredBy,
  recordOptOut,
  recordTurn,
  recordMedia,
  endExecution,
  findAttempt,
  requestCancel,
  claimToCancel,
  findResultSchema,
  findTurns,
  publishResult,
  findLine,
  acceptInbound,
  findRunOfCall,
  findInboundRun,
  findCallConversations,
  ...Object.values(callAcceptance),
  ...Object.values(callViews).filter((value) => typeof value !== 'string'),
  ...Object.values(calls),
  ...Object.values(events).filter((value) => typeof value !== 'function'),
  takeTrunkLine,
  takeTrunkTurn,
  renewTrunkLines,
  releaseTrunkLine,
  countDailyCall,
  countTrunkCall,
  addDailySpend,
  enqueueWebhooks,
  enqueueTestEvent,
  listEndpointsOfAccount,
  claimDeliveries,
  recordTries,
  readyDueDeliveries,
  forgetOldEvents,
  findDelivery,
  listDeliveries,
  listDeliveriesOfEndpoint,
  listDeliveriesOfAccount,
  listDeliveriesOfCall,
  listTries,
  replayDelivery,
  listAccountCalls,
  listMovingCalls,
  listMovingDeliveries,
  findHearing,
  findNewestNote,
  findUncounted,
  recordUsage,
  listUsedBudgets,
  markBudgetTold,
  findUsageMonth,
  sumUsage,
  sumUsageByDay,
  sumUsageByGoal,
  listUsage,
  listUsageOfRun,
  beat,
];

describe.each(databases)('the plan that is made on empty tables on %s', (kind) => {
  let test: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    test = await freshDatabase(kind);
    db = test.db;
  });
  afterAll(() => test.close());

  // It is kept, and the tables are soon full: a plan that reads a table whole would then read millions of rows.
  it.each(hot.map((statement) => [statement.name, statement] as const))(
    'of %s looks everything up by key',
    async (name, { text }) => {
      const parameters = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place)));
      const nulls = Array.from({ length: parameters }, () => 'null').join(', ');
      const rows = await db.transaction(async (tx) => {
        await tx.query({ name: `prepare_${name}`, text: `prepare planned as ${text}` });
        const explain = `explain (costs off) execute planned(${nulls})`;
        const planned = await tx.query<{ 'QUERY PLAN': string }>({ name: `explain_${name}`, text: explain });
        await tx.query({ name: `deallocate_${name}`, text: 'deallocate planned' });
        return planned;
      });
      const plan = rows.map((row) => row['QUERY PLAN']);
      expect(plan.join('\n')).not.toMatch(/Seq Scan|Hash (\w+ )?Join|Merge (\w+ )?Join|Bitmap/);
      // A key of several columns is used with all of them; `queue` alone would be half of the table.
      const scans = plan.flatMap((line, index) =>
        line.includes('Scan using') ? [`${line.trim()} ${plan[index + 1]?.trim()}`] : [],
      );
      expect(scans.filter((scan) => !scan.includes('Index Cond'))).toEqual([]);
      expect(scans.filter((scan) => scan.includes('jobs_pkey') && !scan.includes('subject_id'))).toEqual([]);
    },
  );
});
