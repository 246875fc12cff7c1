import { NativeSelect, TextInput } from '@mantine/core';
import { useSearchParams } from 'react-router';
import { text } from '../text.ts';

export interface Filters<Name extends string> {
  readonly value: (name: Name) => string;
  readonly set: (name: Name, value: string) => void;
}

/** Filters that stand in the address, so that a view can be sent to somebody. */
export function useFilters<Name extends string>(): Filters<Name> {
  const [search, setSearch] = useSearchParams();
  return {
    value: (name) => search.get(name) ?? '',
    set: (name, next) =>
      setSearch(
        (now) => {
          const changed = new URLSearchParams(now);
          if (next === '') changed.delete(name);
          else changed.set(name, next);
          return changed;
        },
        { replace: true },
      ),
  };
}

/** A local time as one in UTC; empty while it is not whole. */
export function utc(value: string): string {
  if (value === '') return '';
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

interface FieldProps<Name extends string> {
  readonly filters: Filters<Name>;
  readonly name: Name;
  readonly label: string;
}

/** One of several values, or all. */
export function Choice<Name extends string>({
  filters,
  name,
  label,
  options,
}: FieldProps<Name> & { readonly options: readonly (readonly [string, string])[] }) {
  return (
    <NativeSelect
      label={label}
      value={filters.value(name)}
      data={[
        { value: '', label: text.common.all },
        ...options.map(([value, shown]) => ({ value, label: shown })),
      ]}
      onChange={(event) => filters.set(name, event.currentTarget.value)}
    />
  );
}

export function TimeField<Name extends string>({ filters, name, label }: FieldProps<Name>) {
  return (
    <TextInput
      type="datetime-local"
      label={label}
      value={filters.value(name)}
      onChange={(event) => filters.set(name, event.currentTarget.value)}
    />
  );
}
