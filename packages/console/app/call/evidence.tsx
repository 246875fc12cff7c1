import { Anchor, Stack, Text } from '@mantine/core';
import type { CallTask } from '@trunkcall/contract';
import { Link } from 'react-router';
import { text } from '../text.ts';

/** Quotes that support the outcome; each leads to the turn in which it stands, where there is one. */
export function Evidence({ task }: { readonly task: CallTask }) {
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {text.call.evidence}
      </Text>
      {task.evidence.map((quote) => {
        const turn = turnWith(task, quote);
        return (
          <Text size="sm" key={quote} className="break">
            {turn === null ? (
              `“${quote}”`
            ) : (
              <Anchor component={Link} to={{ hash: turn }} underline="always">
                “{quote}”
              </Anchor>
            )}
          </Text>
        );
      })}
    </Stack>
  );
}

/** The address on this page of the first turn that contains the words; null when none does. */
function turnWith({ recipients }: CallTask, quote: string): string | null {
  for (const { attempts } of recipients) {
    for (const { id, transcript_turns: turns } of attempts) {
      const index = turns.findIndex((turn) => turn.text.includes(quote));
      if (index >= 0) return `${id}-${index + 1}`;
    }
  }
  return null;
}
