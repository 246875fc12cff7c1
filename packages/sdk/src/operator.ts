import type {
  AddNumberRequest,
  AccountRole,
  AgentKind,
  CreatedKey,
  CreateKeyRequest,
  CreateWebhookRequest,
  DeploymentUsage,
  DoctorReport,
  GoalAction,
  GoalTestLine,
  GoalValidation,
  InviteRequest,
  ListCallsQuery,
  ListDeliveriesQuery,
  ListGoalsQuery,
  ListRunsQuery,
  ListWebhooksQuery,
  OperatorAccount,
  OperatorCall,
  OperatorCallDetail,
  OperatorDelivery,
  OperatorDeliveryDetail,
  OperatorGoal,
  OperatorGoalDetail,
  OperatorKey,
  OperatorList,
  OperatorNumber,
  OperatorInvitation,
  OperatorPerson,
  OperatorRun,
  OperatorRunDetail,
  OperatorTestCall,
  OperatorTrunk,
  OperatorWebhook,
  PersonLink,
  RingRequest,
  RungNumber,
  OperatorWorker,
  RunProgress,
  SystemReport,
  TestCallRequest,
  UpdateAccountRequest,
  UpdateNumberRequest,
  Usage,
  UsageByCall,
  UsageByDay,
  UsageByGoal,
  UsageDays,
  UsageGrouping,
  UsageQuery,
  WebhookSwitch,
  WebhookWithSecret,
  WorkerSwitch,
} from '@trunkcall/contract';
import {
  createTransport,
  queryString,
  type CallOptions,
  type ClientOptions,
  type Query,
  type Transport,
} from './transport.ts';

export interface OperatorOptions extends ClientOptions {
  readonly operatorToken: string;
}

export interface GoalFileText {
  /** YAML or JSON. */
  readonly text: string;
  readonly mediaType: 'application/yaml' | 'application/json';
}

/** Another agent than the Goal’s own may speak in a test. */
export interface GoalTestOptions extends CallOptions {
  readonly agent?: AgentKind;
}

const watchSeconds = 20;
/** A test takes no longer. */
const longestTestMs = 600_000;

/**
 * The operator API. Reads are repeated like those of `Trunkcall`; a command is sent again only when it was
 * refused unprocessed (`429`), so it never happens twice.
 */
export class OperatorClient {
  readonly #transport: Transport;

  constructor({ operatorToken, ...options }: OperatorOptions) {
    this.#transport = createTransport(options, operatorToken);
  }

  createAccount(name: string, options?: CallOptions): Promise<OperatorAccount> {
    return this.#post('/accounts', { name }, options);
  }

  listAccounts(options?: CallOptions): Promise<OperatorList<OperatorAccount>> {
    return this.#get('/accounts', {}, options);
  }

  /** `account` is an id or a name; what `change` leaves out stays. */
  updateAccount(
    account: string,
    change: UpdateAccountRequest,
    options?: CallOptions,
  ): Promise<OperatorAccount> {
    return this.#send('PATCH', `/accounts/${encodeURIComponent(account)}`, jsonBody(change), options);
  }

  /** People with a role in the account, and operators, by e-mail address. */
  listPeople(account: string, options?: CallOptions): Promise<OperatorList<OperatorPerson>> {
    return this.#get(`/accounts/${encodeURIComponent(account)}/people`, {}, options);
  }

  /** Gives somebody a role in an account, or makes an operator; the link for somebody new is shown this once. */
  invitePerson(account: string, invitation: InviteRequest, options?: CallOptions): Promise<PersonLink> {
    return this.#post(`/accounts/${encodeURIComponent(account)}/people`, invitation, options);
  }

  /** Invitations whose links nobody has followed yet. */
  listInvitations(account: string, options?: CallOptions): Promise<OperatorList<OperatorInvitation>> {
    return this.#get(`/accounts/${encodeURIComponent(account)}/invitations`, {}, options);
  }

  /** Ends the links of an invitation into the account or of an operator. */
  withdrawInvitation(
    account: string,
    email: string,
    options?: CallOptions,
  ): Promise<OperatorList<OperatorInvitation>> {
    return this.#post(`/accounts/${encodeURIComponent(account)}/invitations/withdraw`, { email }, options);
  }

  setPersonRole(
    account: string,
    personId: string,
    role: AccountRole,
    options?: CallOptions,
  ): Promise<OperatorPerson> {
    return this.#send('PATCH', memberPath(account, personId), jsonBody({ role }), options);
  }

  /** Takes a person's role in an account away. */
  takePersonRole(account: string, personId: string, options?: CallOptions): Promise<OperatorPerson> {
    return this.#post(`${memberPath(account, personId)}/remove`, undefined, options);
  }

  /** A one-time link by which a person chooses a new password. */
  createPasswordLink(personId: string, options?: CallOptions): Promise<PersonLink> {
    return this.#post(`/people/${encodeURIComponent(personId)}/password_link`, undefined, options);
  }

  /** Removes a person from the deployment for good. */
  removePerson(personId: string, options?: CallOptions): Promise<OperatorPerson> {
    return this.#post(`/people/${encodeURIComponent(personId)}/remove`, undefined, options);
  }

  addNumber(number: AddNumberRequest, options?: CallOptions): Promise<OperatorNumber> {
    return this.#post('/numbers', number, options);
  }

  listNumbers(options?: CallOptions): Promise<OperatorList<OperatorNumber>> {
    return this.#get('/numbers', {}, options);
  }

  /** Changes whose a number is, who answers it, or its label; what is left out stays. */
  updateNumber(
    numberId: string,
    change: UpdateNumberRequest,
    options?: CallOptions,
  ): Promise<OperatorNumber> {
    return this.#send('PATCH', `/numbers/${encodeURIComponent(numberId)}`, jsonBody(change), options);
  }

  /** Lets a simulated person call the number; resolves when the call is answered, refused or given up. */
  ringNumber(numberId: string, ring: RingRequest = {}, options?: CallOptions): Promise<RungNumber> {
    return this.#post(`/numbers/${encodeURIComponent(numberId)}/ring`, ring, options);
  }

  removeNumber(numberId: string, options?: CallOptions): Promise<OperatorNumber> {
    return this.#post(`/numbers/${encodeURIComponent(numberId)}/remove`, undefined, options);
  }

  createKey(key: CreateKeyRequest, options?: CallOptions): Promise<CreatedKey> {
    return this.#post('/keys', key, options);
  }

  listKeys(account: string, options?: CallOptions): Promise<OperatorList<OperatorKey>> {
    return this.#get('/keys', { account }, options);
  }

  revokeKey(keyId: string, options?: CallOptions): Promise<OperatorKey> {
    return this.#post(`/keys/${encodeURIComponent(keyId)}/revoke`, undefined, options);
  }

  /** Writes a Goal file as the draft of a new Goal, or of the one with `goalId`. */
  applyGoal(
    account: string,
    file: GoalFileText,
    goalId?: string,
    options?: CallOptions,
  ): Promise<OperatorGoal> {
    const query = queryString({ account });
    const sent = { type: file.mediaType, text: file.text };
    return goalId === undefined
      ? this.#send('POST', `/goals${query}`, sent, options)
      : this.#send('PUT', `/goals/${encodeURIComponent(goalId)}/draft${query}`, sent, options);
  }

  validateGoal(file: GoalFileText, options?: CallOptions): Promise<GoalValidation> {
    return this.#send('POST', '/goals/validate', { type: file.mediaType, text: file.text }, options);
  }

  /**
   * Tests a Goal file, or the draft of the Goal with this id, against its scripted callees: gives what came of each call
   * as it is over, then the summary. Nobody is phoned and nothing is kept. Without a summary the test broke off.
   */
  testGoal(
    goal: GoalFileText | string,
    { agent, ...options }: GoalTestOptions = {},
  ): AsyncGenerator<GoalTestLine, void, undefined> {
    const query = queryString({ agent });
    const exchange = { method: 'POST', repeatable: false, extraTimeMs: longestTestMs } as const;
    if (typeof goal === 'string') {
      const path = `/operator/v1/goals/${encodeURIComponent(goal)}/test${query}`;
      return this.#transport.lines({ ...exchange, path }, options);
    }
    const headers = { 'content-type': goal.mediaType };
    const path = `/operator/v1/goals/test${query}`;
    return this.#transport.lines({ ...exchange, path, headers, body: goal.text }, options);
  }

  /** Goals of one account or of all, oldest first. */
  listGoals(query: ListGoalsQuery = {}, options?: CallOptions): Promise<OperatorList<OperatorGoal>> {
    return this.#get('/goals', { ...query }, options);
  }

  getGoal(goalId: string, options?: CallOptions): Promise<OperatorGoalDetail> {
    return this.#get(`/goals/${encodeURIComponent(goalId)}`, {}, options);
  }

  commandGoal(goalId: string, action: GoalAction, options?: CallOptions): Promise<OperatorGoal> {
    return this.#post(`/goals/${encodeURIComponent(goalId)}/${action}`, undefined, options);
  }

  /** Runs, newest first. */
  listRuns(query: ListRunsQuery = {}, options?: CallOptions): Promise<OperatorList<OperatorRun>> {
    return this.#get('/runs', { ...query }, options);
  }

  /** `run` is a Goal Run id or a `run_id`. */
  getRun(run: string, options?: CallOptions): Promise<OperatorRunDetail> {
    return this.#get(`/runs/${encodeURIComponent(run)}`, {}, options);
  }

  /** Gives what happens to a Run, from its acceptance on and as it happens, until it has a result or an error. */
  async *watchRun(run: string, options?: CallOptions): AsyncGenerator<RunProgress, void, undefined> {
    let after: string | undefined;
    for (;;) {
      const progress = await this.#watchOnce(run, after, options);
      yield progress;
      if (progress.final) return;
      after = progress.position;
    }
  }

  cancelRun(run: string, options?: CallOptions): Promise<OperatorRun> {
    return this.#post(`/runs/${encodeURIComponent(run)}/cancel`, undefined, options);
  }

  /** Call tasks and one-shot calls, newest first. */
  listCalls(query: ListCallsQuery = {}, options?: CallOptions): Promise<OperatorList<OperatorCall>> {
    return this.#get('/calls', { ...query }, options);
  }

  getCall(callId: string, options?: CallOptions): Promise<OperatorCallDetail> {
    return this.#get(`/calls/${encodeURIComponent(callId)}`, {}, options);
  }

  /** Stops a call: live calls of it are hung up shortly after. */
  cancelCall(callId: string, options?: CallOptions): Promise<OperatorCall> {
    return this.#post(`/calls/${encodeURIComponent(callId)}/cancel`, undefined, options);
  }

  createWebhook(webhook: CreateWebhookRequest, options?: CallOptions): Promise<WebhookWithSecret> {
    return this.#post('/webhooks', webhook, options);
  }

  /** Webhook endpoints of one account or of all, oldest first. */
  listWebhooks(query: ListWebhooksQuery = {}, options?: CallOptions): Promise<OperatorList<OperatorWebhook>> {
    return this.#get('/webhooks', { ...query }, options);
  }

  getWebhook(webhookId: string, options?: CallOptions): Promise<OperatorWebhook> {
    return this.#get(`/webhooks/${encodeURIComponent(webhookId)}`, {}, options);
  }

  switchWebhook(webhookId: string, to: WebhookSwitch, options?: CallOptions): Promise<OperatorWebhook> {
    return this.#post(`/webhooks/${encodeURIComponent(webhookId)}/${to}`, undefined, options);
  }

  /** Forgets an endpoint; what was to be sent to it is abandoned. */
  removeWebhook(webhookId: string, options?: CallOptions): Promise<OperatorWebhook> {
    return this.#post(`/webhooks/${encodeURIComponent(webhookId)}/remove`, undefined, options);
  }

  rotateWebhookSecret(webhookId: string, options?: CallOptions): Promise<WebhookWithSecret> {
    return this.#post(`/webhooks/${encodeURIComponent(webhookId)}/rotate_secret`, undefined, options);
  }

  testWebhook(webhookId: string, options?: CallOptions): Promise<OperatorDelivery> {
    return this.#post(`/webhooks/${encodeURIComponent(webhookId)}/test`, undefined, options);
  }

  /** Webhook deliveries, newest first. */
  listDeliveries(
    query: ListDeliveriesQuery = {},
    options?: CallOptions,
  ): Promise<OperatorList<OperatorDelivery>> {
    return this.#get('/webhook_deliveries', { ...query }, options);
  }

  getDelivery(deliveryId: string, options?: CallOptions): Promise<OperatorDeliveryDetail> {
    return this.#get(`/webhook_deliveries/${encodeURIComponent(deliveryId)}`, {}, options);
  }

  replayDelivery(deliveryId: string, options?: CallOptions): Promise<OperatorDelivery> {
    return this.#post(`/webhook_deliveries/${encodeURIComponent(deliveryId)}/replay`, undefined, options);
  }

  /** What an account's calls would cost, by day, Goal or call; a preview, nothing is charged. */
  usage(
    account: string,
    query?: UsageQuery & { readonly by?: 'day' },
    options?: CallOptions,
  ): Promise<UsageByDay>;
  usage(
    account: string,
    query: UsageQuery & { readonly by: 'goal' },
    options?: CallOptions,
  ): Promise<UsageByGoal>;
  usage(
    account: string,
    query: UsageQuery & { readonly by: 'call' },
    options?: CallOptions,
  ): Promise<UsageByCall>;
  usage(account: string, query?: UsageQuery, options?: CallOptions): Promise<Usage>;
  usage(account: string, query: UsageQuery = {}, options?: CallOptions): Promise<Usage> {
    return this.#get(`/accounts/${encodeURIComponent(account)}/usage`, { ...query }, options);
  }

  /** The same as CSV (RFC 4180), whole. */
  usageCsv(
    account: string,
    query: UsageDays & { readonly by?: UsageGrouping } = {},
    options?: CallOptions,
  ): Promise<string> {
    return this.#getText(`/accounts/${encodeURIComponent(account)}/usage`, query, options);
  }

  /** Totals of all accounts. */
  deploymentUsage(query: UsageDays = {}, options?: CallOptions): Promise<DeploymentUsage> {
    return this.#get('/usage', { ...query }, options);
  }

  deploymentUsageCsv(query: UsageDays = {}, options?: CallOptions): Promise<string> {
    return this.#getText('/usage', query, options);
  }

  /** The processes of the deployment, oldest first. */
  listWorkers(options?: CallOptions): Promise<OperatorList<OperatorWorker>> {
    return this.#get('/workers', {}, options);
  }

  /** Asks a process to take no new calls, or to take them again; it does within seconds. */
  switchWorker(workerId: string, to: WorkerSwitch, options?: CallOptions): Promise<OperatorWorker> {
    return this.#post(`/workers/${encodeURIComponent(workerId)}/${to}`, undefined, options);
  }

  listTrunks(options?: CallOptions): Promise<OperatorList<OperatorTrunk>> {
    return this.#get('/trunks', {}, options);
  }

  /** Has a short call placed over one trunk; `getTestCall` follows it. */
  testTrunk(trunk: string, request: TestCallRequest, options?: CallOptions): Promise<OperatorTestCall> {
    return this.#post(`/trunks/${encodeURIComponent(trunk)}/test_calls`, request, options);
  }

  getTestCall(testCallId: string, options?: CallOptions): Promise<OperatorTestCall> {
    return this.#get(`/test_calls/${encodeURIComponent(testCallId)}`, {}, options);
  }

  system(options?: CallOptions): Promise<SystemReport> {
    return this.#get('/system', {}, options);
  }

  doctor(options?: CallOptions): Promise<DoctorReport> {
    return this.#get('/doctor', {}, options);
  }

  async #watchOnce(run: string, after: string | undefined, options?: CallOptions): Promise<RunProgress> {
    const query = queryString({ after, wait_seconds: watchSeconds });
    const path = `/operator/v1/runs/${encodeURIComponent(run)}/progress${query}`;
    const exchange = { method: 'GET', path, repeatable: true, extraTimeMs: watchSeconds * 1_000 } as const;
    return (await this.#transport.send<RunProgress>(exchange, options)).body;
  }

  async #getText(path: string, query: UsageDays, options: CallOptions | undefined): Promise<string> {
    const sent = queryString({ ...query, format: 'csv' });
    const exchange = {
      method: 'GET',
      path: `/operator/v1${path}${sent}`,
      repeatable: true,
      answer: 'text',
    } as const;
    return (await this.#transport.send<string>(exchange, options)).body;
  }

  async #get<T>(path: string, query: Query, options: CallOptions | undefined): Promise<T> {
    const exchange = {
      method: 'GET',
      path: `/operator/v1${path}${queryString(query)}`,
      repeatable: true,
    } as const;
    return (await this.#transport.send<T>(exchange, options)).body;
  }

  #post<T>(path: string, body: unknown, options: CallOptions | undefined): Promise<T> {
    return this.#send('POST', path, body === undefined ? undefined : jsonBody(body), options);
  }

  async #send<T>(
    method: 'POST' | 'PUT' | 'PATCH',
    path: string,
    sent: { readonly type: string; readonly text: string } | undefined,
    options: CallOptions | undefined,
  ): Promise<T> {
    const content = sent === undefined ? {} : { headers: { 'content-type': sent.type }, body: sent.text };
    const exchange = { method, path: `/operator/v1${path}`, repeatable: false, ...content };
    return (await this.#transport.send<T>(exchange, options)).body;
  }
}

const jsonBody = (value: unknown) => ({ type: 'application/json', text: JSON.stringify(value) });

const memberPath = (account: string, personId: string) =>
  `/accounts/${encodeURIComponent(account)}/people/${encodeURIComponent(personId)}`;
