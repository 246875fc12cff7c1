import { Stack, Text, Title } from '@mantine/core';
import type { ConsoleRunDetail, OperatorAttempt } from '@trunkcall/contract';
import type { ReactNode } from 'react';
import { Values } from '../parts/section.tsx';
import { soundOf } from '../parts/sound.ts';
import { show, text } from '../text.ts';
import { talkedMs } from './talked.ts';

const { run: words, endings } = text;

/** Why it ended: in words first, then by the codes of the networks. */
export function Ending({ run }: { readonly run: ConsoleRunDetail }) {
  const { attempts, error } = run;
  return (
    <Stack gap="sm">
      {error !== null && (
        <Text className="break">
          {error.message}
          {error.detail_code !== null && ` (${error.detail_code})`}
        </Text>
      )}
      {attempts.length === 0 && (
        <Text c="dimmed">{run.completed_at === null ? words.notEnded : words.notDialled}</Text>
      )}
      {attempts.map((attempt) => (
        <div key={attempt.id}>
          {attempts.length > 1 && (
            <Title order={3} size="h5">
              {words.attempt(attempt.number)}
            </Title>
          )}
          <Text fw={600}>{endOf(attempt)}</Text>
          <Values values={facts(attempt, run.transcript)} />
        </div>
      ))}
    </Stack>
  );
}

function endOf({ state, outcome }: OperatorAttempt): string {
  if (state !== 'ended') return words.states[state];
  return outcome === null ? '–' : (endings.outcomes[outcome] ?? outcome);
}

/** What is known of an attempt; what is not is left out. */
function facts(
  attempt: OperatorAttempt,
  transcript: ConsoleRunDetail['transcript'],
): Record<string, ReactNode> {
  const onPhoneMs = talkedMs(attempt, transcript);
  const known: readonly (readonly [string, ReactNode])[] = [
    [words.answeredBy, attempt.answered_by === null ? null : endings.answeredBy[attempt.answered_by]],
    [
      words.endedBy,
      attempt.ended_by === null ? null : (endings.endedBy[attempt.ended_by] ?? attempt.ended_by),
    ],
    [words.sip, attempt.sip_status === null ? null : sipText(attempt.sip_status)],
    [
      words.q850,
      attempt.q850 === null ? null : `${attempt.q850} ${endings.q850[attempt.q850] ?? endings.unknownCause}`,
    ],
    [words.note, attempt.note],
    [words.sound, attempt.media === null ? null : soundOf(attempt.media)],
    [words.talked, onPhoneMs === null ? null : show.span(onPhoneMs)],
    [words.carrier, attempt.carrier],
    [words.carrierId, attempt.provider_call_id],
  ];
  return Object.fromEntries(known.filter(([, value]) => value !== null));
}

/** A status that has no name is named after its class (RFC 3261 §8.1.3.2). */
function sipText(status: number): string {
  const name = endings.sip[status] ?? endings.unknownSip.find(([from]) => status >= from)?.[1] ?? '';
  return `${status} ${name}`;
}
