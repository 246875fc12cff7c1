/**
 * The console's own API, `/console/api`: what the pages under `/console` ask for. It takes a person's session cookie
 * and nothing else, and may change with every release; programs use the operator API.
 */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import type { CallStatus } from './calls.ts';
import { scopes, type GoalRunErrorCode } from './errors.ts';
import {
  CreateWebhookRequest,
  type OperatorDelivery,
  type OperatorDeliveryDetail,
} from './operator-webhooks.ts';
import type { Listening } from './listen.ts';
import type { Direction, GoalFile, ResultSchema, InputSchema } from './goal-file.ts';
import { monthlyBudget, type OperatorAccount } from './operator.ts';
import type { OperatorCall, OperatorCallDetail } from './operator-calls.ts';
import type { GoalFileProblem, OperatorGoal, OperatorGoalVersion } from './operator-goals.ts';
import type { OperatorRun, OperatorRunDetail } from './operator-runs.ts';
import type { OperatorNumber } from './operator-numbers.ts';
import { emailAddress, type ConsoleRole } from './operator-people.ts';
import type { Alert } from './operator-system.ts';
import { printableLine } from './printable.ts';
import type { GoalRunStatus } from './schemas.ts';

const closed = { additionalProperties: false } as const;

/** What can be done in the console; `http/console/access.ts` says by whom. */
export const consoleActions = [
  'account.read',
  'goal.write',
  'goal.publish',
  'goal.command',
  'goal.retire',
  'run.cancel',
  'recording.hear',
  'call.listen',
  'number.assign',
  'key.manage',
  'webhook.manage',
  'account.manage',
  'person.manage',
  'audit.read',
  'budget.write',
  'deployment.manage',
] as const;
export type ConsoleAction = (typeof consoleActions)[number];

const newPassword = Type.String({ minLength: 10, maxLength: 200, description: 'At least 10 characters.' });
const token = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'The secret of a one-time link.' });

export const SignInRequest = Type.Object(
  { email: emailAddress, password: Type.String({ maxLength: 200 }) },
  closed,
);
export const ChangePasswordRequest = Type.Object(
  { password: Type.String({ maxLength: 200 }), new_password: newPassword },
  closed,
);
export const LookAtLinkRequest = Type.Object({ token }, closed);
export const FollowLinkRequest = Type.Object(
  {
    token,
    email: Type.Optional(emailAddress),
    name: Type.Optional(printableLine({ minLength: 1, maxLength: 100, description: 'How others see you.' })),
    password: newPassword,
  },
  closed,
);

/** What a one-time link is for. */
export interface ConsoleLink {
  /** `role`: somebody who is here already gets one, and shows by the password who it is. */
  readonly purpose: 'first_person' | 'invitation' | 'role' | 'new_password';
  /** Null: the first person says which. */
  readonly email: string | null;
  readonly role: ConsoleRole | null;
}

export const ConsoleKeyRequest = Type.Object(
  {
    scopes: Type.Array(enumeration(scopes), { minItems: 1, uniqueItems: true }),
    expires_at: Type.Union([Type.String({ maxLength: 40 }), Type.Null()]),
  },
  closed,
);
export type ConsoleKeyRequest = Static<typeof ConsoleKeyRequest>;

const { account: _account, ...webhookProperties } = CreateWebhookRequest.properties;
export const ConsoleWebhookRequest = Type.Object(webhookProperties, closed);
export type ConsoleWebhookRequest = Static<typeof ConsoleWebhookRequest>;
export const SetBudgetRequest = Type.Object({ monthly_budget: monthlyBudget }, closed);

export interface ConsoleAccount {
  readonly id: string;
  readonly name: string;
  readonly role: ConsoleRole;
  /** What this person may do here. */
  readonly actions: readonly ConsoleAction[];
}

export interface ConsoleSession {
  readonly person: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly operator: boolean;
  };
  readonly accounts: readonly ConsoleAccount[];
  readonly environment: 'test' | 'production';
  /** Where API clients reach the service; null: where the console is. */
  readonly base_url: string | null;
}

export interface ConsoleAuditEntry {
  readonly id: string;
  /** Null: the program itself, or whoever holds an operator token. */
  readonly person: { readonly id: string; readonly name: string } | null;
  readonly account_id: string | null;
  readonly action: string;
  readonly object_id: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

export interface ConsoleGoal extends OperatorGoal {
  /** Whether there is anything that was not published. */
  readonly changed: boolean;
}

export interface ConsoleGoalDetail extends ConsoleGoal {
  /** Newest first. */
  readonly versions: readonly OperatorGoalVersion[];
  /** What the author writes: a Goal file, valid or not yet. */
  readonly draft: unknown;
  /** Goes into `If-Match` of the next save. */
  readonly revision: number;
  /** What is wrong with the draft; empty when it can be published. */
  readonly problems: readonly GoalFileProblem[];
}

/** The answer to a save: the next revision, and what is wrong with what was saved. */
export interface SavedDraft {
  readonly revision: number;
  readonly problems: readonly GoalFileProblem[];
}

/** One place where a draft differs from what is published. */
export interface GoalChange {
  /** RFC 6901 JSON pointer. */
  readonly pointer: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Whether a program that works with the published version could fail. */
  readonly breaking: boolean;
  /** Why; null when it is not breaking. */
  readonly reason: string | null;
}

/** What publishing would do. */
export interface PublicationPreview {
  readonly revision: number;
  readonly problems: readonly GoalFileProblem[];
  /** Why the draft could not be executed by this deployment now. */
  readonly not_ready: readonly string[];
  readonly next_version: number;
  /** Null for a first publication. */
  readonly published: GoalFile | null;
  readonly draft: unknown;
  /** Null while the draft has problems, or when nothing is published. */
  readonly changes: readonly GoalChange[] | null;
}

export interface ConsoleRunQuery {
  readonly goal?: string;
  readonly status?: GoalRunStatus;
  readonly error?: GoalRunErrorCode;
  readonly direction?: Direction;
  /** 2 to 4 digits with which the number ends. */
  readonly digits?: string;
  /** RFC 3339 times. */
  readonly since?: string;
  readonly until?: string;
  readonly after?: string;
}

/** A run with the title of the Goal as it was published for it. */
export interface ConsoleRun extends OperatorRun {
  readonly title: string;
}

export interface ConsoleRunDetail extends OperatorRunDetail {
  readonly title: string;
  /** Null: there is none on the machine that was asked. */
  readonly recording: { readonly seconds: number } | null;
  /** Whether somebody could listen in, as the process that was asked sees it. Never `full`. */
  readonly listening: Listening;
  /** Newest first; only a Run of a call that came in has some. */
  readonly deliveries: readonly OperatorDelivery[];
  readonly result_schema: ResultSchema;
  readonly input_schema: InputSchema;
}

export interface ConsoleOverview {
  readonly calls_now: number;
  readonly max_calls: number;
  readonly waiting: number;
  readonly oldest_waiting_seconds: number | null;
  /** Calls since the time that was asked for, with a Goal and without, at most the newest `counted_at_most`. */
  readonly runs: number;
  readonly counted_at_most: number;
  readonly outcomes: readonly {
    readonly status: GoalRunStatus;
    readonly error: GoalRunErrorCode | null;
    readonly runs: number;
  }[];
  /** Of the calls that were placed and have ended, how many were answered; null without any. */
  readonly answer_rate: number | null;
  /** Of the answered calls that have ended, how many gave a result; null without any. */
  readonly result_rate: number | null;
  /** From the answer to the agent's first word, seconds; null without any. */
  readonly first_word: { readonly p50: number; readonly p95: number } | null;
  /** From the callee’s last sound to our answer, seconds; null where no wait was measured. */
  readonly answer_wait: { readonly p50: number; readonly p95: number } | null;
  /** Per hour, oldest first. */
  readonly hours: readonly { readonly from: string; readonly results: number; readonly others: number }[];
  readonly alerts: readonly Alert[];
}

/** What can be set of an account, and what its default number can be. */
export interface ConsoleAccountSettings {
  readonly account: OperatorAccount;
  /** The account's own numbers. */
  readonly numbers: readonly OperatorNumber[];
}

/** The answer to who wants to hear a recording: it was noted, and opens the recording to this person for a while. */
export interface ConsoleHearing {
  /** Goes into `hearing` of the recording's address. */
  readonly hearing: string;
  readonly expires_at: string;
}

/** How loud a recording is along its time. */
export interface ConsolePeaks {
  readonly seconds: number;
  /** 0–1; the callee's first, then ours. */
  readonly channels: readonly (readonly number[])[];
}

export interface ConsoleCallQuery {
  readonly kind?: OperatorCall['kind'];
  readonly status?: CallStatus;
  /** RFC 3339 times. */
  readonly since?: string;
  readonly until?: string;
  readonly after?: string;
}

/** A call task or a one-shot call in a list. */
export interface ConsoleCall extends OperatorCall {
  /** The beginning of what it is to do. */
  readonly task: string;
  readonly recipients: number;
}

export interface ConsoleCallDetail extends OperatorCallDetail {
  readonly result_schema: Readonly<Record<string, unknown>> | null;
  readonly recipient_result_schema: Readonly<Record<string, unknown>> | null;
  /** Where its end is sent beside the endpoints of the account. */
  readonly webhook_url: string | null;
  /** Newest first, at most 100. */
  readonly deliveries: readonly OperatorDelivery[];
}

export interface ConsoleDeliveryDetail extends OperatorDeliveryDetail {
  /** Whether the digits of phone numbers in the body are hidden from this person. */
  readonly masked: boolean;
}

/** A message of the stream `/console/api/live`: these have moved. The event is named `runs`, `calls` or `deliveries`. */
export interface LiveNews {
  readonly moved: readonly { readonly id: string; readonly account_id: string }[];
}
