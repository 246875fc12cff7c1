/**
 * What a fake chat model answers: it reads the fields out of the prompt, asks for one after the other, notes what it
 * understands, and obeys what the prompt says about the moment. It knows no more than a real model would.
 */
import type { ScalarProperty } from '@trunkcall/contract';
import { localeFor } from '../../src/agents/scripted/locales/locale.ts';
import { dayAt } from '../../src/agents/scripted/understanding/dates.ts';
import { understand } from '../../src/agents/scripted/understanding/understand.ts';
import { keyForPerson } from '../../src/agents/who-answered.ts';
import { testClock } from '../conformance/hold-call.ts';
import type { Answer, ChatMessageIn } from './openai-server.ts';

interface AskedField extends ScalarProperty {
  readonly field: string;
  readonly required: boolean;
  readonly values?: NonNullable<ScalarProperty['enum']>;
}

const maxAsked = 2;

export function answerFrom(messages: readonly ChatMessageIn[]): Answer {
  const system = messages[0]?.content ?? '';
  const [task = '', now = ''] = system.split('# Now\n');
  const heard = messages.at(-1)?.role === 'user' ? (messages.at(-1)?.content ?? '') : '';
  const english = localeFor('en')?.grammar;
  if (english === undefined) throw new Error('there is English');
  if (now.startsWith('An automatic menu')) {
    return { tools: [{ name: 'press_keys', arguments: { keys: keyForPerson(heard, english) } }] };
  }
  const fields = JSON.parse(task.slice(task.lastIndexOf('\n[') + 1)) as AskedField[];
  const ours = messages.flatMap(({ role, content }) => (role === 'assistant' ? [content ?? ''] : []));
  const timesAsked = ({ description = '' }: AskedField) =>
    ours.filter((text) => text.includes(description)).length;
  const noted = new Set(
    messages.flatMap(({ tool_calls: calls = [] }) =>
      calls.map((call) => String((JSON.parse(call.function.arguments) as Record<string, unknown>)['field'])),
    ),
  );
  const last =
    ours.findLast((text) => fields.some(({ description = '' }) => text.includes(description))) ?? '';
  const current = fields.find(
    ({ description = '', field }) => last.includes(description) && !noted.has(field),
  );
  const note = current === undefined || heard === '' ? null : noteFor(current, heard, english);
  const tools = note === null ? [] : [{ name: 'note', arguments: note }];
  if (now.startsWith('The time of this call is up')) {
    return {
      text: 'Thank you very much. Goodbye.',
      tools: [...tools, { name: 'end_call', arguments: { reason: 'no_time' } }],
    };
  }
  const next = fields.find(
    (field) => !noted.has(field.field) && field.field !== note?.field && timesAsked(field) < maxAsked,
  );
  if (next !== undefined) return { text: `${note === null ? '' : 'Very well, '}${next.description}`, tools };
  return {
    text: 'Thank you very much. Goodbye.',
    tools: [...tools, { name: 'end_call', arguments: { reason: 'done' } }],
  };
}

function noteFor(
  field: AskedField,
  heard: string,
  grammar: NonNullable<ReturnType<typeof localeFor>>['grammar'],
) {
  const { field: name, type, description = '', values, required } = field;
  const property: ScalarProperty = { type, description, ...(values === undefined ? {} : { enum: values }) };
  const listening = { grammar, today: dayAt(testClock.now(), 'UTC'), region: 'US' };
  const understood = understand({ name, property, required }, heard, listening);
  return understood.kind === 'value' ? { field: name, value: understood.value, quote: heard } : null;
}
