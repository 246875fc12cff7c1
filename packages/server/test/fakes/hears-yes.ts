/** An agent and a chat model for tests in which the model must draw the result: a yes, from what was said alone. */
import type { Agent } from '../../src/agents/agent.ts';
import { createScriptedAgent } from '../../src/agents/scripted/scripted-agent.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { ChatRequest } from './chat-server.ts';

const scripted = createScriptedAgent({ clock: systemClock, synthesizer: null });
/** Speaks, and keeps to itself what it understood. */
export const noteless: Agent = {
  ...scripted,
  converse: (brief, leg, transcript, signal) =>
    scripted.converse(
      brief,
      leg,
      { ...transcript, turn: (turn) => transcript.turn({ ...turn, notes: [] }) },
      signal,
    ),
};

interface Line {
  readonly turn: number;
  readonly speaker: string;
  readonly said: string;
}

/** A model that takes the callee’s first "yes" for a yes. */
export function hearsYes({ messages }: ChatRequest): object {
  const lines = (messages[1]?.content ?? '')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
  const yes = lines.find(({ speaker, said }) => speaker === 'callee' && /yes/i.test(said));
  if (yes === undefined) return { replied: false, fields: { confirmed: null } };
  return {
    replied: true,
    fields: { confirmed: { value: true, turns: [yes.turn], quote: 'YES', confidence: 0.8 } },
  };
}
