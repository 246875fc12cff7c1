/** Trunks and test calls over them in the operator API, and what is measured of a call's sound. */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import { nullable, phonePattern } from './schemas.ts';
import type { Shape } from './shape.ts';
import { TrunkServer } from './trunks.ts';

const closed = { additionalProperties: false } as const;

export const MediaQuality = Type.Object(
  {
    packets_out: Type.Integer({ description: 'Packets that we sent.' }),
    packets_in: Type.Integer({
      description: "Packets of the callee's that came in time to be played, or too late.",
    }),
    packets_lost: Type.Integer(),
    packets_late: Type.Integer({ description: 'Packets that came too late to be played.' }),
    jitter_ms: Type.Number({ description: 'Of what we hear, milliseconds.' }),
    mos: nullable(
      Type.Number(),
      'Mean opinion score of what we hear, 1–4.41 (E-model); null while nothing came.',
    ),
    far_end: nullable(
      Type.Object(
        {
          loss: Type.Number({ description: '0–1.' }),
          jitter_ms: Type.Number(),
          round_trip_ms: nullable(Type.Number()),
        },
        closed,
      ),
      'What the far end reports of our sound; null without its reports.',
    ),
  },
  { ...closed, $id: 'MediaQuality', description: "What was measured of a call's sound." },
);
export type MediaQuality = Shape<typeof MediaQuality>;

export const trunkStates = ['up', 'down', 'resting', 'unknown'] as const;
/** `unknown`: nothing watches it, or nothing was heard of it yet. */
export type TrunkState = (typeof trunkStates)[number];

export const TrunkReport = Type.Object(
  {
    trunk: Type.String(),
    state: enumeration(trunkStates),
    since: Type.String({ format: 'date-time' }),
    why: nullable(Type.String(), 'In words; null while there is nothing to say.'),
    calls: Type.Integer({ description: 'Calls of that process that hold a line of it.' }),
    last_failure: nullable(
      Type.Object(
        {
          at: Type.String({ format: 'date-time' }),
          sip_status: nullable(Type.Integer()),
          q850: nullable(Type.Integer()),
          note: nullable(Type.String()),
        },
        closed,
      ),
      "The last call that failed by the trunk's fault.",
    ),
  },
  { ...closed, $id: 'TrunkReport', description: 'A trunk as one process sees it.' },
);
export type TrunkReport = Shape<typeof TrunkReport>;

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

export const OperatorTestCall = Type.Object(
  {
    id: Type.String(),
    trunk: Type.String(),
    phone: Type.String({ description: 'All but the last two digits hidden.' }),
    state: enumeration(['waiting', 'calling', 'ended']),
    outcome: nullable(Type.String(), '`passed`: it was answered, and the announcement was played.'),
    ended_by: nullable(Type.String()),
    sip_status: nullable(Type.Integer()),
    q850: nullable(Type.Integer()),
    note: nullable(Type.String()),
    provider_call_id: nullable(Type.String()),
    worker_id: nullable(Type.String(), 'The process that placed it.'),
    steps: Type.Array(
      Type.Object({ step: enumeration(testCallSteps), at: Type.String({ format: 'date-time' }) }, closed),
      { description: 'In their order, as they happen.' },
    ),
    media: nullable(MediaQuality),
    created_at: Type.String({ format: 'date-time' }),
    ended_at: nullable(Type.String({ format: 'date-time' })),
  },
  { ...closed, $id: 'OperatorTestCall', description: 'A short call over one trunk, with an announcement.' },
);
export type OperatorTestCall = Shape<typeof OperatorTestCall>;

export const OperatorTrunk = Type.Object(
  {
    name: Type.String(),
    proxy: nullable(TrunkServer, 'Null for the simulated network.'),
    state: Type.Union([enumeration(trunkStates), Type.Literal('partly_up')], {
      description: 'Up for all processes that are alive, for some, or for none.',
    }),
    since: nullable(Type.String({ format: 'date-time' })),
    why: nullable(Type.String()),
    lines_in_use: Type.Integer(),
    max_calls: nullable(Type.Integer(), 'Null: without a limit.'),
    calls_per_second: nullable(Type.Number()),
    caller_numbers: Type.Array(Type.String()),
    countries: Type.Array(Type.String(), { description: 'ISO 3166-1 alpha-2.' }),
    allow_prefixes: Type.Array(Type.String()),
    calls_today: Type.Integer({ description: 'Of the day (UTC).' }),
    spend_today_micros: Type.Integer({ description: "In millionths of the trunks' currency." }),
    last_failure: TrunkReport.properties.last_failure,
    workers: Type.Array(
      Type.Object({ ...TrunkReport.properties, worker_id: Type.String(), host: Type.String() }, closed),
      { description: 'By process.' },
    ),
    last_test: nullable(OperatorTestCall),
  },
  { ...closed, $id: 'OperatorTrunk' },
);
export type OperatorTrunk = Shape<typeof OperatorTrunk>;
