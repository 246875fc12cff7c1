/** The deployment itself in the operator API: its check-up, processes, providers, alerts, settings. */
import { Type } from 'typebox';
import { enumeration } from './enumeration.ts';
import { OperatorTrunk, TrunkReport } from './operator-trunks.ts';
import { nullable } from './schemas.ts';
import type { Shape } from './shape.ts';

const closed = { additionalProperties: false } as const;

export const DoctorReport = Type.Object(
  {
    problems: Type.Array(Type.String(), {
      description: 'One sentence each; what an operator should look at.',
    }),
    environment: enumeration(['test', 'production']),
    database: Type.Object(
      {
        kind: enumeration(['postgres', 'embedded']),
        version: Type.String(),
        migrations: Type.Array(
          Type.Object({ name: Type.String(), applied_at: Type.String({ format: 'date-time' }) }, closed),
        ),
      },
      closed,
    ),
    queues: Type.Array(
      Type.Object(
        {
          queue: Type.String(),
          waiting: Type.Integer(),
          due: Type.Integer(),
          leased: Type.Integer(),
          expired: Type.Integer(),
          oldest_due_seconds: nullable(Type.Number()),
        },
        closed,
      ),
    ),
    workers: Type.Array(
      Type.Object(
        {
          worker: Type.String(),
          queue: Type.String(),
          leases: Type.Integer(),
          lease_seconds_left: Type.Number({
            description: 'Until the first of its leases expires; negative when it has.',
          }),
        },
        closed,
      ),
    ),
    wrong_counters: Type.Array(
      Type.Object({ scope: Type.String(), counted: Type.Integer(), leased: Type.Integer() }, closed),
      { description: 'Counters of live calls that differ from the leases that they count.' },
    ),
    goals: Type.Array(
      Type.Object({ id: Type.String(), title: Type.String(), not_ready: Type.Array(Type.String()) }, closed),
      { description: 'Every Goal with a published RunSpec.' },
    ),
  },
  {
    ...closed,
    $id: 'DoctorReport',
    description: 'The check-up of a deployment. `problems` is empty when all is well.',
  },
);
export type DoctorReport = Shape<typeof DoctorReport>;

export const ProviderReport = Type.Object(
  {
    provider: enumeration(['chat', 'realtime', 'cascade']),
    last_success_at: nullable(Type.String({ format: 'date-time' })),
    last_failure: nullable(
      Type.Object({ at: Type.String({ format: 'date-time' }), note: Type.String() }, closed),
    ),
    paused_until: nullable(
      Type.String({ format: 'date-time' }),
      'It failed too often, and is left alone until then.',
    ),
  },
  {
    ...closed,
    $id: 'ProviderReport',
    description: 'What a provider did for one process; nothing of what was said to it or by it.',
  },
);
export type ProviderReport = Shape<typeof ProviderReport>;

export const OperatorWorker = Type.Object(
  {
    id: Type.String(),
    host: Type.String(),
    version: Type.String(),
    roles: Type.Array(Type.String()),
    started_at: Type.String({ format: 'date-time' }),
    last_seen_at: Type.String({ format: 'date-time' }),
    alive: Type.Boolean({ description: 'Whether it was heard of lately.' }),
    live_calls: Type.Integer(),
    drain_requested_at: nullable(Type.String({ format: 'date-time' })),
    draining: Type.Boolean({
      description: 'It takes no new calls: it was asked to drain and knows of it, or it is stopping.',
    }),
    trunks: Type.Array(TrunkReport),
    providers: Type.Array(ProviderReport),
  },
  { ...closed, $id: 'OperatorWorker', description: 'A process of the deployment.' },
);
export type OperatorWorker = Shape<typeof OperatorWorker>;

/** The last segment of `POST /operator/v1/workers/{worker_id}/{action}`. */
export type WorkerSwitch = 'drain' | 'resume';

export const SettingInForce = Type.Object(
  {
    variable: Type.String(),
    about: Type.String(),
    value: nullable(Type.String(), 'Null for a secret, and for what is not set.'),
    is_set: Type.Boolean(),
    secret: Type.Boolean(),
    is_default: Type.Boolean(),
  },
  { ...closed, $id: 'SettingInForce' },
);
export type SettingInForce = Shape<typeof SettingInForce>;

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

export const Alert = Type.Object(
  {
    kind: enumeration(alertKinds),
    message: Type.String(),
    hint: Type.String(),
    goal_id: nullable(Type.String()),
  },
  { ...closed, $id: 'Alert', description: 'Something that wants attention, and what to do about it.' },
);
export type Alert = Shape<typeof Alert>;

const { workers: _workers, database, goals: _goals, ...examined } = DoctorReport.properties;

export const SystemReport = Type.Object(
  {
    ...examined,
    alerts: Type.Array(Alert),
    version: Type.String({ description: 'Of the process that answered.' }),
    started_at: Type.String({ format: 'date-time' }),
    now: Type.String({ format: 'date-time' }),
    database: Type.Object(
      {
        ...database.properties,
        size_bytes: Type.Integer(),
        latency_ms: Type.Number({ description: 'Of a question that reads nothing.' }),
      },
      closed,
    ),
    workers: Type.Array(OperatorWorker),
    trunks: Type.Array(OperatorTrunk),
    providers_configured: Type.Array(ProviderReport.properties.provider, {
      description: 'Which providers the settings name.',
    }),
    webhooks: Type.Object(
      {
        due: Type.Integer({ description: 'To be sent now, or on their way.' }),
        waiting: Type.Integer({ description: 'Waiting for their next try.' }),
        oldest_due_seconds: nullable(Type.Number()),
        endpoints_disabled: Type.Integer(),
      },
      closed,
    ),
    settings: Type.Array(SettingInForce),
  },
  { ...closed, $id: 'SystemReport', description: 'The deployment at a glance.' },
);
export type SystemReport = Shape<typeof SystemReport>;
