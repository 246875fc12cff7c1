import type { OneShotRequest } from '../../acceptance/call-acceptance.ts';
import { readOneShotSchema } from '../../acceptance/call-schema.ts';
import { fingerprintOfCall } from '../../acceptance/fingerprint.ts';
import { readRecipients } from '../../acceptance/task-reader/recipients.ts';
import { Refusal } from '../../platform/refusal.ts';
import { readFields, readMetadata, readTaskText, readWebhookUrl } from './call-body.ts';

const fields = ['task', 'phone', 'result_schema', 'region', 'locale', 'metadata', 'webhook_url'];

export type SentOneShot = Omit<OneShotRequest, 'accountId' | 'regions' | 'idempotencyKey'>;

/**
 * Reads the closed body of a one-shot call. What is wrong with the number itself is handed on, to be reported in its
 * turn. Throws: Refusal `invalid_request`, `result_schema_invalid`, `invalid_webhook_url`.
 */
export function readOneShotRequest(body: Buffer): SentOneShot {
  const sent = readFields(body, fields, 'a call');
  const task = readTaskText(sent);
  const { phone, region, locale } = sent;
  if (typeof phone !== 'string') throw new Refusal('invalid_request', 'phone must be a string');
  const target = readTarget(phone, region, locale);
  if (sent['result_schema'] === undefined || sent['result_schema'] === null) {
    throw new Refusal('invalid_request', 'result_schema is required');
  }
  const schema = readOneShotSchema(sent['result_schema']);
  if (!schema.ok) {
    throw new Refusal('result_schema_invalid', 'result_schema uses something that is not supported', {
      details: { problems: schema.problems },
    });
  }
  return {
    fingerprint: fingerprintOfCall(sent),
    task,
    ...target,
    resultSchema: schema.schema,
    metadata: readMetadata(sent),
    webhookUrl: readWebhookUrl(sent),
  };
}

/** A one-shot call is for one recipient with one number; its fields stand at the root. */
function readTarget(phone: string, region: unknown, locale: unknown) {
  const reading = readRecipients([{ phones: [phone], region, locale }]);
  if (reading.ok) {
    const [recipient] = reading.recipients;
    if (recipient !== undefined) return { recipient, phoneProblem: null };
  }
  const problems = reading.ok ? [] : reading.problems;
  const shape = problems.find(({ code }) => code === 'invalid_request');
  if (shape !== undefined) {
    throw new Refusal('invalid_request', `${shape.field.replace('recipients[0].', '')} ${shape.problem}`);
  }
  return {
    recipient: { phones: [phone], region: null, locale: null },
    phoneProblem: `phone ${problems[0]?.problem ?? 'is not valid'}`,
  };
}
