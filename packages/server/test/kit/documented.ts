/** Holds the answers of a running application against an OpenAPI document. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifyInstance } from 'fastify';

interface Media {
  readonly schema: object;
  readonly examples?: Readonly<Record<string, unknown>>;
}
interface DocumentedResponse {
  /** Names one of the components, which then has the rest. */
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, Media>>;
}
interface DocumentedOperation {
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly responses?: Readonly<Record<string, DocumentedResponse>> };
}

/** A path without the names of its parameters: a route and the document may call them differently. */
export const pathForm = (path: string): string => path.replaceAll(/:\w+|\{\w+\}/g, '{}');

const formats = {
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  // Asked of what comes in; what was stored before is shown as it is.
  'printable-line': true as const,
  'printable-text': true as const,
};

/**
 * Looks at every answer below `prefix` from now on; must be called before the application listens. What it gives lists
 * where answers departed from the document: another status, code of refusal, media type or shape, unknown keys included.
 */
export function watchAnswers(
  app: FastifyInstance,
  document: object,
  prefix: string,
): () => readonly string[] {
  const { paths, components } = document as ApiDocument;
  const operations = new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, found]) => [`${method} ${pathForm(path)}`, found] as const),
    ),
  );
  const ajv = new Ajv2020({ strict: false, formats });
  ajv.addSchema({ ...document, $id: 'doc' });
  const compiled = new Map<object, ValidateFunction>();
  const validatorOf = (schema: object): ValidateFunction => {
    const validate =
      compiled.get(schema) ??
      ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/')) as object);
    compiled.set(schema, validate);
    return validate;
  };

  function departureOf(
    found: DocumentedOperation,
    status: number,
    type: string,
    text: string,
  ): string | null {
    const given = found.responses[status];
    const name = given?.$ref?.split('/').at(-1);
    const documented = name === undefined ? given : components.responses?.[name];
    if (documented === undefined) return `undocumented: ${text}`;
    const media = documented.content?.[type.split(';')[0] ?? ''];
    if (media === undefined) return `answers with ${type}`;
    if (!type.startsWith('application/json')) return null;
    const value = JSON.parse(text) as { readonly error?: { readonly code: string } };
    const validate = validatorOf(media.schema);
    if (!validate(value)) return JSON.stringify(validate.errors);
    const { code } = (status < 400 ? undefined : value.error) ?? {};
    const isKnown = code === undefined || media.examples === undefined || code in media.examples;
    return isKnown ? null : `refuses with ${code}`;
  }

  const departures = new Set<string>();
  app.addHook('onSend', async (request, reply, payload) => {
    const { url } = request.routeOptions;
    if (url === undefined || !url.startsWith(prefix) || url === `${prefix}/openapi.json`) return;
    const found = operations.get(`${request.method.toLowerCase()} ${pathForm(url)}`);
    const text = typeof payload === 'string' ? payload : '{}';
    const type = String(reply.getHeader('content-type'));
    const departure = found === undefined ? 'no operation' : departureOf(found, reply.statusCode, type, text);
    if (departure !== null) departures.add(`${request.method} ${url} ${reply.statusCode}: ${departure}`);
  });
  return () => [...departures];
}
