/** The parts of which the operations of the operator API's OpenAPI document are made. */
import type { ApiErrorCode } from './errors.ts';
import { json, pathParameter, referring, refusals, success, withToken, type Json } from './openapi-parts.ts';

export interface Operation {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Json[];
  readonly requestBody?: Json;
  /** By HTTP status. */
  readonly answers: Json;
  /** Beside what every operation may answer. */
  readonly refuses?: readonly ApiErrorCode[];
}

const usualRefusals = refusals(withToken);

/** What every operation may answer, by the names of the components. */
export const sharedResponses: Json = Object.fromEntries(
  Object.entries(usualRefusals).map(([status, response]) => [`Refused${status}`, response]),
);
const sharedReferences: Json = Object.fromEntries(
  Object.keys(usualRefusals).map((status) => [status, { $ref: `#/components/responses/Refused${status}` }]),
);

export function operation({ tag, answers, refuses = [], ...rest }: Operation): Json {
  return { ...rest, tags: [tag], responses: { ...answers, ...sharedReferences, ...refusals(refuses) } };
}

/** An answer in JSON. */
export const answer = (description: string, schema: object, example?: Json): Json =>
  success(description, referring(schema), examplesOf(example));

/** A body in JSON. */
export const body = (schema: object, example?: Json): Json => ({
  required: true,
  description: 'At most 256 KiB.',
  content: json(referring(schema), examplesOf(example)),
});

const examplesOf = (example: Json | undefined): Json =>
  example === undefined ? {} : { example: { value: example } };

/** An answer that can also have another media type than JSON. */
export const orElse = (answered: Json, mediaType: string, description: string): Json => {
  const { content } = answered as { readonly content: Json };
  return {
    ...answered,
    content: { ...content, [mediaType]: { schema: { type: 'string', description } } },
  };
};

export const query = (name: string, description: string, schema: Json = { type: 'string' }): Json => ({
  name,
  in: 'query',
  description,
  schema,
});

/** What every list takes that goes page by page. */
export const page: readonly Json[] = [
  query('limit', 'How many items a page holds.', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
  query('after', 'The previous page’s `next_cursor`, unchanged.'),
];

export const ofAccount = query('account', 'Id or name of the account; all by default.');
export const requiredAccount: Json = { ...query('account', 'Id or name of the account.'), required: true };

export const exampleIds = {
  account: 'acct_06bq5m3v0j7w1e2r9t4y8z6xk1',
  key: 'key_06bq5m3v0j7w1k3m5n7p9r2tv6',
  goal: 'goal_06bq5m3v0j7w1e2r9t4y8z6xk1',
  run: 'grun_06bq5m8a1j7w1q0s2v4x6z8bn2',
  call: 'call_06bq5m8a1j7w1q0s2v4x6z8bn2',
  number: 'num_06bq5m8a1j7w1q0s2v4x6z8bn2',
  webhook: 'whe_06bq5m8a1j7w1q0s2v4x6z8bn2',
  delivery: 'dlv_06bq5m8a1j7w1q0s2v4x6z8bn2',
  person: 'prsn_06bq5m8a1j7w1q0s2v4x6z8bn2',
  worker: 'wrk_06bq5m8a1j7w1q0s2v4x6z8bn2',
  testCall: 'tcall_06bq5m8a1j7w1q0s2v4x6z8bn2',
} as const;

export const inPath = {
  account: pathParameter('account', 'The account’s id or name.', exampleIds.account),
  key: pathParameter('key_id', 'The key’s id; never the key.', exampleIds.key),
  goal: pathParameter('goal_id', 'The Goal’s id.', exampleIds.goal),
  run: pathParameter('run', 'The Goal Run’s id, or its `run_id`.', exampleIds.run),
  call: pathParameter('call_id', 'The call’s id.', exampleIds.call),
  number: pathParameter('number_id', 'The number’s id; never the number.', exampleIds.number),
  webhook: pathParameter('webhook_id', 'The endpoint’s id.', exampleIds.webhook),
  delivery: pathParameter('delivery_id', 'The delivery’s id.', exampleIds.delivery),
  person: pathParameter('person_id', 'The person’s id.', exampleIds.person),
  worker: pathParameter('worker_id', 'The process’s id.', exampleIds.worker),
  trunk: pathParameter('trunk', 'The trunk’s name.', 'north'),
  testCall: pathParameter('test_call_id', 'The test call’s id.', exampleIds.testCall),
} as const;
