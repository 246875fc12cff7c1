/** What operator requests carry: closed JSON bodies and Goal files. */
import type { FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { maxGoalFileBytes } from '../../authoring/goal-file.ts';
import { compileShape } from '../../authoring/shape.ts';
import { Refusal } from '../../platform/refusal.ts';
import { parseJsonBody, readBody } from '../body.ts';
import { headerValues, requireJsonContent } from '../headers.ts';
import { maxBodyBytes } from '../settings.ts';

/** Compiles a schema to a check that gives the value back, typed. Throws: Refusal `invalid_request`. */
export function checker<Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  const problemsOf = compileShape(schema);
  return (value) => {
    const [problem] = problemsOf(value);
    if (problem !== undefined) {
      const place = problem.pointer.slice(1).replaceAll('/', '.') || 'the request';
      throw new Refusal('invalid_request', `${place} ${problem.message}`);
    }
    return value as Static<Schema>;
  };
}

/** Reads a JSON body. Throws: Refusal `invalid_request`, `payload_too_large`. */
export async function readJson<T>(request: FastifyRequest, check: (value: unknown) => T): Promise<T> {
  const body = await readBody(request.raw, maxBodyBytes);
  requireJsonContent(request.raw.rawHeaders);
  return check(parseJsonBody(body));
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const goalFileType = /^application\/(?:yaml|json)(?:[ \t]*;[ \t]*charset=(?:utf-8|"utf-8"))?$/i;

/** Reads a Goal file as text, so that problems can be reported with their lines. Throws: Refusal. */
export async function readGoalFile(request: FastifyRequest): Promise<string> {
  const body = await readBody(request.raw, maxGoalFileBytes);
  const [type, second] = headerValues(request.raw.rawHeaders, 'content-type');
  if (type === undefined || second !== undefined || !goalFileType.test(type)) {
    throw new Refusal(
      'invalid_request',
      'the Content-Type of a Goal file is application/yaml or application/json',
    );
  }
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw new Refusal('invalid_request', 'the Goal file is not UTF-8', { cause });
  }
}
