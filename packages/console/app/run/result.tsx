import { Anchor, Group, Stack, Text } from '@mantine/core';
import type { ConsoleRunDetail, Scalar } from '@trunkcall/contract';
import { Link } from 'react-router';
import { ResultTable } from '../parts/result-table.tsx';
import { isDrawing } from '../parts/run-state.tsx';
import { shownValue } from '../parts/section.tsx';
import { turnAddress } from '../parts/time-line.tsx';
import { text } from '../text.ts';

const { run: words } = text;

/** The result beside its schema; each value leads to the turns that it was drawn from. */
export function Result({ run }: { readonly run: ConsoleRunDetail }) {
  const { result } = run;
  const fields = Object.entries(run.result_schema.properties).map(([name, { description }]) => ({
    name,
    about: description,
    value: result === null ? '–' : shownValue(result[name] as Scalar | undefined),
    evidence: <Evidence field={name} evidence={run.evidence[name]} />,
  }));
  return <ResultTable fields={fields} note={result === null ? whyNone(run) : null} />;
}

function whyNone(run: ConsoleRunDetail): string {
  if (isDrawing(run)) return words.drawing;
  return run.completed_at === null ? words.toCome : words.noResult;
}

function Evidence({
  field,
  evidence,
}: {
  readonly field: string;
  readonly evidence: ConsoleRunDetail['evidence'][string] | undefined;
}) {
  if (evidence === undefined || evidence.turns.length === 0) return '–';
  return (
    <Stack gap={2} align="flex-start">
      <Text size="sm" className="break">
        “{evidence.quote}”
      </Text>
      <Group gap="xs">
        {evidence.turns.map((turn) => (
          <Anchor
            key={turn}
            component={Link}
            to={{ hash: turnAddress(turn) }}
            replace
            underline="always"
            size="sm"
            className="nowrap"
            aria-label={words.showTurn(field, turn)}
          >
            {words.turn(turn)}
          </Anchor>
        ))}
      </Group>
    </Stack>
  );
}
