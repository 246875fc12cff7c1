import { Anchor, Group, Stack, Table, Text } from '@mantine/core';
import type { ConsoleRunDetail, Scalar } from '@trunkcall/contract';
import { Link } from 'react-router';
import { Scroll } from '../parts/page.tsx';
import { isDrawing } from '../parts/run-state.tsx';
import { shownValue } from '../parts/section.tsx';
import { turnAddress } from '../parts/time-line.tsx';
import { text } from '../text.ts';

const { run: words } = text;

/** The result beside its schema; each value leads to the turns that it was drawn from. */
export function Result({ run }: { readonly run: ConsoleRunDetail }) {
  const { result } = run;
  return (
    <Scroll label={words.result}>
      {result === null && <Text c="dimmed">{whyNone(run)}</Text>}
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.field}</Table.Th>
            <Table.Th>{words.value}</Table.Th>
            <Table.Th>{words.evidence}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(run.result_schema.properties).map(([name, { description }]) => (
            <Table.Tr key={name}>
              <Table.Td miw={130}>
                <Text fw={600} size="sm" className="break">
                  {name}
                </Text>
                <Text size="sm" c="dimmed">
                  {description}
                </Text>
              </Table.Td>
              <Table.Td className="break">
                {result === null ? '–' : shownValue(result[name] as Scalar | undefined)}
              </Table.Td>
              <Table.Td>
                <Evidence field={name} evidence={run.evidence[name]} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
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
