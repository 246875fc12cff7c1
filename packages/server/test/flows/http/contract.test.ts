import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ids, startService, type Service } from './service.ts';

let service: Service;
let schemaOf: (path: string, method: string, status: number) => ValidateFunction;

beforeAll(async () => {
  service = await startService();
  const document = (await (await service.fetch('/openapi.json')).json()) as {
    paths: Record<
      string,
      Record<string, { responses: Record<string, { content: Record<string, { schema: object }> }> }>
    >;
  };
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
  ajv.addSchema({ ...document, $id: 'doc' });
  schemaOf = (path, method, status) => {
    const schema = document.paths[path]?.[method]?.responses[status]?.content['application/json']?.schema;
    if (schema === undefined) throw new Error(`${method} ${path} documents no ${status}`);
    return ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/')) as object);
  };
});
afterAll(() => service.close());

const runs = '/v1/goals/{goal_id}/runs';
const valid = { phone: '+12025550100', variables: { name: 'Ada' } };

/** Where a response departs from what the document says of this operation and status. */
async function departures(response: Response, path: string, method: string): Promise<unknown> {
  const validate = schemaOf(path, method, response.status);
  validate(await response.json());
  return validate.errors;
}

it('answers as the OpenAPI document says, when all is well', async () => {
  const created = await service.post(valid);
  const run = (await created.clone().json()) as { id: string };
  expect(await departures(created, runs, 'post')).toBeNull();
  const polled = await service.fetch(`/v1/goals/${service.goalId}/runs/${run.id}`);
  expect(await departures(polled, `${runs}/{goal_run_id}`, 'get')).toBeNull();
  expect(await departures(await service.fetch('/v1/goals'), '/v1/goals', 'get')).toBeNull();
  expect(
    await departures(await service.fetch(`/v1/goals/${service.goalId}`), '/v1/goals/{goal_id}', 'get'),
  ).toBeNull();
  expect(await departures(await service.fetch('/livez'), '/livez', 'get')).toBeNull();
  expect(await departures(await service.fetch('/readyz'), '/readyz', 'get')).toBeNull();
});

it('answers as the OpenAPI document says, when it refuses', async () => {
  const key = { 'idempotency-key': ids.next('evt') };
  await service.post(valid, key);
  const wrong = { authorization: 'Bearer x' };
  const refused: [Promise<Response>, number, string, string][] = [
    [service.post('{'), 400, runs, 'post'],
    [service.post(valid, wrong), 401, runs, 'post'],
    [service.post({ ...valid, phone: '+12025550101' }, key), 409, runs, 'post'],
    [service.post('x'.repeat(70_000)), 413, runs, 'post'],
    [service.post({ ...valid, task: '' }), 422, runs, 'post'],
    [service.post({ phone: 'x' }), 422, runs, 'post'],
    [service.fetch('/v1/goals?limit=0'), 400, '/v1/goals', 'get'],
    [service.fetch('/v1/goals', { headers: wrong }), 401, '/v1/goals', 'get'],
    [service.fetch('/v1/goals/none'), 404, '/v1/goals/{goal_id}', 'get'],
    [service.fetch('/v1/goals/none/runs/none'), 404, `${runs}/{goal_run_id}`, 'get'],
    [service.fetch('/v1/goals', { method: 'PUT' }), 405, '/v1/goals', 'get'],
  ];
  for (const [answer, status, path, method] of refused) {
    const response = await answer;
    expect(response.status).toBe(status);
    expect(await departures(response, path, method)).toBeNull();
  }
});
