/** What the bodies of both kinds of calls have in common. */
import { Refusal } from '../../platform/refusal.ts';
import { parseJsonBody } from '../body.ts';
import { describeName } from '../strict-json.ts';

export type Fields = Readonly<Record<string, unknown>>;

const maxTaskLength = 32_000;
const maxMetadataBytes = 16 * 1024;
const maxUrlLength = 2_048;

/** Reads a closed JSON object. Throws: Refusal `invalid_request`. */
export function readFields(body: Buffer, known: readonly string[], what: string): Fields {
  const sent = parseJsonBody(body);
  if (!isObject(sent)) throw new Refusal('invalid_request', 'the body must be a JSON object');
  const unknown = Object.keys(sent).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Refusal('invalid_request', `${describeName(unknown)} is not a field of ${what}`);
  }
  return sent;
}

export function readTaskText({ task }: Fields): string {
  if (typeof task !== 'string' || task.trim() === '') {
    throw new Refusal('invalid_request', 'task must be a string that says what to do');
  }
  if (task.length > maxTaskLength) {
    throw new Refusal('invalid_request', `task must have at most ${maxTaskLength} characters`);
  }
  return task;
}

export function readMetadata({ metadata }: Fields): Fields {
  if (metadata === undefined || metadata === null) return {};
  if (!isObject(metadata)) throw new Refusal('invalid_request', 'metadata must be an object');
  if (Buffer.byteLength(JSON.stringify(metadata)) > maxMetadataBytes) {
    throw new Refusal('invalid_request', `metadata must be at most ${maxMetadataBytes} bytes of JSON`);
  }
  return metadata;
}

/** Reads where the terminal event goes. Throws: Refusal `invalid_request`, `invalid_webhook_url`. */
export function readWebhookUrl({ webhook_url: url }: Fields): string | null {
  if (url === undefined || url === null) return null;
  if (typeof url !== 'string') throw new Refusal('invalid_request', 'webhook_url must be a string');
  if (url.length > maxUrlLength) {
    throw new Refusal('invalid_webhook_url', `webhook_url must have at most ${maxUrlLength} characters`);
  }
  return url;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
