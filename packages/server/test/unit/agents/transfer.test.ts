/** What the agents with a model do when it wants the callee connected with somebody else. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Agent, Turn } from '../../../src/agents/agent.ts';
import { createCascadeAgent } from '../../../src/agents/cascade/cascade-agent.ts';
import { createOpenAiChat } from '../../../src/agents/cascade/providers/openai.ts';
import { promptFor } from '../../../src/agents/prompt.ts';
import { createRealtimeAgent } from '../../../src/agents/realtime/realtime-agent.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { briefFor, deliverySchema, talk, testClock } from '../../conformance/hold-call.ts';
import { startOpenAiServer } from '../../fakes/openai-server.ts';
import { startRealtimeServer } from '../../fakes/realtime-server.ts';

const targets = { 'Front desk': '+12125550123', 'Busy line': '+12125550102' };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

/** What the model makes of the conversation: what it is told, what was said to it last, how often it has spoken. */
interface Moment {
  readonly told: string;
  readonly heard: string | null;
}
interface Reply {
  readonly text: string;
  readonly tools?: readonly {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
}
type Mind = (moment: Moment) => Reply;

/** Connects with `to` as soon as the person has said something; afterwards it says how that went. */
const connector =
  (to: string, words = 'One moment, I am connecting you.'): Mind =>
  ({ told, heard }) => {
    if (told.includes('was not connected')) {
      const reason = /not connected: (.*?)\. You/.exec(told)?.[1] ?? '';
      return {
        text: `I am sorry, ${reason}. Goodbye.`,
        tools: [{ name: 'end_call', arguments: { reason: 'done' } }],
      };
    }
    if (told.includes('that you connect them now')) return { text: 'I connect you now.' };
    if (heard === null) return { text: `${/exactly: “(.*?)”/.exec(told)?.[1] ?? ''} May I help you?` };
    return { text: words, tools: [{ name: 'transfer_to_human', arguments: { to } }] };
  };

async function realtime(mind: Mind): Promise<Agent> {
  const server = await startRealtimeServer({
    newModel:
      () =>
      ({ instructions, items }) => {
        const last = items.at(-1);
        const note = items.findLast(({ role }) => role === 'system')?.text ?? '';
        const heard = items.findLast(({ role }) => role === 'user')?.text ?? null;
        const extra = instructions.slice(instructions.lastIndexOf(']') + 1);
        const { text, tools = [] } = mind({ told: last?.role === 'system' ? note : extra, heard });
        return { text, calls: tools };
      },
  });
  open.push(server);
  const provider = { dialect: 'openai', url: server.url, apiKey: server.key, model: null } as const;
  return createRealtimeAgent({ clock: testClock, provider });
}

async function cascade(mind: Mind): Promise<Agent> {
  const server = await startOpenAiServer({
    apiKey: 'sk-test',
    chat(messages) {
      const now = (messages[0]?.content ?? '').split('# Now\n')[1] ?? '';
      const heard = messages.findLast(({ role }) => role === 'user')?.content ?? null;
      return mind({ told: now, heard: heard === '(silence)' ? null : heard });
    },
  });
  open.push(server);
  const missing = { kind: 'missing', problem: 'not on a leg of sentences' } as const;
  return createCascadeAgent({
    chat: {
      kind: 'ready',
      provider: createOpenAiChat({ clock: systemClock, url: server.url, apiKey: 'sk-test', model: 'chat' }),
    },
    transcriber: missing,
    voice: missing,
  });
}

const said = (turns: readonly Turn[]) =>
  turns.flatMap(({ speaker, text }) => (speaker === 'bot' ? [text] : []));

describe.each([
  ['realtime', realtime],
  ['cascade', cascade],
] as const)('the agent %s', (_, build) => {
  it('tells the person, then has them connected, and marks the turn from which on it is silent', async () => {
    const agent = await build(connector('Front desk'));
    const { end, legEnd, turns } = await talk({ agent, targets });
    expect(end).toEqual({ kind: 'transferred', to: 'Front desk' });
    // The two talk on without us, until the callee hangs up.
    expect(legEnd).toMatchObject({ reason: 'hung_up', endedBy: 'callee' });
    expect(said(turns).at(-2)).toContain('connecting you');
    expect(turns.at(-1)).toMatchObject({
      speaker: 'bot',
      text: '[transferred to Front desk]',
      notes: [{ kind: 'transferred', to: 'Front desk' }],
    });
    const offsets = turns.map(({ offsetMs }) => offsetMs);
    expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
  });

  it('says so itself when the model had no words for it', async () => {
    const agent = await build(connector('Front desk', ''));
    const { end, turns } = await talk({ agent, targets });
    expect(end).toEqual({ kind: 'transferred', to: 'Front desk' });
    expect(said(turns).at(-2)).toMatch(/connect(ing)? you/);
  });

  it('goes on with the person, and says why, when nobody could be reached', async () => {
    const agent = await build(connector('Busy line'));
    const { end, turns } = await talk({ agent, targets });
    expect(end.kind).toMatch(/finished|callee_left/);
    expect(said(turns).join(' ')).toContain('the line is busy');
    expect(turns.some(({ notes }) => notes.some(({ kind }) => kind === 'transferred'))).toBe(false);
  });

  it('A5: connects with nobody whom the Goal does not name', async () => {
    const agent = await build(({ heard, told }) =>
      told.includes('exactly')
        ? { text: `${/exactly: “(.*?)”/.exec(told)?.[1] ?? ''} Hello?` }
        : heard === null
          ? { text: 'Hello?' }
          : {
              text: 'Goodbye.',
              tools: [
                { name: 'transfer_to_human', arguments: { to: '+12125550199' } },
                { name: 'end_call', arguments: { reason: 'done' } },
              ],
            },
    );
    for (const offered of [targets, undefined]) {
      const { end } = await talk({ agent, ...(offered === undefined ? {} : { targets: offered }) });
      expect(end.kind).toMatch(/finished|callee_left/);
    }
  });
});

it('I10: the prompt has names, and no number', () => {
  const connect = () => Promise.reject(new Error('not used'));
  const transfer = { targets: [{ name: 'Front desk', when: 'they ask\nfor a person' }], connect };
  const { standing } = promptFor(briefFor({ resultSchema: deliverySchema, transfer }));
  expect(standing).toContain('- Front desk: they ask for a person');
  expect(standing).not.toMatch(/\+\d{5}/);
  expect(promptFor(briefFor({ resultSchema: deliverySchema })).standing).not.toContain('transfer_to_human');
});
