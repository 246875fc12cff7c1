import { NativeSelect, TextInput } from '@mantine/core';
import type { Scalar, ScalarProperty } from '@trunkcall/contract';
import { text } from '../text.ts';

/** A value of a property, or none: typed, or chosen where there is a choice. */
export function ScalarInput({
  label,
  description,
  property,
  value,
  onChange,
}: {
  readonly label: string;
  readonly description?: string | undefined;
  readonly property: Pick<ScalarProperty, 'type' | 'enum'>;
  readonly value: Scalar | undefined;
  readonly onChange: (value: Scalar | undefined) => void;
}) {
  const shown = value === undefined ? '' : String(value);
  const choices = choicesOf(property);
  const take = (typed: string) => onChange(typed === '' ? undefined : scalarOf(typed, property.type));
  const common = { label, description, value: shown };
  if (choices === null)
    return <TextInput {...common} onChange={(event) => take(event.currentTarget.value)} />;
  // What was written otherwise is shown as it is.
  const known = shown === '' || choices.some((choice) => choice.value === shown);
  const data = [
    { value: '', label: text.common.none },
    ...choices,
    ...(known ? [] : [{ value: shown, label: shown }]),
  ];
  return <NativeSelect {...common} data={data} onChange={(event) => take(event.currentTarget.value)} />;
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

function choicesOf({ type, enum: members }: Pick<ScalarProperty, 'type' | 'enum'>): Choice[] | null {
  if (members !== undefined)
    return members.map((member) => ({ value: String(member), label: String(member) }));
  if (type !== 'boolean') return null;
  return [
    { value: 'true', label: text.common.yes },
    { value: 'false', label: text.common.no },
  ];
}

/** What is not of the type stays a text, so that the check can say so. */
export function scalarOf(typed: string, type: ScalarProperty['type']): Scalar {
  if (type === 'boolean' && (typed === 'true' || typed === 'false')) return typed === 'true';
  const isNumber =
    (type === 'number' || type === 'integer') && typed.trim() !== '' && !Number.isNaN(Number(typed));
  return isNumber ? Number(typed) : typed;
}
