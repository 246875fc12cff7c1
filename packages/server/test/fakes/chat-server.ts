/**
 * A server for chat completions on a real socket, as strict as the provider: a request that it would not take is
 * written down in `violations` and answered with the provider's error.
 *
 * Its model is a function of the request. With `json_schema` it can not break the schema, unless it does not enforce
 * it; then it may.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly name: string; readonly strict: boolean; readonly schema: Json };
  };
}

type Json = Readonly<Record<string, unknown>>;

/** What goes wrong with one request. */
export type Fault =
  | { readonly status: number; readonly retryAfter?: string }
  /** The body of status 200. */
  | { readonly body: string }
  /** Nothing ever comes; the headers and nothing more; half a body and the socket breaks. */
  | 'hang'
  | 'stall'
  | 'drop'
  /** The answer, a few bytes at a time. */
  | 'drip'
  /** The connection is cut before a word. */
  | 'refuse'
  /** A body without an end. */
  | 'flood';

export interface ChatServerOptions {
  /** Text as it is, or an object that becomes JSON. */
  readonly model: (request: ChatRequest, index: number) => string | object;
  readonly key?: string;
  readonly formats?: readonly string[];
  /** `json_schema` is taken, and not kept to. */
  readonly enforces?: boolean;
  /** By request, from 0. */
  readonly fault?: (index: number) => Fault | null;
}

export interface ChatServer {
  readonly url: string;
  readonly key: string;
  readonly violations: readonly string[];
  readonly requests: readonly ChatRequest[];
  /** The formats that were asked for, also those that are not taken. */
  readonly formats: readonly string[];
  close(): Promise<void>;
}

export const modelName = 'test-model';

export async function startChatServer(options: ChatServerOptions): Promise<ChatServer> {
  const { key = 'sk-test', formats = ['json_schema', 'json_object', 'plain'], fault = () => null } = options;
  const violations: string[] = [];
  const requests: ChatRequest[] = [];
  const asked: string[] = [];
  const http = createServer((incoming, response) => {
    incoming.on('error', () => undefined);
    void read(incoming).then((body) => {
      const refusal = refuse(incoming, body, key, formats);
      if (refusal === null || refusal.message === formatUnknown) asked.push(formatOf(body));
      if (refusal !== null) {
        if (refusal.status !== 401 && refusal.message !== formatUnknown) violations.push(refusal.message);
        return sendError(response, refusal.status, refusal.message);
      }
      const request = JSON.parse(body) as ChatRequest;
      const index = requests.push(request) - 1;
      const wrong = fault(index);
      if (wrong !== null && wrong !== 'drip') return misbehave(wrong, incoming, response);
      const answer = options.model(request, index);
      const schema = request.response_format?.json_schema?.schema;
      if (typeof answer === 'object' && schema !== undefined && options.enforces !== false) {
        const problem = mismatch(schema, answer);
        if (problem !== null) violations.push(`the model can not answer this: ${problem}`);
      }
      const completed = completion(typeof answer === 'string' ? answer : JSON.stringify(answer));
      if (wrong === 'drip') drip(response.writeHead(200, json), completed);
      else send(response, completed);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    key,
    violations,
    requests,
    formats: asked,
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

const formatOf = (body: string): string => (JSON.parse(body) as ChatRequest).response_format?.type ?? 'plain';

async function read(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

const completion = (content: string): string =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: modelName,
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content, refusal: null } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });

const json = { 'content-type': 'application/json' };

function send(response: ServerResponse, body: string): void {
  response.writeHead(200, json).end(body);
}

/** As providers do, it quotes what it was sent. */
function sendError(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
) {
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  response.writeHead(status, { ...json, ...headers }).end(JSON.stringify({ error }));
}

function drip(response: ServerResponse, body: string): void {
  if (body === '') response.end();
  else response.write(body.slice(0, 7), () => setImmediate(drip, response, body.slice(7)));
}

function misbehave(fault: Exclude<Fault, 'drip'>, incoming: IncomingMessage, response: ServerResponse): void {
  if (typeof fault === 'object') {
    if ('body' in fault) return send(response, fault.body);
    const headers: Record<string, string> =
      fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter };
    return sendError(response, fault.status, 'Said: secret words. Key: sk-test.', headers);
  }
  switch (fault) {
    case 'hang':
      return;
    case 'refuse':
      incoming.socket.destroy();
      return;
    case 'stall':
      response.writeHead(200, json).write('{"id":');
      return;
    case 'drop':
      response.writeHead(200, json).write('{"id":', () => incoming.socket.destroy());
      return;
    case 'flood': {
      response.writeHead(200, json);
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      response.on('error', () => undefined);
      more();
    }
  }
}

const formatUnknown = 'Unsupported value: response_format.type';

interface Refused {
  readonly status: number;
  readonly message: string;
}

function refuse(
  incoming: IncomingMessage,
  body: string,
  key: string,
  formats: readonly string[],
): Refused | null {
  const { method, url, headers } = incoming;
  if (method !== 'POST' || url !== '/v1/chat/completions')
    return { status: 404, message: 'Unknown request URL' };
  if (headers.authorization !== `Bearer ${key}`)
    return { status: 401, message: `Incorrect API key provided: ${headers.authorization}` };
  if (headers['content-type']?.startsWith('application/json') !== true)
    return { status: 415, message: 'Unsupported media type' };
  const { model, messages, response_format: format, ...others } = JSON.parse(body) as ChatRequest;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return { status: 400, message: `Unrecognized request argument: ${unknown}` };
  if (model !== modelName) return { status: 404, message: 'The model does not exist' };
  const roles = ['system', 'user', 'assistant'];
  const wellFormed = messages.every(
    ({ role, content, ...rest }) =>
      roles.includes(role) && typeof content === 'string' && content !== '' && Object.keys(rest).length === 0,
  );
  if (messages.length === 0 || !wellFormed || messages.at(-1)?.role !== 'user')
    return { status: 400, message: 'Invalid messages' };
  if (!formats.includes(format?.type ?? 'plain')) return { status: 400, message: formatUnknown };
  return format === undefined ? null : formatProblem(format, messages);
}

function formatProblem(
  { type, json_schema: asked, ...others }: NonNullable<ChatRequest['response_format']>,
  messages: ChatRequest['messages'],
): Refused | null {
  const refused = (message: string): Refused => ({
    status: 400,
    message: `Invalid response_format: ${message}`,
  });
  if (Object.keys(others).length > 0) return refused('unknown parameter');
  if (type === 'json_object') {
    if (asked !== undefined) return refused('json_schema');
    return messages.some(({ content }) => /json/i.test(content))
      ? null
      : refused("messages must contain 'json'");
  }
  if (type !== 'json_schema' || asked === undefined) return refused('type');
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(asked.name) || !asked.strict) return refused('name or strict');
  if (asked.schema['type'] !== 'object') return refused('the root must be an object');
  const problem = strictProblem(asked.schema, 1);
  return problem === null ? null : refused(problem);
}

const keywords: Readonly<Record<string, readonly string[]>> = {
  object: ['type', 'description', 'properties', 'required', 'additionalProperties'],
  array: ['type', 'description', 'items'],
  string: ['type', 'description', 'enum'],
  number: ['type', 'description', 'enum'],
  integer: ['type', 'description', 'enum'],
  boolean: ['type', 'description', 'enum'],
  null: ['type'],
};
const maxNesting = 10;

/** What the strict subset has against a schema. */
function strictProblem(schema: Json, depth: number): string | null {
  const { anyOf } = schema;
  if (Array.isArray(anyOf)) {
    if (Object.keys(schema).some((name) => name !== 'anyOf' && name !== 'description')) return 'beside anyOf';
    return firstProblem(anyOf as Json[], depth);
  }
  const type = String(schema['type']);
  const known = keywords[type];
  if (known === undefined) return `type ${type}`;
  const unknown = Object.keys(schema).find((name) => !known.includes(name));
  if (unknown !== undefined) return `${unknown} is not permitted`;
  if (type === 'array') return strictProblem(schema['items'] as Json, depth);
  if (type !== 'object') return null;
  if (depth > maxNesting) return 'is nested too deep';
  const properties = schema['properties'] as Readonly<Record<string, Json>>;
  if (schema['additionalProperties'] !== false) return 'additionalProperties must be false';
  const names = Object.keys(properties);
  if (JSON.stringify([...(schema['required'] as string[])].sort()) !== JSON.stringify(names.sort()))
    return 'required must name every property';
  if (names.some((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))) return 'property name';
  return firstProblem(Object.values(properties), depth + 1);
}

function firstProblem(schemas: readonly Json[], depth: number): string | null {
  for (const schema of schemas) {
    const problem = strictProblem(schema, depth);
    if (problem !== null) return problem;
  }
  return null;
}

/** What constrained decoding makes impossible. */
function mismatch(schema: Json, answer: object): string | null {
  const ajv = new Ajv2020({ strict: false });
  return ajv.validate(schema, answer) ? null : ajv.errorsText();
}
