import {
  ActionIcon,
  Button,
  Fieldset,
  Group,
  NativeSelect,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { CalleeBehavior, GoalFileProblem, Scalar, ScriptedCallee } from '@trunkcall/contract';
import { useState } from 'react';
import { Problems } from '../parts/code-editor.tsx';
import { text } from '../text.ts';
import { calleesOf, fieldsOf, newCallee, problemsIn, withPart, type Draft, type Field } from './draft.ts';
import { JsonEditor } from './json-editor.tsx';
import { ScalarInput } from './scalar-input.tsx';

const { callees: words } = text.goal;
const { schema: schemaWords } = text.goal;

interface CalleesEditorProps {
  readonly draft: Draft;
  /** Undefined: to be read only. */
  readonly onChange: ((draft: Draft) => void) | undefined;
  /** Of the whole draft. */
  readonly problems: readonly GoalFileProblem[];
}

/** The scripted callees of a draft, as a form or as JSON; both show the same. */
export function CalleesEditor({ draft, onChange, problems }: CalleesEditorProps) {
  const callees = calleesOf(draft.callees);
  const [asJson, setAsJson] = useState(callees === null);
  const own = problemsIn(problems, '/callees');
  const set = onChange && ((value: unknown) => onChange(withPart(draft, 'callees', value)));
  return (
    <Stack gap="sm">
      <Group>
        <SegmentedControl
          aria-label={schemaWords.how(text.goal.sections.callees)}
          value={asJson ? 'json' : 'form'}
          onChange={(chosen) => setAsJson(chosen === 'json')}
          data={[
            { value: 'form', label: schemaWords.form },
            { value: 'json', label: schemaWords.json },
          ]}
        />
      </Group>
      {asJson && (
        <JsonEditor
          label={text.goal.sections.callees}
          value={draft.callees}
          onChange={set}
          problems={own}
          minLines={4}
        />
      )}
      {!asJson && callees === null && <Text>{words.broken}</Text>}
      {!asJson && callees !== null && <Forms draft={draft} callees={callees} onChange={set} problems={own} />}
    </Stack>
  );
}

interface FormsProps {
  readonly draft: Draft;
  readonly callees: readonly ScriptedCallee[];
  readonly onChange: ((callees: readonly ScriptedCallee[]) => void) | undefined;
  readonly problems: readonly GoalFileProblem[];
}

function Forms({ draft, callees, onChange, problems }: FormsProps) {
  const input = fieldsOf(draft.input_schema) ?? [];
  const result = fieldsOf(draft.result_schema) ?? [];
  return (
    <>
      {callees.length === 0 && <Text c="dimmed">{words.empty}</Text>}
      {callees.map((callee, index) => (
        <CalleeForm
          key={index}
          callee={callee}
          position={index + 1}
          input={input}
          result={result}
          problems={problemsIn(problems, `/${index}`)}
          onChange={onChange && ((next) => onChange(callees.with(index, next)))}
          onRemove={() => onChange?.(callees.toSpliced(index, 1))}
        />
      ))}
      {onChange !== undefined && (
        <Group>
          <Button variant="default" onClick={() => onChange([...callees, newCallee(callees, input)])}>
            {words.add}
          </Button>
        </Group>
      )}
    </>
  );
}

/** Who never gets to answer a question. */
const silent: readonly CalleeBehavior[] = [
  'rings_out',
  'busy',
  'declines',
  'voicemail',
  'answers_uselessly',
  'says_nothing',
  'unassigned',
  'carrier_fails',
  'opts_out',
  'never_hangs_up',
];

/** `undefined` takes a part out. */
type Parts = { readonly [Name in keyof ScriptedCallee]?: ScriptedCallee[Name] | undefined };

interface CalleeFormProps {
  readonly callee: ScriptedCallee;
  readonly position: number;
  readonly input: readonly Field[];
  readonly result: readonly Field[];
  readonly problems: readonly GoalFileProblem[];
  readonly onChange: ((callee: ScriptedCallee) => void) | undefined;
  readonly onRemove: () => void;
}

function CalleeForm({ callee, position, input, result, problems, onChange, onRemove }: CalleeFormProps) {
  const set = (parts: Parts) => onChange?.(cleaned({ ...callee, ...parts }));
  const does = callee.does ?? 'cooperates';
  const name = callee.name === undefined || callee.name === '' ? words.nameless(position) : callee.name;
  return (
    <Fieldset legend={name} disabled={onChange === undefined}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <TextInput
            label={words.name}
            value={callee.name ?? ''}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <TextInput
            label={words.phone}
            value={callee.phone}
            onChange={(event) => set({ phone: event.currentTarget.value })}
          />
          <NativeSelect
            label={words.does}
            value={does}
            data={Object.entries(words.behaviors).map(([value, label]) => ({ value, label }))}
            onChange={(event) => set({ does: event.currentTarget.value as CalleeBehavior })}
          />
        </SimpleGrid>
        {input.length > 0 && (
          <Values
            title={words.variables}
            fields={input}
            values={callee.variables ?? {}}
            onChange={(variables) => set({ variables })}
          />
        )}
        {!silent.includes(does) && result.length > 0 && (
          <Says fields={result} says={callee.says ?? {}} onChange={(says) => set({ says })} />
        )}
        <Expectation callee={callee} result={result} onChange={(expect) => set({ expect })} />
        <Problems problems={problems} />
        {onChange !== undefined && (
          <Group justify="flex-end">
            <ActionIcon variant="default" aria-label={words.remove(name)} onClick={onRemove}>
              ✕
            </ActionIcon>
          </Group>
        )}
      </Stack>
    </Fieldset>
  );
}

type Values = Readonly<Record<string, Scalar>>;

function Values({
  title,
  fields,
  values,
  onChange,
}: {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}) {
  return (
    <Titled title={title}>
      {fields.map(({ name, property }) => (
        <ScalarInput
          key={name}
          label={name}
          property={property}
          value={values[name]}
          onChange={(value) => onChange(withValue(values, name, value))}
        />
      ))}
    </Titled>
  );
}

type Lines = NonNullable<ScriptedCallee['says']>;

function Says({
  fields,
  says,
  onChange,
}: {
  readonly fields: readonly Field[];
  readonly says: Lines;
  readonly onChange: (says: Lines) => void;
}) {
  const take = (name: string, typed: string) => {
    const lines = typed.split('\n');
    const [first = ''] = lines;
    onChange(withValue(says, name, typed === '' ? undefined : lines.length === 1 ? first : lines));
  };
  return (
    <Titled title={words.says} hint={words.saysHint}>
      {fields.map(({ name }) => (
        <Textarea
          key={name}
          label={name}
          autosize
          minRows={1}
          maxRows={10}
          value={[says[name] ?? ''].flat().join('\n')}
          onChange={(event) => take(name, event.currentTarget.value)}
        />
      ))}
    </Titled>
  );
}

type Expected = NonNullable<ScriptedCallee['expect']>;

function Expectation({
  callee: { expect },
  result,
  onChange,
}: {
  readonly callee: ScriptedCallee;
  readonly result: readonly Field[];
  readonly onChange: (expect: Expected | undefined) => void;
}) {
  const kind = expect?.error !== undefined ? 'error' : expect?.result !== undefined ? 'result' : 'nothing';
  const begin = { nothing: undefined, result: { result: {} }, error: { error: 'no_answer' } } as const;
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <NativeSelect
          label={words.expect}
          value={kind}
          data={Object.entries(words.expectations).map(([value, label]) => ({ value, label }))}
          onChange={(event) => onChange(begin[event.currentTarget.value as keyof typeof begin])}
        />
        {expect?.error !== undefined && (
          <NativeSelect
            label={words.error}
            value={expect.error}
            data={Object.entries(text.errors).map(([value, label]) => ({ value, label }))}
            onChange={(event) => onChange({ error: event.currentTarget.value })}
          />
        )}
      </SimpleGrid>
      {expect?.result !== undefined && result.length > 0 && (
        <Values
          title={words.result}
          fields={result}
          values={expect.result}
          onChange={(values) => onChange({ result: values })}
        />
      )}
    </>
  );
}

function Titled({
  title,
  hint,
  children,
}: {
  readonly title: string;
  readonly hint?: string;
  readonly children: React.ReactNode;
}) {
  return (
    <div role="group" aria-label={title}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {hint !== undefined && (
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, sm: 3 }} mt={4}>
        {children}
      </SimpleGrid>
    </div>
  );
}

function withValue<T>(values: Readonly<Record<string, T>>, name: string, value: T | undefined) {
  const entries = Object.entries<T | undefined>({ ...values, [name]: value });
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined)) as Record<string, T>;
}

/** Without the parts that are not there. */
function cleaned(callee: Parts): ScriptedCallee {
  const kept = Object.entries(callee).filter(([, part]) => part !== undefined);
  return Object.fromEntries(kept) as ScriptedCallee;
}
