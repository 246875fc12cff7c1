/** The deployment itself in the operator API: processes, trunks, test calls, providers, settings. */
import { Type, type Static } from 'typebox';
import type { DoctorReport } from './operator.ts';
import { phonePattern } from './schemas.ts';
import type { TrunkServer } from './trunks.ts';

/** What was measured of a call's sound. */
export interface MediaQuality {
  /** Packets that we sent. */
  readonly packets_out: number;
  /** Packets of the callee's that came in time to be played, or too late. */
  readonly packets_in: number;
  readonly packets_lost: number;
  /** Packets that came too late to be played. */
  readonly packets_late: number;
  /** Of what we hear, milliseconds. */
  readonly jitter_ms: number;
  /** Mean opinion score of what we hear, 1–4.41 (E-model); null while nothing came. */
  readonly mos: number | null;
  /** What the far end reports of our sound; null without its reports. */
  readonly far_end: {
    /** 0–1. */
    readonly loss: number;
    readonly jitter_ms: number;
    readonly round_trip_ms: number | null;
  } | null;
}

export const trunkStates = ['up', 'down', 'resting', 'unknown'] as const;
/** `unknown`: nothing watches it, or nothing was heard of it yet. */
export type TrunkState = (typeof trunkStates)[number];

/** A trunk as one process sees it. */
export interface TrunkReport {
  readonly trunk: string;
  readonly state: TrunkState;
  readonly since: string;
  /** In words; null while there is nothing to say. */
  readonly why: string | null;
  /** Calls of that process that hold a line of it. */
  readonly calls: number;
  /** The last call that failed by the trunk's fault. */
  readonly last_failure: {
    readonly at: string;
    readonly sip_status: number | null;
    readonly q850: number | null;
    readonly note: string | null;
  } | null;
}

/** What a provider did for one process; nothing of what was said to it or by it. */
export interface ProviderReport {
  readonly provider: 'chat' | 'realtime' | 'cascade';
  readonly last_success_at: string | null;
  readonly last_failure: { readonly at: string; readonly note: string } | null;
  /** It failed too often, and is left alone until then. */
  readonly paused_until: string | null;
}

/** A process of the deployment. */
export interface OperatorWorker {
  readonly id: string;
  readonly host: string;
  readonly version: string;
  readonly roles: readonly string[];
  readonly started_at: string;
  readonly last_seen_at: string;
  /** Whether it was heard of lately. */
  readonly alive: boolean;
  readonly live_calls: number;
  readonly drain_requested_at: string | null;
  /** It takes no new calls: it was asked to drain and knows of it, or it is stopping. */
  readonly draining: boolean;
  readonly trunks: readonly TrunkReport[];
  readonly providers: readonly ProviderReport[];
}

/** The last segment of `POST /operator/v1/workers/{worker_id}/{action}`. */
export type WorkerSwitch = 'drain' | 'resume';

export interface OperatorTrunk {
  readonly name: string;
  /** Null for the simulated network. */
  readonly proxy: TrunkServer | null;
  /** Up for all processes that are alive, for some, or for none. */
  readonly state: TrunkState | 'partly_up';
  readonly since: string | null;
  readonly why: string | null;
  readonly lines_in_use: number;
  /** Null: without a limit. */
  readonly max_calls: number | null;
  readonly calls_per_second: number | null;
  readonly caller_numbers: readonly string[];
  /** ISO 3166-1 alpha-2. */
  readonly countries: readonly string[];
  readonly allow_prefixes: readonly string[];
  /** Of the day (UTC). */
  readonly calls_today: number;
  /** In millionths of the trunks' currency. */
  readonly spend_today_micros: number;
  readonly last_failure: TrunkReport['last_failure'];
  /** By process. */
  readonly workers: readonly (TrunkReport & { readonly worker_id: string; readonly host: string })[];
  readonly last_test: OperatorTestCall | null;
}

export const TestCallRequest = Type.Object(
  {
    phone: Type.String({
      pattern: phonePattern,
      description: 'Canonical E.164: a telephone of yours, which will ring.',
    }),
  },
  { additionalProperties: false },
);
export type TestCallRequest = Static<typeof TestCallRequest>;

export const testCallSteps = ['claimed', 'trying', 'ringing', 'answered', 'announced', 'ended'] as const;
export type TestCallStep = (typeof testCallSteps)[number];

/** A short call over one trunk, with an announcement. */
export interface OperatorTestCall {
  readonly id: string;
  readonly trunk: string;
  /** All but the last two digits hidden. */
  readonly phone: string;
  readonly state: 'waiting' | 'calling' | 'ended';
  /** `passed`: it was answered, and the announcement was played. */
  readonly outcome: string | null;
  readonly ended_by: string | null;
  readonly sip_status: number | null;
  readonly q850: number | null;
  readonly note: string | null;
  readonly provider_call_id: string | null;
  /** The process that placed it. */
  readonly worker_id: string | null;
  /** In their order, as they happen. */
  readonly steps: readonly { readonly step: TestCallStep; readonly at: string }[];
  readonly media: MediaQuality | null;
  readonly created_at: string;
  readonly ended_at: string | null;
}

export interface SettingInForce {
  readonly variable: string;
  readonly about: string;
  /** Null for a secret, and for what is not set. */
  readonly value: string | null;
  readonly is_set: boolean;
  readonly secret: boolean;
  readonly is_default: boolean;
}

export const alertKinds = [
  'no_worker',
  'worker_silent',
  'no_trunk',
  'trunk_down',
  'provider_failing',
  'webhook_disabled',
  'queue_late',
  'budget_reached',
  'goal_not_ready',
] as const;

/** Something that wants attention, and what to do about it. */
export interface Alert {
  readonly kind: (typeof alertKinds)[number];
  readonly message: string;
  readonly hint: string;
  readonly goal_id: string | null;
}

/** The deployment at a glance. */
export interface SystemReport extends Omit<DoctorReport, 'workers' | 'database' | 'goals'> {
  readonly alerts: readonly Alert[];
  /** Of the process that answered. */
  readonly version: string;
  readonly started_at: string;
  readonly now: string;
  readonly database: DoctorReport['database'] & {
    readonly size_bytes: number;
    /** Of a question that reads nothing. */
    readonly latency_ms: number;
  };
  readonly workers: readonly OperatorWorker[];
  readonly trunks: readonly OperatorTrunk[];
  /** Which providers the settings name. */
  readonly providers_configured: readonly ProviderReport['provider'][];
  readonly webhooks: {
    /** To be sent now, or on their way. */
    readonly due: number;
    /** Waiting for their next try. */
    readonly waiting: number;
    readonly oldest_due_seconds: number | null;
    readonly endpoints_disabled: number;
  };
  readonly settings: readonly SettingInForce[];
}
