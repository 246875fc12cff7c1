import { Group, Stack, Text, Title } from '@mantine/core';
import type { CallAttempt, CallTask } from '@trunkcall/contract';
import { State, type Tone } from '../parts/page.tsx';
import { Part } from '../parts/section.tsx';
import { Transcript } from '../parts/transcript.tsx';
import { show, text } from '../text.ts';
import { SchemaResult } from './schema-result.tsx';

const { call: words } = text;

type Recipient = CallTask['recipients'][number];

const recipientTones: Readonly<Record<Recipient['status'], Tone>> = {
  pending: 'quiet',
  in_progress: 'busy',
  completed: 'good',
  failed: 'bad',
  skipped: 'quiet',
};
const attemptTones: Readonly<Record<CallAttempt['status'], Tone>> = {
  queued: 'quiet',
  dialing: 'busy',
  in_progress: 'busy',
  completed: 'good',
  failed: 'bad',
  canceled: 'quiet',
};

/** Whom a call task is to reach, and what came of each number that was dialled for them. */
export function Recipients({
  task,
  schema,
  over,
}: {
  readonly task: CallTask;
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly over: boolean;
}) {
  return task.recipients.map((recipient, index) => (
    <Part key={recipient.id} title={words.recipient(index + 1)}>
      <Stack gap="sm">
        <Group gap="md">
          <State tone={recipientTones[recipient.status]}>{words.recipientStates[recipient.status]}</State>
          <Text size="sm" c="dimmed">
            {recipient.phones.join(', ')} · {recipient.locale}, {recipient.region}
          </Text>
        </Group>
        {recipient.summary !== null && <Text className="break">{recipient.summary}</Text>}
        {schema !== null && <SchemaResult schema={schema} result={recipient.structured_result} over={over} />}
        {recipient.attempts.length === 0 && <Text c="dimmed">{words.noAttempts}</Text>}
        {recipient.attempts.map((attempt, place) => (
          <Attempt key={attempt.id} attempt={attempt} place={place + 1} />
        ))}
      </Stack>
    </Part>
  ));
}

function Attempt({ attempt, place }: { readonly attempt: CallAttempt; readonly place: number }) {
  const { started_at: started, completed_at: ended } = attempt;
  return (
    <div>
      <Title order={3} size="h5">
        {words.attempt(place, attempt.phone)}
      </Title>
      <Group gap="md" mb={4}>
        <State tone={attemptTones[attempt.status]}>{words.attemptStates[attempt.status]}</State>
        {started !== null && ended !== null && (
          <Text size="sm" c="dimmed">
            {show.span(Date.parse(ended) - Date.parse(started))}
          </Text>
        )}
        {attempt.failure_message !== null && <Text size="sm">{attempt.failure_message}</Text>}
      </Group>
      <Transcript name={attempt.id} turns={attempt.transcript_turns} />
    </div>
  );
}
