import {
  Accordion,
  Checkbox,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { GoalFile } from '@trunkcall/contract';
import type { ReactNode } from 'react';
import { Boundary } from '../parts/boundary.tsx';
import { CodeEditor } from '../parts/code-editor.tsx';
import { State } from '../parts/page.tsx';
import { text } from '../text.ts';
import { CalleesEditor } from './callees-editor.tsx';
import { isObject, problemAt, problemsIn, withPart, type Draft, type PartProps } from './draft.ts';
import { Hours } from './hours.tsx';
import { JsonEditor } from './json-editor.tsx';
import { SchemaEditor } from './schema-editor.tsx';
import type { DraftState } from './use-draft.ts';

const { goal: words } = text;
const { fields, sections, about } = words;

interface EditorProps {
  readonly state: DraftState;
  readonly readOnly: boolean;
}

/** The editor of a draft: a form over the whole Goal file, and the file itself. */
export function Editor({ state, readOnly }: EditorProps) {
  const { draft, problems } = state;
  const change = readOnly ? undefined : state.change;
  const file = (
    <JsonEditor label={sections.file} value={draft} onChange={change} problems={problems} minLines={20} />
  );
  const broken = (
    <>
      <Text>{about.broken}</Text>
      {file}
    </>
  );
  return (
    // A file may hold what no form expects, such as a number for a list.
    <Boundary fallback={broken} resetKey={draft}>
      {isObject(draft) ? <Sections draft={draft} state={state} change={change} file={file} /> : broken}
    </Boundary>
  );
}

function Sections({
  draft,
  state: { problems },
  change,
  file,
}: {
  readonly draft: Draft;
  readonly state: DraftState;
  readonly change: ((draft: unknown) => void) | undefined;
  readonly file: ReactNode;
}) {
  const readOnly = change === undefined;
  const set: PartProps['set'] = (name, part) => change?.(withPart(draft, name, part));
  const wrong = (pointer: string) => problemAt(problems, pointer);
  const part: PartProps = { draft, set, readOnly, wrong };
  const schema = (name: 'input_schema' | 'result_schema', label: string) => (
    <SchemaEditor
      label={label}
      value={draft[name]}
      onChange={change && ((value) => change(withPart(draft, name, value)))}
      problems={problemsIn(problems, `/${name}`)}
      defaults={name === 'input_schema'}
    />
  );
  const variables = isObject(draft.input_schema?.properties)
    ? Object.keys(draft.input_schema.properties)
    : [];
  return (
    <Accordion multiple defaultValue={['basics', 'instructions', 'input', 'result']} variant="separated">
      <Section name="basics" places={['title', 'description']} wrong={wrong}>
        <Basics {...part} />
      </Section>
      <Section name="instructions" places={['instructions']} wrong={wrong} about={about.instructions}>
        <CodeEditor
          label={fields.instructions}
          language="text"
          value={draft.instructions ?? ''}
          variables={variables}
          problems={problemsIn(problems, '/instructions')}
          {...(readOnly ? {} : { onChange: (value: string) => set('instructions', value) })}
        />
      </Section>
      <Section name="input" places={['input_schema']} wrong={wrong} about={about.input}>
        {schema('input_schema', sections.input)}
      </Section>
      <Section name="result" places={['result_schema']} wrong={wrong} about={about.result}>
        {schema('result_schema', sections.result)}
      </Section>
      <Section
        name="calling"
        places={['voice', 'locale', 'targets', 'limits', 'machine', 'menu', 'record']}
        wrong={wrong}
      >
        <Calling {...part} />
      </Section>
      <Section name="window" places={['calling_window', 'inbound']} wrong={wrong} about={about.window}>
        <Hours {...part} />
      </Section>
      <Section name="agent" places={['agent']} wrong={wrong} about={about.agent}>
        <JsonEditor
          label={sections.agent}
          value={draft.agent}
          onChange={change && ((value) => change(withPart(draft, 'agent', value)))}
          problems={problemsIn(problems, '/agent')}
          minLines={4}
        />
      </Section>
      <Section name="transfer" places={['transfer']} wrong={wrong} about={about.transfer}>
        <JsonEditor
          label={sections.transfer}
          value={draft.transfer}
          onChange={change && ((value) => change(withPart(draft, 'transfer', value)))}
          problems={problemsIn(problems, '/transfer')}
          minLines={4}
        />
      </Section>
      <Section name="callees" places={['callees']} wrong={wrong} about={about.callees}>
        <CalleesEditor draft={draft} onChange={change} problems={problems} />
      </Section>
      <Section name="file" places={[]} wrong={wrong} about={about.file}>
        {file}
      </Section>
    </Accordion>
  );
}

function Section({
  name,
  places,
  wrong,
  about: hint,
  children,
}: {
  readonly name: keyof typeof sections;
  readonly places: readonly (keyof GoalFile)[];
  readonly wrong: (pointer: string) => string | undefined;
  readonly about?: string;
  readonly children: ReactNode;
}) {
  const isWrong = places.some((place) => wrong(`/${place}`) !== undefined);
  return (
    <Accordion.Item value={name}>
      <Accordion.Control>
        {isWrong ? <State tone="warn">{sections[name]}</State> : sections[name]}
      </Accordion.Control>
      <Accordion.Panel>
        {hint !== undefined && (
          <Text size="sm" c="dimmed" mb="xs">
            {hint}
          </Text>
        )}
        {children}
      </Accordion.Panel>
    </Accordion.Item>
  );
}

function Basics({ draft, set, readOnly, wrong }: PartProps) {
  return (
    <Stack>
      <TextInput
        label={fields.title}
        readOnly={readOnly}
        value={draft.title ?? ''}
        onChange={(event) => set('title', event.currentTarget.value)}
        error={wrong('/title')}
      />
      <Textarea
        label={fields.description}
        description={fields.descriptionHint}
        readOnly={readOnly}
        minRows={2}
        autosize
        value={draft.description ?? ''}
        onChange={(event) => set('description', event.currentTarget.value)}
        error={wrong('/description')}
      />
    </Stack>
  );
}

function Calling({ draft, set, readOnly, wrong }: PartProps) {
  const voice = { region: '', name: '', ...draft.voice };
  const limits = { ring_seconds: 0, call_seconds: 0, ...draft.limits };
  const seconds = (typed: string | number) => (typeof typed === 'number' ? typed : Number(typed));
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput
        label={fields.locale}
        description={fields.localeHint}
        readOnly={readOnly}
        value={draft.locale ?? ''}
        onChange={(event) => set('locale', event.currentTarget.value)}
        error={wrong('/locale')}
      />
      <TagsInput
        label={fields.countries}
        description={fields.countriesHint}
        readOnly={readOnly}
        value={[...(draft.targets?.countries ?? [])]}
        onChange={(countries) => set('targets', { countries: countries.map((code) => code.toUpperCase()) })}
        error={wrong('/targets')}
      />
      <TextInput
        label={fields.region}
        readOnly={readOnly}
        value={voice.region}
        onChange={(event) => set('voice', { ...voice, region: event.currentTarget.value })}
        error={wrong('/voice/region')}
      />
      <TextInput
        label={fields.voice}
        readOnly={readOnly}
        value={voice.name}
        onChange={(event) => set('voice', { ...voice, name: event.currentTarget.value })}
        error={wrong('/voice/name')}
      />
      <NumberInput
        label={fields.ring}
        readOnly={readOnly}
        value={limits.ring_seconds}
        onChange={(typed) => set('limits', { ...limits, ring_seconds: seconds(typed) })}
        error={wrong('/limits/ring_seconds')}
      />
      <NumberInput
        label={fields.call}
        readOnly={readOnly}
        value={limits.call_seconds}
        onChange={(typed) => set('limits', { ...limits, call_seconds: seconds(typed) })}
        error={wrong('/limits/call_seconds')}
      />
      <NativeSelect
        label={fields.machine}
        disabled={readOnly}
        value={draft.machine ?? 'hang_up'}
        data={Object.entries(fields.machines).map(([value, label]) => ({ value, label }))}
        onChange={(event) => set('machine', event.currentTarget.value as GoalFile['machine'])}
        error={wrong('/machine')}
      />
      <NativeSelect
        label={fields.menu}
        disabled={readOnly}
        value={draft.menu ?? 'navigate'}
        data={Object.entries(fields.menus).map(([value, label]) => ({ value, label }))}
        onChange={(event) => set('menu', event.currentTarget.value as NonNullable<GoalFile['menu']>)}
        error={wrong('/menu')}
      />
      <Checkbox
        label={fields.record}
        description={fields.recordHint}
        disabled={readOnly}
        checked={draft.record === true}
        onChange={(event) => set('record', event.currentTarget.checked ? true : undefined)}
        error={wrong('/record')}
      />
    </SimpleGrid>
  );
}
