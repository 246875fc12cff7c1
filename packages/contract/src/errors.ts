/**
 * The catalogue of refusals: each code, the HTTP statuses that it may travel with, and what a client does.
 * Every non-2xx response of the Developer API carries one of these. (Contract: "Errors".)
 */
export const apiErrors = {
  invalid_request: {
    statuses: [400],
    meaning: 'The request is malformed: framing, header, query parameter, cursor or JSON shape.',
    action: 'Fix the request.',
  },
  unauthorized: {
    statuses: [401],
    meaning: 'The API key is missing, malformed, expired, revoked or unknown.',
    action: 'Fix the credentials.',
  },
  forbidden: {
    statuses: [403],
    meaning: 'The key is valid but lacks the capability, region or operation.',
    action: 'Check the key’s scopes and regions.',
  },
  not_found: {
    statuses: [404],
    meaning: 'No such path, or the object is missing, hidden, another owner’s or paired with the wrong Goal.',
    action: 'Check the saved ids; a run_id is not a Goal Run id.',
  },
  method_not_allowed: {
    statuses: [405],
    meaning: 'The path exists, but not with this method; `Allow` lists those that do.',
    action: 'Use an allowed method.',
  },
  request_timeout: {
    statuses: [408],
    meaning: 'The request did not arrive completely in time.',
    action: 'Send it again, with the same Idempotency-Key.',
  },
  idempotency_conflict: {
    statuses: [409],
    meaning: 'The Idempotency-Key was already used for a different request.',
    action: 'Replay only the exact request; a new call takes a new key.',
  },
  goal_not_published: {
    statuses: [409],
    meaning: 'The Goal has no published RunSpec.',
    action: 'Stop; the owner publishes the Goal.',
  },
  goal_not_executable: {
    statuses: [409],
    meaning: 'The Goal is not active (draft, paused or retired).',
    action: 'Stop; the owner resumes the Goal.',
  },
  goal_not_ready: {
    statuses: [409],
    meaning: 'The published RunSpec can not be executed by this deployment now.',
    action: 'Stop; the owner or operator repairs it.',
  },
  run_not_cancelable: {
    statuses: [409],
    meaning: 'The Run has already ended (operator API).',
    action: 'Nothing to do.',
  },
  goal_invalid: {
    statuses: [422],
    meaning: 'The Goal file or draft is not valid; `details.problems` lists where and why (operator API).',
    action: 'Mend the file at the named places.',
  },
  goal_state_conflict: {
    statuses: [409],
    meaning: 'The command is not possible in the Goal’s present state, `details.state` (operator API).',
    action: 'See the Goal’s life: a draft must be published first; a retired Goal stays retired.',
  },
  already_exists: {
    statuses: [409],
    meaning: 'An object with this name exists already (operator API).',
    action: 'Choose another name, or use the existing object.',
  },
  ring_not_possible: {
    statuses: [409],
    meaning:
      'Nobody can be made to call a number here: that is for the simulated network, in a process with the roles api and worker (operator API).',
    action: 'Use a deployment of the environment test; in production, call the number by telephone.',
  },
  test_call_conflict: {
    statuses: [409],
    meaning: 'A test call over this trunk is under way (operator API).',
    action: 'Wait for its end, a minute and a half at most.',
  },
  listening_not_possible: {
    statuses: [409],
    meaning:
      'Nobody can listen in on this call now, or nobody more; `details.listening` says why (operator API).',
    action: 'See the reason: a call without recording is never open; one of another process is, there.',
  },
  webhook_conflict: {
    statuses: [409],
    meaning: 'The webhook endpoint is disabled, or the delivery is being sent at this moment (operator API).',
    action: 'Enable the endpoint, or wait for the end of the try.',
  },
  edit_conflict: {
    statuses: [412],
    meaning:
      'Somebody else changed the draft since it was read; `details.revision` is the present one (console).',
    action: 'Read the draft again, and repeat the change on it.',
  },
  payload_too_large: {
    statuses: [413],
    meaning: 'The body is larger than the operation allows.',
    action: 'Send less.',
  },
  variables_invalid: {
    statuses: [422],
    meaning: '`variables` misses a required key, has an extra one, or a value violates the input schema.',
    action: 'Compare with the Goal’s current input_schema.',
  },
  invalid_phone: {
    statuses: [422],
    meaning: '`phone` is not a supported E.164 number, is outside the Goal’s targets, or must not be called.',
    action: 'Validate the number before sending.',
  },
  result_schema_invalid: {
    statuses: [422],
    meaning: '`result_schema` uses something that is not supported; `details.problems` lists where and what.',
    action: 'Change the schema at the named places.',
  },
  recipient_result_schema_invalid: {
    statuses: [422],
    meaning: '`recipient_result_schema` uses something that is not supported, or a reserved name.',
    action: 'Change the schema at the places in `details.problems`.',
  },
  invalid_webhook_url: {
    statuses: [422],
    meaning: '`webhook_url` is not an HTTPS URL of a public address.',
    action: 'Send a URL that the service may deliver to.',
  },
  call_not_ready: {
    statuses: [422],
    meaning:
      'The call task can not be carried out as it stands: `details.reason_code` says why, `details.questions` asks for what is missing.',
    action: 'Complete the task and send it with a new Idempotency-Key; the old one replays this answer.',
  },
  input_incomplete: {
    statuses: [422],
    meaning: 'The task lacks facts; `details.missing_inputs` lists them.',
    action: 'Complete the task; the same Idempotency-Key may be used.',
  },
  call_cannot_cancel: {
    statuses: [409],
    meaning: 'The call was dialled already, or has ended.',
    action: 'Nothing to do; read the call.',
  },
  gone: {
    statuses: [410],
    meaning: 'The call task endpoints have been retired.',
    action: 'Start Goal Runs or one-shot calls instead.',
  },
  schema_override_not_allowed: {
    statuses: [422],
    meaning: 'The request tried to supply something that the published Goal owns.',
    action: 'Remove the named field.',
  },
  rate_limit_exceeded: {
    statuses: [429],
    meaning: 'Too many requests with this key, or too many wrong keys from this address.',
    action: 'Wait as `Retry-After` says; retry with the same key and body.',
  },
  headers_too_large: {
    statuses: [431],
    meaning: 'The request’s headers are larger than 16 KiB.',
    action: 'Send smaller headers.',
  },
  internal_error: {
    statuses: [500],
    meaning: 'A mistake of ours; the log has the cause under the request id.',
    action: 'Report it with the `Request-Id`; a retry takes the same Idempotency-Key and body.',
  },
  provider_unavailable: {
    statuses: [502, 503],
    meaning: 'The request could not be durably accepted or answered now.',
    action: 'Retry with the same Idempotency-Key and identical body.',
  },
} as const satisfies Record<string, { statuses: readonly number[]; meaning: string; action: string }>;

export type ApiErrorCode = keyof typeof apiErrors;

/** Why a Goal Run has no result (contract: Goal Run `error.code`). */
export const goalRunErrors = {
  call_failed: 'The call could not be placed or carried through.',
  no_answer: 'Nobody answered: it rang out, was busy, or a machine took the call.',
  declined: 'The callee refused the call.',
  timed_out: 'The call reached its time limit.',
  canceled: 'The Run was stopped before it ended by itself.',
  result_invalid: 'The conversation did not yield data that satisfies the result schema.',
  result_unavailable: 'The conversation held nothing from which a result could be drawn.',
  result_failed: 'Result processing failed past its retries.',
} as const;
export type GoalRunErrorCode = keyof typeof goalRunErrors;

/** The finer reasons behind a Goal Run's `error.code`. Stable; more may be added. */
export const detailCodes = {
  ring_timeout: 'The phone rang until the ring limit.',
  unreachable: 'The callee’s network says that the phone is off or out of reach.',
  busy: 'The line is busy.',
  voicemail: 'A machine answered and the Goal says to hang up on machines.',
  declined: 'The callee rejected the call.',
  invalid_number: 'The number is unassigned or incomplete.',
  carrier_error: 'The carrier refused or failed the call.',
  media_failed: 'The audio of the call was lost.',
  agent_failed: 'The voice agent failed during the call.',
  worker_lost: 'The process that led the call died; the number is not dialled again.',
  do_not_call: 'The callee asked not to be called; the number was not dialled.',
  not_allowed:
    'No trunk may call the number: costly, of a country that is not called, or our own. It was not dialled.',
  daily_limit: 'The number or the account has reached its limit of the day; the number was not dialled.',
  waited_too_long:
    'The Run waited seven days for its calling window, for a free slot, or for a provider that takes our key.',
  call_limit: 'The call reached its time limit.',
  operator: 'An operator stopped the Run.',
  missing_required: 'A required field of the result got no usable answer.',
  schema_mismatch: 'A value does not satisfy the result schema.',
  nothing_said: 'The callee gave no answer to any question.',
  opted_out: 'The callee asked not to be called again before answering.',
  extraction_failed: 'The extraction failed past its retries.',
  caller_gave_up: 'The caller hung up before the inbound call was answered.',
  outside_hours: 'The inbound call came outside the opening hours; the caller heard the message for that.',
} as const;
export type DetailCode = keyof typeof detailCodes;

/** Capabilities of an API key. */
export const scopes = ['goals:read', 'runs:write', 'runs:read', 'calls:write', 'calls:read'] as const;
export type Scope = (typeof scopes)[number];
