import type { AgentSettings, GoalFile, ResultSchema } from '@trunkcall/contract';

export interface CallContentParts {
  /** What the agent says that it calls about. */
  readonly title: string;
  readonly task: string;
  /** ISO 3166-1 alpha-2. */
  readonly region: string;
  /** BCP 47. */
  readonly locale: string;
  /** What the agent is to find out. */
  readonly questions: ResultSchema;
  readonly agent: AgentSettings;
}

/** How long the phone of a call without a Goal rings, and how long the call may last. */
const limits = { ring_seconds: 30, call_seconds: 600 } as const;

/** Writes a task down as what every run is pinned to: the content of a Goal. */
export function callContent(parts: CallContentParts): GoalFile {
  return {
    format: 1,
    title: parts.title,
    description: '',
    instructions: parts.task,
    voice: { region: parts.region, name: 'default' },
    locale: parts.locale,
    targets: { countries: [parts.region] },
    input_schema: { type: 'object', additionalProperties: false, properties: {}, required: [] },
    result_schema: parts.questions,
    agent: parts.agent,
    limits,
    // The next number is tried instead of a machine being talked to.
    machine: 'hang_up',
  };
}
