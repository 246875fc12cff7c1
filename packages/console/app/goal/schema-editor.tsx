import {
  ActionIcon,
  Button,
  Checkbox,
  Fieldset,
  Group,
  NativeSelect,
  SegmentedControl,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import type { GoalFileProblem, ScalarProperty } from '@trunkcall/contract';
import { useEffect, useState } from 'react';
import { Problems } from '../parts/code-editor.tsx';
import { text } from '../text.ts';
import { fieldsOf, problemAt, schemaOf, type Field } from './draft.ts';
import { JsonEditor } from './json-editor.tsx';
import { scalarOf, ScalarInput } from './scalar-input.tsx';

const { schema: words } = text.goal;

interface SchemaEditorProps {
  readonly label: string;
  readonly value: unknown;
  /** Undefined: to be read only. */
  readonly onChange: ((schema: unknown) => void) | undefined;
  /** Pointers count from the schema. */
  readonly problems: readonly GoalFileProblem[];
  /** Results have no defaults. */
  readonly defaults: boolean;
}

/** A schema, as a form or as JSON; both show the same, and either may be used at any time. */
export function SchemaEditor({ label, value, onChange, problems, defaults }: SchemaEditorProps) {
  const fields = fieldsOf(value);
  const [asJson, setAsJson] = useState(fields === null);
  return (
    <Stack gap="sm">
      <Group>
        <SegmentedControl
          aria-label={words.how(label)}
          value={asJson ? 'json' : 'form'}
          onChange={(chosen) => setAsJson(chosen === 'json')}
          data={[
            { value: 'form', label: words.form },
            { value: 'json', label: words.json },
          ]}
        />
      </Group>
      {asJson && <JsonEditor label={label} value={value} onChange={onChange} problems={problems} />}
      {!asJson && fields === null && <Text>{words.broken}</Text>}
      {!asJson && fields !== null && (
        <>
          <Fields
            fields={fields}
            onChange={onChange && ((next) => onChange(schemaOf(next)))}
            problems={problems}
            defaults={defaults}
          />
          <Problems problems={problems.filter(({ pointer }) => !pointer.startsWith('/properties/'))} />
        </>
      )}
    </Stack>
  );
}

interface FieldsProps {
  readonly fields: readonly Field[];
  readonly onChange: ((fields: readonly Field[]) => void) | undefined;
  readonly problems: readonly GoalFileProblem[];
  readonly defaults: boolean;
}

function Fields({ fields, onChange, problems, defaults }: FieldsProps) {
  const names = fields.map(({ name }) => name);
  const add = () => {
    let number = fields.length + 1;
    while (names.includes(`field_${number}`)) number += 1;
    const field: Field = {
      name: `field_${number}`,
      property: { type: 'string', description: '' },
      required: true,
    };
    onChange?.([...fields, field]);
  };
  return (
    <Stack gap="sm">
      {fields.length === 0 && <Text c="dimmed">{words.empty}</Text>}
      {fields.map((field, index) => (
        <FieldForm
          // A field keeps its place while its name is being typed.
          key={index}
          field={field}
          position={index + 1}
          taken={names}
          problem={problemAt(problems, `/properties/${field.name}`)}
          defaults={defaults}
          onChange={onChange && ((next) => onChange(fields.with(index, next)))}
          onRemove={() => onChange?.(fields.toSpliced(index, 1))}
          onUp={
            index === 0
              ? undefined
              : () => onChange?.(fields.toSpliced(index, 1).toSpliced(index - 1, 0, field))
          }
        />
      ))}
      {onChange !== undefined && (
        <Group>
          <Button variant="default" onClick={add}>
            {words.add}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** `undefined` takes a part out. */
type Parts = { readonly [Name in keyof ScalarProperty]?: ScalarProperty[Name] | undefined };

interface FieldFormProps {
  readonly field: Field;
  readonly position: number;
  readonly taken: readonly string[];
  readonly problem: string | undefined;
  readonly defaults: boolean;
  readonly onChange: ((field: Field) => void) | undefined;
  readonly onRemove: () => void;
  readonly onUp: (() => void) | undefined;
}

function FieldForm({ field, position, taken, problem, defaults, onChange, onRemove, onUp }: FieldFormProps) {
  const { name, property, required } = field;
  const readOnly = onChange === undefined;
  const set = (part: Parts) => onChange?.({ ...field, property: cleaned({ ...property, ...part }) });
  const retype = (type: ScalarProperty['type']) => {
    const { description } = property;
    onChange?.({ ...field, property: { type, ...(description === undefined ? {} : { description }) } });
  };
  return (
    <Fieldset legend={words.field(position)} disabled={readOnly}>
      <Stack gap="xs">
        <Group grow align="flex-start" wrap="wrap">
          <NameInput
            name={name}
            taken={taken}
            problem={problem}
            onChange={(next) => onChange?.({ ...field, name: next })}
          />
          <NativeSelect
            label={words.type}
            value={property.type}
            data={Object.entries(words.types).map(([value, label]) => ({ value, label }))}
            onChange={(event) => retype(event.currentTarget.value as ScalarProperty['type'])}
          />
        </Group>
        <TextInput
          label={words.description}
          value={property.description ?? ''}
          onChange={(event) => set({ description: event.currentTarget.value })}
        />
        {property.type !== 'boolean' && (
          <TagsInput
            label={words.values}
            description={words.valuesHint}
            value={(property.enum ?? []).map(String)}
            onChange={(values) => set({ enum: values.map((value) => scalarOf(value, property.type)) })}
          />
        )}
        {defaults && (
          <ScalarInput
            label={words.default}
            property={{ type: property.type }}
            value={property.default}
            onChange={(value) => set({ default: value })}
          />
        )}
        <Group justify="space-between">
          <Checkbox
            label={words.required}
            checked={required}
            onChange={(event) => onChange?.({ ...field, required: event.currentTarget.checked })}
          />
          {!readOnly && (
            <Group gap="xs">
              {onUp !== undefined && (
                <ActionIcon variant="default" aria-label={words.up(name)} onClick={onUp}>
                  ↑
                </ActionIcon>
              )}
              <ActionIcon variant="default" aria-label={words.removeField(name)} onClick={onRemove}>
                ✕
              </ActionIcon>
            </Group>
          )}
        </Group>
      </Stack>
    </Fieldset>
  );
}

/** A name is taken over when it is whole: a half one could be another field's. */
function NameInput({
  name,
  taken,
  problem,
  onChange,
}: {
  readonly name: string;
  readonly taken: readonly string[];
  readonly problem: string | undefined;
  readonly onChange: (name: string) => void;
}) {
  const [typed, setTyped] = useState(name);
  useEffect(() => setTyped(name), [name]);
  const leave = () => {
    const free = typed !== '' && !taken.includes(typed);
    if (free) onChange(typed);
    else setTyped(name);
  };
  return (
    <TextInput
      label={words.name}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={leave}
      error={problem}
    />
  );
}

/** Without the parts that are empty. */
function cleaned(property: Parts): ScalarProperty {
  const kept = Object.entries(property).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(kept) as ScalarProperty;
}
