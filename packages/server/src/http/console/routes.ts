/**
 * The console: its pages under `/console`, and their API under `/console/api`. Refusals have the envelope of all
 * others.
 *
 *   /console/api/session, /links     for everybody, rate-limited
 *   /console/api/…                   behind a session; what of it a person may do stands in `access.ts`
 *   /console/…                       files of the build; every other path is the page
 */
import type { FastifyPluginAsync } from 'fastify';
import type { Leg } from '../../carriers/carrier.ts';
import type { Readiness } from '../../authoring/readiness.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RingNumber } from '../../inbound/ring.ts';
import type { Ids } from '../../platform/ids.ts';
import type { Endpoints } from '../../publication/endpoints.ts';
import type { Logger } from '../../platform/log.ts';
import type { Rehearsals } from '../../rehearsal/rehearse.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import type { Environment } from '../../storage/deployment.ts';
import type { GoalTester } from '../../rehearsal/test-goal.ts';
import type { DeploymentFacts } from '../operator/system.ts';
import { noSuchPath } from '../exchange.ts';
import { requireAccount } from './access.ts';
import { accountRoutes } from './accounts.ts';
import { auditRoutes } from './audit.ts';
import { callRoutes } from './calls.ts';
import { goalRoutes } from './goals.ts';
import { keyRoutes } from './keys.ts';
import { listenRoutes } from './listen.ts';
import { liveRoutes } from './live.ts';
import { numberRoutes } from './numbers.ts';
import { overviewRoutes } from './overview.ts';
import { pages } from './pages.ts';
import { peopleRoutes } from './people.ts';
import { recordingRoutes } from './recordings.ts';
import { runRoutes } from './runs.ts';
import { linkRoutes, sessionRoutes } from './session.ts';
import { usageRoutes } from './usage.ts';
import { systemRoutes } from './system.ts';
import { talkRoutes } from './talk.ts';
import { requireOwnPage, requireSession } from './visitor.ts';
import { webhookRoutes } from './webhooks.ts';

export interface ConsoleDeps {
  readonly db: Database;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly readiness: Readiness;
  readonly goalTester: GoalTester;
  /** What is wrong with the providers of this process; a sentence each. */
  readonly providerProblems: () => readonly string[];
  readonly rehearsals: Rehearsals;
  readonly log: Logger;
  readonly facts: DeploymentFacts;
  /** As for the operator API. */
  readonly onWanted: () => void;
  /** As for the operator API; `note` is called in the transaction that stops the run. */
  readonly cancelRun: (
    runId: string,
    note: (tx: Queryable) => Promise<void>,
  ) => Promise<'stopping' | 'ended'>;
  /** The same for a call without a Goal. */
  readonly stopCall: (
    callId: string,
    note: (tx: Queryable) => Promise<void>,
  ) => Promise<'stopping' | 'ended'>;
  /** The leg on which this process talks for a run now; null when it does not. */
  readonly legOf: (runId: string) => Leg | null;
  readonly endpoints: Endpoints;
  /** The directory of the recordings that this machine has. */
  readonly recordings: string;
  readonly ringNumber: RingNumber;
  /** How browsers reach the service, when that is not the address that they name. */
  readonly publicUrl: string | null;
  /** The build of `packages/console`. */
  readonly directory: string;
}

export function consoleRoutes(deps: ConsoleDeps): FastifyPluginAsync {
  return async (app) => {
    await app.register(
      async (api) => {
        api.addHook('onRequest', requireOwnPage(deps.publicUrl));
        linkRoutes(api, deps);
        const nothing = () => {
          throw noSuchPath();
        };
        api.all('/', nothing);
        api.all('/*', nothing);
        await api.register(async (inside) => {
          inside.addHook('onRequest', requireSession(deps.db));
          inside.addHook('onRequest', requireAccount(deps.db));
          sessionRoutes(inside, deps);
          overviewRoutes(inside, deps);
          goalRoutes(inside, deps);
          runRoutes(inside, deps);
          recordingRoutes(inside, deps);
          callRoutes(inside, deps);
          webhookRoutes(inside, deps);
          keyRoutes(inside, deps);
          numberRoutes(inside, deps);
          accountRoutes(inside, deps);
          peopleRoutes(inside, deps);
          auditRoutes(inside, deps);
          usageRoutes(inside, deps);
          systemRoutes(inside, deps);
          liveRoutes(inside, deps);
          talkRoutes(inside, deps);
          listenRoutes(inside, deps);
        });
      },
      { prefix: '/api' },
    );
    await app.register(pages(deps.directory));
  };
}
