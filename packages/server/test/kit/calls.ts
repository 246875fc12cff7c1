/** What calls without a Goal need, for tests: the rule-based reader, the scripted agent's locales, no limits. */
import { createCallAcceptance, type CallAcceptanceDependencies } from '../../src/acceptance/accept-call.ts';
import type { CallAcceptance } from '../../src/acceptance/call-acceptance.ts';
import { createRuleReader } from '../../src/acceptance/task-reader/rule-reader.ts';
import { localeFor } from '../../src/agents/scripted/locales/locale.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Ids } from '../../src/platform/ids.ts';
import type { Database } from '../../src/storage/database.ts';
import { takeBackCall } from '../../src/worker/cancel-call.ts';

const speaks = (locale: string): boolean => localeFor(locale) !== null;

function callAcceptance(
  db: Database,
  clock: Clock,
  ids: Ids,
  over: Partial<CallAcceptanceDependencies> = {},
): CallAcceptance {
  return createCallAcceptance({
    db,
    clock,
    ids,
    reader: createRuleReader({ speaks }),
    speaks,
    agent: { kind: 'scripted' },
    readiness: () => [],
    forbids: () => null,
    urlProblem: async (url: string) => (url.startsWith('https://') ? null : 'must begin with https://'),
    maxQueuedTasks: 1_000,
    onAccepted: () => undefined,
    ...over,
  });
}

/** The call part of the HTTP application's dependencies. */
export function callDependencies(
  db: Database,
  clock: Clock,
  ids: Ids,
  over: Partial<CallAcceptanceDependencies> = {},
) {
  return {
    acceptance: callAcceptance(db, clock, ids, over),
    takeBack: (callId: string) => takeBackCall(db, { clock, ids }, callId),
  };
}
