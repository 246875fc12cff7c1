/** The operator API, its document, and what the console can change, side by side. */
import Fastify, { type FastifyPluginAsync } from 'fastify';
import { expect, it } from 'vitest';
import { operatorOpenApiDocument, operatorPrefix } from '@trunkcall/contract';
import { consoleRoutes, type ConsoleDeps } from '../../../src/http/console/routes.ts';
import { operatorRoutes, type OperatorDeps } from '../../../src/http/operator/routes.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { pathForm, type ApiDocument } from '../../kit/documented.ts';
import { facts } from '../../kit/facts.ts';

const { paths } = operatorOpenApiDocument() as unknown as ApiDocument;
const documented = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => method !== 'parameters')
    .map(([method, operation]) => ({
      name: `${method} ${pathForm(path)}`,
      id: (operation as unknown as { operationId: string }).operationId,
    })),
);

/** The routes that a plugin adds, as `method path`. What they need while they run stays away. */
async function routesOf(plugin: FastifyPluginAsync, prefix: string): Promise<string[]> {
  const app = Fastify();
  const routes: string[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.push(`${one.toLowerCase()} ${url}`);
  });
  await app.register(plugin, { prefix });
  await app.close();
  return routes.filter((route) => !route.startsWith('head '));
}

const needed = { facts, clock: systemClock, publicUrl: null, directory: '/nonexistent' };

it('has an operation for each route of the operator API, and a route for each operation', async () => {
  const routes = await routesOf(operatorRoutes(needed as unknown as OperatorDeps), operatorPrefix);
  expect(routes.map(pathForm).toSorted()).toEqual(documented.map(({ name }) => name).toSorted());
  expect(routes.length).toBeGreaterThan(60);
});

/** Only who has a session needs these. */
const sessionOnly = 'concerns the session or the password of one person';

/** What the console can change, and the operation that does the same; or why there is none. */
const changes: Readonly<Record<string, string | { readonly none: string }>> = {
  'post /session': { none: sessionOnly },
  'post /session/prolong': { none: sessionOnly },
  'delete /session': { none: sessionOnly },
  'post /session/password': { none: sessionOnly },
  'post /links/look': { none: 'is a read whose token must not stand in a URL' },
  'post /links/follow': { none: 'a person chooses a name and a password of their own' },
  'post /runs/:run/recording/hearings': { none: 'notes which person heard it; the token is no person' },
  'post /runs/:run/listenings': { none: 'notes which person listens in; the token is no person' },
  'post /accounts': 'createAccount',
  'patch /accounts/:account': 'updateAccount',
  'put /accounts/:account/budget': 'updateAccount',
  'post /accounts/:account/people': 'invitePerson',
  'post /accounts/:account/invitations/withdraw': 'withdrawInvitation',
  'put /accounts/:account/people/:person': 'setPersonRole',
  'delete /accounts/:account/people/:person': 'takePersonRole',
  'post /people/:person/password-link': 'createPasswordLink',
  'delete /people/:person': 'removePerson',
  'post /accounts/:account/keys': 'createKey',
  'post /keys/:key/revoke': 'revokeKey',
  'post /numbers': 'addNumber',
  'patch /numbers/:number': 'updateNumber',
  'post /numbers/:number/remove': 'removeNumber',
  'post /numbers/:number/ring': 'ringNumber',
  'post /accounts/:account/goals': 'createGoal',
  'put /goals/:goal/draft': 'replaceDraft',
  'post /goals/check': 'validateGoal',
  'post /goals/:goal/test': 'testGoal',
  'post /goals/:goal/publish': 'publishGoal',
  'post /goals/:goal/unpublish': 'unpublishGoal',
  'post /goals/:goal/pause': 'pauseGoal',
  'post /goals/:goal/resume': 'resumeGoal',
  'post /goals/:goal/retire': 'retireGoal',
  'post /goals/:goal/hide': 'hideGoal',
  'post /goals/:goal/list_publicly': 'listGoalPublicly',
  'post /runs/:run/cancel': 'cancelRun',
  'post /calls/:call/cancel': 'cancelCall',
  'post /accounts/:account/webhooks': 'createWebhook',
  'post /webhooks/:webhook/disable': 'disableWebhook',
  'post /webhooks/:webhook/enable': 'enableWebhook',
  'post /webhooks/:webhook/remove': 'removeWebhook',
  'post /webhooks/:webhook/rotate_secret': 'rotateWebhookSecret',
  'post /webhooks/:webhook/test': 'testWebhook',
  'post /webhook_deliveries/:delivery/replay': 'replayDelivery',
  'post /trunks/:trunk/test-calls': 'testTrunk',
  'post /workers/:worker/drain': 'drainWorker',
  'post /workers/:worker/resume': 'resumeWorker',
};

it('has an operation for whatever the console can change', async () => {
  const routes = await routesOf(consoleRoutes(needed as unknown as ConsoleDeps), '');
  const mutations = routes.filter(
    (route) =>
      /^(post|put|patch|delete) \/api\//.test(route) && !route.endsWith('/*') && route !== 'post /api/',
  );
  const names = mutations.map((route) => route.replace(' /api/', ' /'));
  expect(names.filter((name) => !(name in changes))).toEqual([]);
  expect(Object.keys(changes).filter((name) => !names.includes(name))).toEqual([]);
  const operations = Object.values(changes).filter((one) => typeof one === 'string');
  const ids = new Set(documented.map(({ id }) => id));
  expect(operations.filter((operation) => !ids.has(operation))).toEqual([]);
});
