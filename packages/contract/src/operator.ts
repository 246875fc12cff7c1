/**
 * The operator API, `/operator/v1`: what the CLI and the console use to run a deployment. It takes an operator
 * token, sees every account, and is no part of the Developer API. Refusals have the same envelope.
 */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import { scopes, type Scope } from './errors.ts';
import type { AnsweredBy, Direction, GoalFile, Scalar, Variables } from './goal-file.ts';
import type { UsageAmounts } from './usage.ts';
import type { CallStatus, CallTask, OneShotCall } from './calls.ts';
import type { MediaQuality } from './operator-system.ts';
import type { GoalRun, GoalRunStatus } from './schemas.ts';

const closed = { additionalProperties: false } as const;

export interface OperatorList<Item> {
  readonly object: 'list';
  readonly data: readonly Item[];
  /** Pass it as `after` for the next page; null on the last one. */
  readonly next_cursor: string | null;
}

export const CreateAccountRequest = Type.Object(
  { name: Type.String({ description: 'Unique, 1–64 characters; the agent names it as the caller.' }) },
  closed,
);
export type CreateAccountRequest = Static<typeof CreateAccountRequest>;

export const monthlyBudget = Type.Union([Type.String({ maxLength: 20 }), Type.Null()], {
  description:
    'US dollars, such as 250.00: people are told when 80 % and 100 % of it are reached by the preview of prices in a month (UTC); nothing is blocked. Null: none.',
});

export const UpdateAccountRequest = Type.Object(
  {
    max_active_calls: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: 'How many calls of the account may run at the same time.',
      }),
    ),
    max_active_tasks: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 1_000 }), Type.Null()], {
        description:
          'How many call tasks may be in progress at the same time; null: 1 on shared lines, 10 with a number of its own.',
      }),
    ),
    max_inbound_calls: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: 'How many calls to the account’s numbers may be answered at the same time.',
      }),
    ),
    region: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{2}$',
        description: 'ISO 3166-1 alpha-2: how national numbers in the text of a task are read.',
      }),
    ),
    disclosure: Type.Optional(
      Type.Object(
        {
          off: Type.Boolean(),
          reason: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 500,
              description:
                'Why it is switched off, such as the law or the consent that allows it; 10–500 characters.',
            }),
          ),
        },
        {
          ...closed,
          description:
            'Whether calls begin without saying that an automated assistant is calling. Switching that off takes a reason.',
        },
      ),
    ),
    default_number: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Id of one of the account’s own numbers, which callees see; null: the shared lines.',
      }),
    ),
    monthly_budget: Type.Optional(monthlyBudget),
  },
  { ...closed, minProperties: 1 },
);
export type UpdateAccountRequest = Static<typeof UpdateAccountRequest>;

export type AccountDisclosure =
  | { readonly off: false }
  | {
      readonly off: true;
      /** Why, in the words of whoever switched it off. */
      readonly reason: string;
      /** Name of the person of the console; null: by the operator API. */
      readonly by: string | null;
      readonly at: string;
    };

export interface OperatorAccount {
  readonly id: string;
  readonly name: string;
  readonly max_active_calls: number;
  readonly active_calls: number;
  readonly max_inbound_calls: number;
  readonly active_inbound_calls: number;
  /** Null: what its lines allow. */
  readonly max_active_tasks: number | null;
  readonly region: string;
  /** Id of the number that callees see; null: the shared lines. */
  readonly default_number: string | null;
  /** US dollars; null: none. */
  readonly monthly_budget: string | null;
  /** Whether calls begin by saying that an automated assistant is calling. */
  readonly disclosure: AccountDisclosure;
  readonly created_at: string;
}

/** A call task or a one-shot call, as the operator lists it. */
export interface OperatorCall {
  readonly id: string;
  readonly account_id: string;
  readonly kind: 'task' | 'one_shot';
  readonly status: CallStatus;
  readonly error_code: string | null;
  readonly summary: string | null;
  readonly cancel_requested_at: string | null;
  readonly created_at: string;
  readonly completed_at: string | null;
}

export interface OperatorCallDetail extends OperatorCall {
  /** As its client sees it, with the digits of numbers hidden. */
  readonly view: CallTask | OneShotCall;
  /** Oldest first. */
  readonly events: readonly OperatorEvent[];
}

export interface ListCallsQuery {
  readonly account?: string;
  readonly after?: string;
  readonly limit?: number;
}

export const CreateKeyRequest = Type.Object(
  {
    account: Type.String({ description: 'Account id or name.' }),
    scopes: Type.Optional(
      Type.Array(enumeration(scopes), {
        minItems: 1,
        uniqueItems: true,
        description: 'What the key may do; all scopes by default.',
      }),
    ),
    regions: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), {
        minItems: 1,
        maxItems: 250,
        uniqueItems: true,
        description: 'Voice regions (ISO 3166-1 alpha-2) whose Goals the key may run; all by default.',
      }),
    ),
    expires_at: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'RFC 3339 time from which the key is refused; never by default.',
      }),
    ),
  },
  closed,
);
export type CreateKeyRequest = Static<typeof CreateKeyRequest>;

export interface OperatorKey {
  readonly id: string;
  readonly account_id: string;
  readonly scopes: readonly Scope[];
  readonly regions: readonly string[] | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** To the minute; null: never, or not since this is noted. */
  readonly last_used_at: string | null;
  readonly created_at: string;
}

/** The answer to a creation: the only time that the key itself is shown. */
export interface CreatedKey extends OperatorKey {
  readonly key: string;
}

/** The place in the sent text where a Goal file is wrong, and what would be right. */
export interface GoalFileProblem {
  /** RFC 6901 JSON pointer. */
  readonly pointer: string;
  readonly message: string;
  /** Counts from 1; absent when a stored draft, not a text, was checked. */
  readonly line?: number;
  readonly column?: number;
}

/** The last segment of `POST /operator/v1/goals/{goal_id}/{action}`. */
export const goalActions = [
  'publish',
  'unpublish',
  'pause',
  'resume',
  'retire',
  'hide',
  'list_publicly',
] as const;
export type GoalAction = (typeof goalActions)[number];

export interface OperatorGoal {
  readonly id: string;
  readonly account_id: string;
  /** Of the draft. */
  readonly title: string;
  readonly state: 'draft' | 'active' | 'paused' | 'retired';
  /** Whether API clients of the account see the Goal. */
  readonly listed: boolean;
  readonly published_run_spec: { readonly id: string; readonly version: number } | null;
  readonly latest_version: number;
  /** Why the published content (the draft, when nothing is published) can not be executed here now. */
  readonly not_ready: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
}

export interface OperatorGoalVersion {
  readonly id: string;
  readonly version: number;
  readonly published_at: string;
  /** How many Runs are pinned to it. */
  readonly runs: number;
}

export interface OperatorGoalDetail extends OperatorGoal {
  /** Newest first. */
  readonly versions: readonly OperatorGoalVersion[];
  readonly draft: GoalFile;
}

/** A page of a list; `limit` is 1–100, 20 by default. */
export interface PageQuery {
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly after?: string;
}

export interface ListGoalsQuery extends PageQuery {
  /** Id or name. */
  readonly account?: string;
}

export interface ListRunsQuery extends PageQuery {
  /** Goal id. */
  readonly goal?: string;
  /** Id or name. */
  readonly account?: string;
  readonly status?: GoalRunStatus;
  readonly direction?: Direction;
}

/** A Goal Run with what its API client does not see. */
export interface OperatorRun extends GoalRun {
  readonly account_id: string;
  /** Who called whom: us a callee, or a caller one of our numbers. */
  readonly direction: Direction;
  /** The other party's number, all but the last two digits hidden; null for a caller who does not show it. */
  readonly phone: string | null;
  /** The number of ours that was called; null for an outbound Run. */
  readonly number_id: string | null;
  readonly cancel_requested_at: string | null;
}

export interface OperatorAttempt {
  /** The `call_id` of the Run that selected it. */
  readonly id: string;
  readonly number: number;
  readonly carrier: string;
  readonly state: 'dialing' | 'ringing' | 'answered' | 'ended';
  readonly outcome: string | null;
  /** Who answered, as far as the agent could tell; null when nobody did, and for a Run that somebody called for. */
  readonly answered_by: AnsweredBy | null;
  /** Whose doing the end was. */
  readonly ended_by: string | null;
  readonly provider_call_id: string | null;
  readonly sip_status: number | null;
  readonly q850: number | null;
  readonly note: string | null;
  /** Null where no sound was measured. */
  readonly media: MediaQuality | null;
  readonly dialed_at: string;
  readonly answered_at: string | null;
  readonly ended_at: string | null;
}

export interface OperatorTurn {
  /** Number of the attempt. */
  readonly attempt: number;
  readonly index: number;
  readonly speaker: 'bot' | 'user' | 'unknown';
  readonly text: string;
  /** Since the answer. */
  readonly offset_seconds: number;
  readonly interrupted: boolean;
  /** What the agent understood from it. */
  readonly notes: readonly OperatorNote[];
  /** How long the callee waited for this turn of ours; null when it answers nothing, or was not measured. */
  readonly latency: TurnLatency | null;
}

/**
 * What the callee waited for between their last sound and our first, milliseconds. A part that there was not is null;
 * the others add up to the whole.
 */
export interface TurnLatency {
  /** Until it was decided that the callee’s turn is over. */
  readonly endpointing_ms: number | null;
  /** Until the model’s first words or sound. */
  readonly model_ms: number | null;
  /** Until the first synthesized sound; null when the model speaks itself. */
  readonly speech_ms: number | null;
  /** Until the first frame left for the callee. */
  readonly transport_ms: number | null;
  readonly total_ms: number;
}

export type OperatorNote =
  | { readonly kind: 'answer'; readonly field: string; readonly value: Scalar; readonly quote: string }
  /** A reply without a usable value. */
  | { readonly kind: 'not_understood'; readonly field: string }
  | { readonly kind: 'opted_out' }
  /** Of a turn of ours: from here on the callee talks to somebody else. */
  | { readonly kind: 'transferred'; readonly to: string };

export interface OperatorEvent {
  readonly id: string;
  readonly type: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

export interface OperatorEvidence {
  readonly value: Scalar;
  /** Indexes of the turns that support the value. */
  readonly turns: readonly number[];
  readonly quote: string;
  /** Of a model, 0–1. */
  readonly confidence?: number;
}

export interface OperatorRunDetail extends OperatorRun {
  readonly variables: Variables;
  readonly attempts: readonly OperatorAttempt[];
  readonly transcript: readonly OperatorTurn[];
  /** Oldest first; the first is `call.accepted`. */
  readonly events: readonly OperatorEvent[];
  readonly evidence: Readonly<Record<string, OperatorEvidence>>;
  /** What its attempts would cost; null until they are counted, a few seconds after their end. */
  readonly cost: UsageAmounts | null;
}

/** What happened to a Run since the `position` that was sent. */
export interface RunProgress {
  readonly run: OperatorRun;
  readonly events: readonly OperatorEvent[];
  readonly turns: readonly OperatorTurn[];
  /** Opaque; pass it as `after` to go on from here. */
  readonly position: string;
  /** The Run has a result or an error: nothing more will follow. */
  readonly final: boolean;
}

/** The check-up of a deployment. `problems` is empty when all is well. */
export interface DoctorReport {
  /** One sentence each; what an operator should look at. */
  readonly problems: readonly string[];
  readonly environment: 'test' | 'production';
  readonly database: {
    readonly kind: 'postgres' | 'embedded';
    readonly version: string;
    readonly migrations: readonly { readonly name: string; readonly applied_at: string }[];
  };
  readonly queues: readonly {
    readonly queue: string;
    readonly waiting: number;
    readonly due: number;
    readonly leased: number;
    readonly expired: number;
    readonly oldest_due_seconds: number | null;
  }[];
  readonly workers: readonly {
    readonly worker: string;
    readonly queue: string;
    readonly leases: number;
    /** Until the first of its leases expires; negative when it has. */
    readonly lease_seconds_left: number;
  }[];
  /** Counters of live calls that differ from the leases that they count. */
  readonly wrong_counters: readonly {
    readonly scope: string;
    readonly counted: number;
    readonly leased: number;
  }[];
  /** Every Goal with a published RunSpec. */
  readonly goals: readonly {
    readonly id: string;
    readonly title: string;
    readonly not_ready: readonly string[];
  }[];
}

/** The file `credentials.json` that a first start leaves in the data directory. */
export interface Credentials {
  readonly base_url: string;
  readonly operator_token: string;
  /** Of the demonstration account; absent in production. */
  readonly account?: string;
  readonly api_key?: string;
  /** Goal ids by the name of their example. */
  readonly goals?: Readonly<Record<string, string>>;
}
