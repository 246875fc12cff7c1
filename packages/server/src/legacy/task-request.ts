import type { CallSchema } from '@trunkcall/contract';
import type { TaskCallRequest } from '../acceptance/call-acceptance.ts';
import { readCallSchema } from '../acceptance/call-schema.ts';
import { fingerprintOfCall } from '../acceptance/fingerprint.ts';
import { readRecipients } from '../acceptance/task-reader/recipients.ts';
import {
  readFields,
  readMetadata,
  readTaskText,
  readWebhookUrl,
  type Fields,
} from '../http/calls/call-body.ts';
import { Refusal } from '../platform/refusal.ts';

const fields = ['task', 'recipients', 'result_schema', 'recipient_result_schema', 'metadata', 'webhook_url'];

export type SentTask = Omit<TaskCallRequest, 'accountId' | 'regions' | 'idempotencyKey'>;

/**
 * Reads the body of a call task; null means omitted. What is wrong with a number itself is handed on, to be reported in
 * its turn. Throws: Refusal `invalid_request`, `result_schema_invalid`, `recipient_result_schema_invalid`,
 * `invalid_webhook_url`.
 */
export function readTaskRequest(body: Buffer): SentTask {
  const sent = readFields(body, fields, 'a call task');
  return {
    fingerprint: fingerprintOfCall(sent),
    task: readTaskText(sent),
    ...readTargets(sent),
    resultSchema: readSchema(sent, 'result_schema', 'result'),
    recipientResultSchema: readSchema(sent, 'recipient_result_schema', 'recipient_result'),
    metadata: readMetadata(sent),
    webhookUrl: readWebhookUrl(sent),
  };
}

function readTargets({ recipients: sent }: Fields): Pick<SentTask, 'recipients' | 'phoneProblem'> {
  if (sent === undefined || sent === null) return { recipients: null, phoneProblem: null };
  const reading = readRecipients(sent);
  if (reading.ok) return { recipients: reading.recipients, phoneProblem: null };
  const shape = reading.problems.find(({ code }) => code === 'invalid_request');
  if (shape !== undefined) throw new Refusal('invalid_request', `${shape.field} ${shape.problem}`);
  const [phone] = reading.problems;
  return { recipients: [], phoneProblem: `${phone?.field} ${phone?.problem}` };
}

function readSchema(
  sent: Fields,
  name: 'result_schema' | 'recipient_result_schema',
  kind: 'result' | 'recipient_result',
): CallSchema | null {
  const value = sent[name];
  if (value === undefined || value === null) return null;
  const reading = readCallSchema(value, kind);
  if (reading.ok) return reading.schema;
  throw new Refusal(`${name}_invalid`, `${name} uses something that is not supported`, {
    details: { problems: reading.problems },
  });
}
