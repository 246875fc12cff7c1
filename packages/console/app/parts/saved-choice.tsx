import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { useRef, useState } from 'react';
import { text } from '../text.ts';

/** A choice that counts when it is saved: a key that is struck in passing changes nothing. */
export function SavedChoice({
  label,
  value,
  options,
  saving,
  onSave,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly saving: boolean;
  readonly onSave: (value: string) => void;
}) {
  const select = useRef<HTMLSelectElement>(null);
  /** Ends when what is in force changes, by whomever. */
  const [choice, setChoice] = useState({ from: value, to: value });
  const shown = choice.from === value ? choice.to : value;
  const choose = (to: string) => setChoice({ from: value, to });
  return (
    <Stack gap="xs">
      <NativeSelect
        ref={select}
        aria-label={label}
        value={shown}
        data={[...options]}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      {shown !== value && (
        <Group gap="xs">
          <Button
            size="xs"
            loading={saving}
            onClick={() => {
              // The buttons go when it is saved; the keyboard stays.
              select.current?.focus();
              onSave(shown);
            }}
          >
            {text.common.save}
          </Button>
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              select.current?.focus();
              choose(value);
            }}
          >
            {text.common.cancel}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
