/**
 * The operator API, mounted at `/operator/v1`. Every route asks for an operator token first; the envelope of
 * refusals, unknown paths and wrong methods come from the application around it.
 */
import type { FastifyPluginAsync } from 'fastify';
import type { Keyring } from '../../authoring/keys.ts';
import type { Readiness } from '../../authoring/readiness.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RingNumber } from '../../inbound/ring.ts';
import type { Ids } from '../../platform/ids.ts';
import type { Endpoints } from '../../publication/endpoints.ts';
import type { Database } from '../../storage/database.ts';
import type { Environment } from '../../storage/deployment.ts';
import type { GoalTester } from '../../rehearsal/test-goal.ts';
import { accountRoutes } from './accounts.ts';
import { requireOperator } from './auth.ts';
import { operatorCallRoutes } from './calls.ts';
import { doctorRoutes } from './doctor.ts';
import { goalRoutes } from './goals.ts';
import { keyRoutes } from './keys.ts';
import { numberRoutes } from './numbers.ts';
import { peopleRoutes } from './people.ts';
import { runRoutes, type Stop } from './runs.ts';
import { usageRoutes } from './usage.ts';
import { systemRoutes, type DeploymentFacts } from './system.ts';
import { trunkRoutes } from './trunks.ts';
import { webhookRoutes } from './webhooks.ts';
import { workerRoutes } from './workers.ts';

export interface OperatorDeps {
  readonly db: Database;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly environment: Environment;
  /** One more token that is accepted, beside those in the database. */
  readonly configuredToken: string | null;
  readonly keys: Keyring;
  readonly readiness: Readiness;
  readonly goalTester: GoalTester;
  /** What is wrong with the providers of this process; a sentence each. */
  readonly providerProblems: () => readonly string[];
  readonly endpoints: Endpoints;
  readonly ringNumber: RingNumber;
  readonly facts: DeploymentFacts;
  /** Told that a process is to drain, or that a test call waits. */
  readonly onWanted: () => void;
  /** The directory of the recordings that this machine has. */
  readonly recordings: string;
  /**
   * Stops a run that has not ended, given its `run_id`; a live call is hung up shortly after. Ends with whether
   * there was something to stop.
   */
  readonly cancelRun: Stop;
  /** The same for a call task or a one-shot call. */
  readonly stopCall: Stop;
}

export function operatorRoutes(deps: OperatorDeps): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', requireOperator(deps.db, deps.configuredToken, deps.clock));
    accountRoutes(app, deps);
    keyRoutes(app, deps);
    peopleRoutes(app, deps);
    goalRoutes(app, deps);
    runRoutes(app, deps);
    operatorCallRoutes(app, deps);
    numberRoutes(app, deps);
    webhookRoutes(app, deps);
    usageRoutes(app, deps);
    doctorRoutes(app, deps);
    systemRoutes(app, deps);
    workerRoutes(app, deps);
    trunkRoutes(app, { ...deps, book: deps.facts.book });
  };
}
