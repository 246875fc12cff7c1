import {
  Checkbox,
  Chip,
  Group,
  Input,
  NativeSelect,
  SimpleGrid,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { CallingWindow } from '@trunkcall/contract';
import { useId } from 'react';
import { text } from '../text.ts';
import type { PartProps } from './draft.ts';

const { fields } = text.goal;

const usualHours: CallingWindow = {
  timezone: 'America/New_York',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '09:00',
  to: '17:00',
};

/** When calls may be placed and are answered, and what becomes of those that come outside. */
export function Hours({ draft, set, readOnly, wrong }: PartProps) {
  const hours = draft.calling_window;
  return (
    <Stack>
      <Checkbox
        label={fields.window}
        disabled={readOnly}
        checked={hours !== undefined}
        onChange={(event) => set('calling_window', event.currentTarget.checked ? usualHours : undefined)}
      />
      {hours !== undefined && (
        <>
          <Days
            days={hours.days}
            readOnly={readOnly}
            error={wrong('/calling_window/days')}
            onChange={(days) => set('calling_window', { ...hours, days })}
          />
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            {(['timezone', 'from', 'to'] as const).map((name) => (
              <TextInput
                key={name}
                label={fields[name]}
                readOnly={readOnly}
                value={hours[name]}
                onChange={(event) => set('calling_window', { ...hours, [name]: event.currentTarget.value })}
                error={wrong(`/calling_window/${name}`)}
              />
            ))}
          </SimpleGrid>
        </>
      )}
      {/* Without hours nobody calls outside them; what a file says of it all the same is shown. */}
      {(hours !== undefined || draft.inbound !== undefined) && (
        <OutsideHours draft={draft} set={set} readOnly={readOnly} wrong={wrong} />
      )}
    </Stack>
  );
}

type Day = CallingWindow['days'][number];

function Days({
  days,
  readOnly,
  error,
  onChange,
}: {
  readonly days: readonly Day[];
  readonly readOnly: boolean;
  readonly error: string | undefined;
  readonly onChange: (days: Day[]) => void;
}) {
  const errorId = useId();
  return (
    <div role="group" aria-label={fields.days} aria-describedby={error && errorId}>
      <Chip.Group multiple value={[...days]} onChange={(chosen) => onChange(inOrder(chosen))}>
        <Group gap="xs">
          {Object.entries(fields.weekdays).map(([value, label]) => (
            <Chip key={value} value={value} variant="outline" disabled={readOnly}>
              {label}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {error !== undefined && (
        <Input.Error id={errorId} mt={4}>
          {error}
        </Input.Error>
      )}
    </div>
  );
}

const inOrder = (days: readonly string[]) =>
  (['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const).filter((day) => days.includes(day));

function OutsideHours({ draft: { inbound }, set, readOnly, wrong }: PartProps) {
  const says = inbound?.outside_hours === 'message';
  return (
    <>
      <NativeSelect
        label={fields.outside}
        disabled={readOnly}
        value={says ? 'message' : 'reject'}
        data={Object.entries(fields.outsides).map(([value, label]) => ({ value, label }))}
        onChange={(event) =>
          set('inbound', event.currentTarget.value === 'message' ? { outside_hours: 'message' } : undefined)
        }
        error={wrong('/inbound/outside_hours')}
      />
      {(says || inbound?.message !== undefined) && (
        <Textarea
          label={fields.message}
          description={fields.messageHint}
          readOnly={readOnly}
          autosize
          minRows={2}
          value={inbound.message ?? ''}
          onChange={(event) => set('inbound', { ...inbound, message: event.currentTarget.value })}
          error={wrong('/inbound/message')}
        />
      )}
    </>
  );
}
