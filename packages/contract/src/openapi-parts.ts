/** The parts of which the operations of the OpenAPI documents are made. */
import { apiErrors, type ApiErrorCode } from './errors.ts';

/** Of the documents and what they describe. */
export const documentVersion = '0.6.0';

export type Json = Readonly<Record<string, unknown>>;

/** Refers to a component by its name. */
export const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

export const headers: Record<string, Json> = {
  RequestId: { description: 'Our id of this exchange; name it in reports.', schema: { type: 'string' } },
  RetryAfter: { description: 'Whole seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  Location: { description: 'Path of the Goal Run, relative to the service.', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: '`true` when the request had been accepted before.',
    schema: { type: 'string', const: 'true' },
  },
  Allow: { description: 'The methods that the path takes.', schema: { type: 'string' } },
  WwwAuthenticate: { description: 'The scheme that is asked for.', schema: { type: 'string' } },
};

export const headerReference = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
const requestIdHeader = { 'Request-Id': headerReference('RequestId') };

export const pathParameter = (name: string, description: string, example: string): Json => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
  example,
});
export const json = (schema: Json, examples: Json = {}): Json => ({
  'application/json': Object.keys(examples).length === 0 ? { schema } : { schema, examples },
});

/** What any operation may answer; codes that share a status share a response. */
export const everywhere: readonly ApiErrorCode[] = [
  'invalid_request',
  'method_not_allowed',
  'request_timeout',
  'headers_too_large',
  'internal_error',
  'provider_unavailable',
];
/** Of the operator API: its token may do everything. */
export const withToken: readonly ApiErrorCode[] = [...everywhere, 'unauthorized', 'rate_limit_exceeded'];
export const withKey: readonly ApiErrorCode[] = [
  ...everywhere,
  'unauthorized',
  'forbidden',
  'rate_limit_exceeded',
];

const extraHeaders: Partial<Record<number, Json>> = {
  401: { 'WWW-Authenticate': headerReference('WwwAuthenticate') },
  405: { Allow: headerReference('Allow') },
  429: { 'Retry-After': headerReference('RetryAfter') },
  503: { 'Retry-After': headerReference('RetryAfter') },
};

/** One response for each status that the codes can have. */
export function refusals(codes: readonly ApiErrorCode[]): Json {
  const statuses = new Set(codes.flatMap((code) => [...apiErrors[code].statuses]));
  return Object.fromEntries(
    [...statuses]
      .toSorted((a, b) => a - b)
      .map((status) => {
        const here = codes.filter((code) => apiErrors[code].statuses.some((other) => other === status));
        return [String(status), refusal(status, here)];
      }),
  );
}

function refusal(status: number, codes: readonly ApiErrorCode[]): Json {
  const lines = codes.map((code) => `\`${code}\`: ${apiErrors[code].meaning} ${apiErrors[code].action}`);
  const examples = codes.map((code) => [
    code,
    { value: { error: { code, message: apiErrors[code].meaning, details: {} } } },
  ]);
  return {
    description: lines.join('\n\n'),
    headers: { ...requestIdHeader, ...extraHeaders[status] },
    content: json(reference('Error'), Object.fromEntries(examples)),
  };
}

export const success = (
  description: string,
  schema: Json,
  examples: Json = {},
  moreHeaders: Json = {},
): Json => ({
  description,
  headers: { ...requestIdHeader, ...moreHeaders },
  content: json(schema, examples),
});

/** A schema as plain JSON, in which components are references, itself too if it is one. */
export const referring = (schema: object): Json => withReferences(JSON.parse(JSON.stringify(schema))) as Json;

/** A component as plain JSON, in which other components are references. */
export function componentSchema(schema: object): unknown {
  const { $id: _ownName, ...rest } = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
  return withReferences(rest);
}

function withReferences(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withReferences);
  if (typeof node !== 'object' || node === null) return node;
  if ('$id' in node && typeof node.$id === 'string') return { $ref: `#/components/schemas/${node.$id}` };
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, withReferences(value)]));
}
