/** Operations of the operator API on accounts: keys, people, numbers, usage. */
import { scopes } from './errors.ts';
import {
  answer,
  body,
  exampleIds,
  inPath,
  operation,
  orElse,
  page,
  query,
  requiredAccount,
} from './openapi-operator-parts.ts';
import type { Json } from './openapi-parts.ts';
import {
  CreateAccountRequest,
  CreatedKey,
  CreateKeyRequest,
  OperatorAccount,
  OperatorKey,
  UpdateAccountRequest,
} from './operator.ts';
import {
  AddNumberRequest,
  OperatorNumber,
  RingRequest,
  RungNumber,
  UpdateNumberRequest,
} from './operator-numbers.ts';
import {
  ChangeRoleRequest,
  InviteRequest,
  OperatorInvitation,
  OperatorPerson,
  PersonLink,
  WithdrawInvitationRequest,
} from './operator-people.ts';
import { listOf } from './schemas.ts';
import { DeploymentUsage, Usage, usageGroupings } from './usage.ts';

const accountExample: Json = {
  id: exampleIds.account,
  name: 'Example Ltd',
  max_active_calls: 10,
  active_calls: 0,
  max_inbound_calls: 10,
  active_inbound_calls: 0,
  max_active_tasks: null,
  region: 'US',
  default_number: null,
  monthly_budget: '250.0000',
  disclosure: { off: false },
  created_at: '2026-03-02T09:30:00.000Z',
};

const accounts: Json = {
  '/accounts': {
    post: operation({
      operationId: 'createAccount',
      tag: 'Accounts',
      summary: 'Create an account',
      requestBody: body(CreateAccountRequest, { name: 'Example Ltd' }),
      answers: { 201: answer('The new account.', OperatorAccount, accountExample) },
      refuses: ['already_exists', 'payload_too_large'],
    }),
    get: operation({
      operationId: 'listAccounts',
      tag: 'Accounts',
      summary: 'List all accounts',
      answers: { 200: answer('All accounts, whole.', listOf(OperatorAccount)) },
    }),
  },
  '/accounts/{account}': {
    parameters: [inPath.account],
    get: operation({
      operationId: 'getAccount',
      tag: 'Accounts',
      summary: 'Get an account',
      answers: { 200: answer('The account.', OperatorAccount, accountExample) },
      refuses: ['not_found'],
    }),
    patch: operation({
      operationId: 'updateAccount',
      tag: 'Accounts',
      summary: 'Change an account',
      description: 'What is left out stays. With more room, call tasks that waited for it begin.',
      requestBody: body(UpdateAccountRequest, { max_active_calls: 20, monthly_budget: '250.00' }),
      answers: { 200: answer('The changed account.', OperatorAccount, accountExample) },
      refuses: ['not_found', 'payload_too_large'],
    }),
  },
};

const days: readonly Json[] = [
  query('from', 'First day, UTC; the first of the month by default.', { type: 'string', format: 'date' }),
  query('to', 'Last day, UTC; today by default. At most 366 days.', { type: 'string', format: 'date' }),
  query('format', 'CSV has everything, without pages.', {
    type: 'string',
    enum: ['json', 'csv'],
    default: 'json',
  }),
];
const csv = (answered: Json): Json => orElse(answered, 'text/csv', 'RFC 4180, with a line of names.');

const usage: Json = {
  '/accounts/{account}/usage': {
    parameters: [inPath.account],
    get: operation({
      operationId: 'getUsage',
      tag: 'Usage',
      summary: 'What an account’s calls would cost',
      description:
        'By the preview table of prices; nothing is charged. `limit` and `after` go with `by=call` and JSON alone.',
      parameters: [
        ...days,
        query('by', 'What a line stands for.', { type: 'string', enum: [...usageGroupings], default: 'day' }),
        ...page,
      ],
      answers: { 200: csv(answer('The usage.', Usage)) },
      refuses: ['not_found'],
    }),
  },
  '/usage': {
    get: operation({
      operationId: 'getDeploymentUsage',
      tag: 'Usage',
      summary: 'What the calls of all accounts would cost',
      description: 'By the preview table of prices; nothing is charged.',
      parameters: days,
      answers: { 200: csv(answer('Totals of all accounts.', DeploymentUsage)) },
    }),
  },
};

const keyExample: Json = {
  id: exampleIds.key,
  account_id: exampleIds.account,
  scopes: [...scopes],
  regions: null,
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  created_at: '2026-03-02T09:30:00.000Z',
};

const keys: Json = {
  '/keys': {
    post: operation({
      operationId: 'createKey',
      tag: 'Keys',
      summary: 'Create an API key',
      description: 'The answer is the only time that the key itself is shown.',
      requestBody: body(CreateKeyRequest, { account: 'Example Ltd', scopes: ['goals:read', 'runs:write'] }),
      answers: { 201: answer('The new key.', CreatedKey) },
      refuses: ['not_found', 'payload_too_large'],
    }),
    get: operation({
      operationId: 'listKeys',
      tag: 'Keys',
      summary: 'List the keys of an account',
      parameters: [requiredAccount],
      answers: { 200: answer('All its keys, oldest first.', listOf(OperatorKey)) },
      refuses: ['not_found'],
    }),
  },
  '/keys/{key_id}/revoke': {
    parameters: [inPath.key],
    post: operation({
      operationId: 'revokeKey',
      tag: 'Keys',
      summary: 'Revoke a key for good',
      description: 'In force within 5 seconds. Safe to repeat.',
      answers: {
        200: answer('The revoked key.', OperatorKey, {
          ...keyExample,
          revoked_at: '2026-03-03T10:00:00.000Z',
        }),
      },
      refuses: ['not_found'],
    }),
  },
};

const personExample: Json = {
  id: exampleIds.person,
  email: 'ada@example.com',
  name: 'Ada',
  operator: false,
  role: 'author',
  created_at: '2026-03-02T09:30:00.000Z',
};

const people: Json = {
  '/accounts/{account}/people': {
    parameters: [inPath.account],
    get: operation({
      operationId: 'listPeople',
      tag: 'People',
      summary: 'List who has a role in an account',
      answers: { 200: answer('By e-mail address; operators are in every account.', listOf(OperatorPerson)) },
      refuses: ['not_found'],
    }),
    post: operation({
      operationId: 'invitePerson',
      tag: 'People',
      summary: 'Give somebody a role in an account, or make an operator',
      description:
        'Whoever is new gets a one-time link, good for seven days; it is shown in this answer alone. An older link for the same address and account ends.',
      requestBody: body(InviteRequest, { email: 'ada@example.com', role: 'author' }),
      answers: { 201: answer('The link, or none for a person who is there already.', PersonLink) },
      refuses: ['not_found', 'already_exists', 'payload_too_large'],
    }),
  },
  '/accounts/{account}/invitations': {
    parameters: [inPath.account],
    get: operation({
      operationId: 'listInvitations',
      tag: 'People',
      summary: 'List invitations that nobody has followed yet',
      answers: {
        200: answer(
          'By e-mail address; those of operators are in every account.',
          listOf(OperatorInvitation),
        ),
      },
      refuses: ['not_found'],
    }),
  },
  '/accounts/{account}/invitations/withdraw': {
    parameters: [inPath.account],
    post: operation({
      operationId: 'withdrawInvitation',
      tag: 'People',
      summary: 'End the links of an invitation',
      description: 'Those for the address in the account, and those by which it would become an operator.',
      requestBody: body(WithdrawInvitationRequest, { email: 'ada@example.com' }),
      answers: { 200: answer('What is withdrawn.', listOf(OperatorInvitation)) },
      refuses: ['not_found', 'payload_too_large'],
    }),
  },
  '/accounts/{account}/people/{person_id}': {
    parameters: [inPath.account, inPath.person],
    patch: operation({
      operationId: 'setPersonRole',
      tag: 'People',
      summary: 'Give a person another role in an account',
      requestBody: body(ChangeRoleRequest, { role: 'author' }),
      answers: { 200: answer('The person.', OperatorPerson, personExample) },
      refuses: ['not_found', 'payload_too_large'],
    }),
  },
  '/accounts/{account}/people/{person_id}/remove': {
    parameters: [inPath.account, inPath.person],
    post: operation({
      operationId: 'takePersonRole',
      tag: 'People',
      summary: 'Take a person’s role in an account away',
      answers: {
        200: answer('The person, without a role.', OperatorPerson, { ...personExample, role: null }),
      },
      refuses: ['not_found'],
    }),
  },
  '/people/{person_id}/password_link': {
    parameters: [inPath.person],
    post: operation({
      operationId: 'createPasswordLink',
      tag: 'People',
      summary: 'Make a link by which a person chooses a new password',
      description: 'Good for a day; an older one ends. It is shown in this answer alone.',
      answers: { 201: answer('The link.', PersonLink) },
      refuses: ['not_found'],
    }),
  },
  '/people/{person_id}/remove': {
    parameters: [inPath.person],
    post: operation({
      operationId: 'removePerson',
      tag: 'People',
      summary: 'Remove a person from the deployment for good',
      description: 'Their sessions end. The last operator stays: that is `forbidden`.',
      answers: { 200: answer('Who is gone.', OperatorPerson, { ...personExample, role: null }) },
      refuses: ['not_found', 'forbidden'],
    }),
  },
};

const numberExample: Json = {
  id: exampleIds.number,
  phone: '+12025550142',
  label: 'Front desk',
  origin: 'entered',
  account_id: exampleIds.account,
  is_default: false,
  inbound_goal_id: null,
  refused_today: {},
  created_at: '2026-03-02T09:30:00.000Z',
};

const numbers: Json = {
  '/numbers': {
    post: operation({
      operationId: 'addNumber',
      tag: 'Numbers',
      summary: 'Enter a number of ours',
      requestBody: body(AddNumberRequest, {
        phone: '+12025550142',
        account: 'Example Ltd',
        label: 'Front desk',
      }),
      answers: { 201: answer('The new number.', OperatorNumber, numberExample) },
      refuses: ['not_found', 'already_exists', 'payload_too_large'],
    }),
    get: operation({
      operationId: 'listNumbers',
      tag: 'Numbers',
      summary: 'List all our numbers',
      answers: { 200: answer('All numbers, whole.', listOf(OperatorNumber)) },
    }),
  },
  '/numbers/{number_id}': {
    parameters: [inPath.number],
    patch: operation({
      operationId: 'updateNumber',
      tag: 'Numbers',
      summary: 'Change whose a number is, who answers it, or its label',
      description: 'What is left out stays.',
      requestBody: body(UpdateNumberRequest, { inbound_goal: exampleIds.goal }),
      answers: {
        200: answer('The changed number.', OperatorNumber, {
          ...numberExample,
          inbound_goal_id: exampleIds.goal,
        }),
      },
      refuses: ['not_found', 'payload_too_large'],
    }),
  },
  '/numbers/{number_id}/remove': {
    parameters: [inPath.number],
    post: operation({
      operationId: 'removeNumber',
      tag: 'Numbers',
      summary: 'Forget a number',
      description: 'Not one that callees of an account see.',
      answers: { 200: answer('What is gone.', OperatorNumber, numberExample) },
      refuses: ['not_found'],
    }),
  },
  '/numbers/{number_id}/ring': {
    parameters: [inPath.number],
    post: operation({
      operationId: 'ringNumber',
      tag: 'Numbers',
      summary: 'Let a simulated person call a number',
      description: 'In the environment `test`. Answers when the call is answered, refused or given up.',
      requestBody: body(RingRequest, { from: '+12025550100', does: 'cooperates' }),
      answers: {
        200: answer('What became of the call.', RungNumber, {
          object: 'ring',
          outcome: 'answered',
          run: { id: exampleIds.run, goal_id: exampleIds.goal },
        }),
      },
      refuses: ['not_found', 'ring_not_possible', 'payload_too_large'],
    }),
  },
};

export const accountPaths: Json = { ...accounts, ...keys, ...people, ...numbers, ...usage };
