/** Reads tasks by rules, without a model: what they can not settle is asked. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import {
  askForPhone,
  type NotReadyReason,
  type ReadRecipient,
  type TaskReader,
  type TaskReading,
  type TaskRequest,
} from '../task-reader.ts';
import { localeIn } from './locales.ts';
import { findTargets, type Target, type Targets } from './phones.ts';
import { missingInputs } from './placeholders.ts';
import { maxPhones, maxRecipients, type SentRecipient } from './recipients.ts';
import { titleOf } from './title.ts';

export interface RuleReaderOptions {
  /** Whether somebody here can speak a BCP 47 locale. */
  readonly speaks: (locale: string) => boolean;
}

export function createRuleReader({ speaks }: RuleReaderOptions): TaskReader {
  return { read: (request) => Promise.resolve(readTask(request, speaks)) };
}

const nobody: Targets = { kind: 'found', targets: [] };
const tooMany = notReady('too_many_phones', [
  `Which of the numbers should be called? A task has at most ${maxRecipients} recipients with ${maxPhones} numbers each.`,
]);

/** Reads a task. Pure. Throws: never. */
export function readTask(request: TaskRequest, speaks: RuleReaderOptions['speaks']): TaskReading {
  const { task } = request;
  const missing = missingInputs(task);
  const questions = missing.map(({ question }) => question);
  const reading = request.recipients === null ? findTargets(task, request.defaultRegion) : nobody;
  if (reading.kind === 'too_many') return tooMany;
  const { targets } = reading;
  const noPhone = request.recipients === null && targets.length === 0;
  const asksForPhone = missing.some(({ name }) => /phone|mobile|\btel\b|^number$/i.test(name));
  if (noPhone && !asksForPhone) questions.unshift(askForPhone);
  if (missing.length > 0) return notReady('missing_information', questions);
  if (noPhone) return notReady('missing_phone', questions);
  if (targets.some(({ hasExtension }) => hasExtension)) {
    return notReady('extension_not_supported', [
      'Which number reaches them directly? An extension can not be dialled.',
    ]);
  }
  const recipients = request.recipients?.map((sent) => fromSent(sent, request, speaks));
  const found = recipients ?? recipientsFrom(targets, request, speaks);
  if (found.length > maxRecipients || found.some(({ phones }) => phones.length > maxPhones)) {
    return tooMany;
  }
  return { kind: 'ready', recipients: found, title: titleOf(task, request.defaultRegion) };
}

function notReady(reasonCode: NotReadyReason, questions: readonly string[]): TaskReading {
  return { kind: 'not_ready', reasonCode, questions };
}

/** One recipient per number; a number that is there in case another one does not answer is tried after it. */
function recipientsFrom(
  targets: readonly Target[],
  request: TaskRequest,
  speaks: RuleReaderOptions['speaks'],
): ReadRecipient[] {
  const groups: Target[][] = [];
  for (const target of targets) {
    const last = groups.at(-1);
    if (target.instead && last !== undefined) last.push(target);
    else groups.push([target]);
  }
  return groups.map((group) => {
    const region = group[0]?.country ?? request.defaultRegion;
    return { phones: group.map(({ phone }) => phone), region, locale: localeOf(region, request, speaks) };
  });
}

function fromSent(
  { phones, region, locale }: SentRecipient,
  request: TaskRequest,
  speaks: RuleReaderOptions['speaks'],
): ReadRecipient {
  const known = region ?? parsePhoneNumberFromString(phones[0] ?? '')?.country ?? request.defaultRegion;
  return { phones, region: known, locale: locale ?? localeOf(known, request, speaks) };
}

function localeOf(
  region: string,
  { defaultRegion, defaultLocale }: TaskRequest,
  speaks: RuleReaderOptions['speaks'],
): string {
  return region === defaultRegion ? defaultLocale : localeIn(region, speaks);
}
