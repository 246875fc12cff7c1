/**
 * The operator API, `/operator/v1`: what the CLI and the console use to run a deployment. It takes an operator
 * token, sees every account, and is no part of the Developer API. Refusals have the same envelope.
 */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import { scopes } from './errors.ts';
import { printableText } from './printable.ts';
import { nullable } from './schemas.ts';
import type { Shape } from './shape.ts';

const closed = { additionalProperties: false } as const;

export interface OperatorList<Item> {
  readonly object: 'list';
  readonly data: readonly Item[];
  /** Pass it as `after` for the next page; null on the last one. */
  readonly next_cursor: string | null;
}

/** A page of a list; `limit` is 1–100, 20 by default. */
export interface PageQuery {
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly after?: string;
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
            printableText({
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

export const AccountDisclosure = Type.Union(
  [
    Type.Object({ off: Type.Literal(false) }, closed),
    Type.Object(
      {
        off: Type.Literal(true),
        reason: Type.String({ description: 'Why, in the words of whoever switched it off.' }),
        by: nullable(Type.String(), 'Name of the person of the console; null: by the operator API.'),
        at: Type.String({ format: 'date-time' }),
      },
      closed,
    ),
  ],
  {
    $id: 'AccountDisclosure',
    description: 'Whether calls begin by saying that an automated assistant is calling.',
  },
);
export type AccountDisclosure = Shape<typeof AccountDisclosure>;

export const OperatorAccount = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    max_active_calls: Type.Integer(),
    active_calls: Type.Integer(),
    max_inbound_calls: Type.Integer(),
    active_inbound_calls: Type.Integer(),
    max_active_tasks: nullable(Type.Integer(), 'Null: what its lines allow.'),
    region: Type.String(),
    default_number: nullable(Type.String(), 'Id of the number that callees see; null: the shared lines.'),
    monthly_budget: nullable(Type.String(), 'US dollars; null: none.'),
    disclosure: AccountDisclosure,
    created_at: Type.String({ format: 'date-time' }),
  },
  { ...closed, $id: 'OperatorAccount' },
);
export type OperatorAccount = Shape<typeof OperatorAccount>;

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

export const OperatorKey = Type.Object(
  {
    id: Type.String(),
    account_id: Type.String(),
    scopes: Type.Array(enumeration(scopes)),
    regions: nullable(Type.Array(Type.String())),
    expires_at: nullable(Type.String({ format: 'date-time' })),
    revoked_at: nullable(Type.String({ format: 'date-time' })),
    last_used_at: nullable(
      Type.String({ format: 'date-time' }),
      'To the minute; null: never, or not since this is noted.',
    ),
    created_at: Type.String({ format: 'date-time' }),
  },
  { ...closed, $id: 'OperatorKey' },
);
export type OperatorKey = Shape<typeof OperatorKey>;

export const CreatedKey = Type.Object(
  {
    ...OperatorKey.properties,
    key: Type.String(),
  },
  {
    ...closed,
    $id: 'CreatedKey',
    description: 'The answer to a creation: the only time that the key itself is shown.',
  },
);
export type CreatedKey = Shape<typeof CreatedKey>;

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
