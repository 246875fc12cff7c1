/** People of the console in the operator API: how they come, what they may do where, how they go. */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import { nullable } from './schemas.ts';
import type { Shape } from './shape.ts';

const closed = { additionalProperties: false } as const;

/** What a person may do in an account; each may do what the ones before may. */
export const accountRoles = ['viewer', 'author', 'owner'] as const;
export type AccountRole = (typeof accountRoles)[number];
/** An operator runs the deployment, and has every right in every account. */
export const consoleRoles = [...accountRoles, 'operator'] as const;
export type ConsoleRole = (typeof consoleRoles)[number];

export const emailAddress = Type.String({ minLength: 3, maxLength: 254, description: 'E-mail address.' });

export const InviteRequest = Type.Object(
  {
    email: emailAddress,
    role: enumeration(consoleRoles, {
      description: 'What they may do: in this account, or as an operator everywhere.',
    }),
  },
  closed,
);
export type InviteRequest = Static<typeof InviteRequest>;
export const ChangeRoleRequest = Type.Object(
  { role: enumeration(accountRoles, { description: 'In this account.' }) },
  closed,
);
export type ChangeRoleRequest = Static<typeof ChangeRoleRequest>;

export const OperatorPerson = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    operator: Type.Boolean({ description: 'Whether they have every right in every account.' }),
    role: nullable(enumeration(accountRoles), 'In the account that was asked about; null: none there.'),
    created_at: Type.String({ format: 'date-time' }),
  },
  { ...closed, $id: 'OperatorPerson', description: 'Somebody who uses the console.' },
);
export type OperatorPerson = Shape<typeof OperatorPerson>;

export const OperatorInvitation = Type.Object(
  {
    email: Type.String(),
    role: enumeration(consoleRoles, { description: 'In the account, or as an operator everywhere.' }),
    created_at: Type.String({ format: 'date-time' }),
    expires_at: Type.String({ format: 'date-time' }),
  },
  { ...closed, $id: 'OperatorInvitation', description: 'An invitation whose link nobody has followed yet.' },
);
export type OperatorInvitation = Shape<typeof OperatorInvitation>;

export const WithdrawInvitationRequest = Type.Object({ email: emailAddress }, closed);
export type WithdrawInvitationRequest = Static<typeof WithdrawInvitationRequest>;

export const PersonLink = Type.Object(
  {
    token: nullable(
      Type.String(),
      'Shown once; goes behind `#` of `/console/join`. Null: an invited person was there already, and has the role now.',
    ),
    expires_at: nullable(Type.String({ format: 'date-time' })),
  },
  { ...closed, $id: 'PersonLink', description: 'A one-time link for a person.' },
);
export type PersonLink = Shape<typeof PersonLink>;
