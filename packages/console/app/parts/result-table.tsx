import { Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { text } from '../text.ts';
import { Scroll } from './page.tsx';

const { run: words } = text;

export interface ResultField {
  readonly name: string;
  /** What the schema says of it. */
  readonly about: string | undefined;
  readonly value: ReactNode;
  /** Where it was drawn from; left out of tables whose results have none. */
  readonly evidence?: ReactNode;
}

/** A result beside its schema; `note` says why there is none. */
export function ResultTable({
  fields,
  note = null,
}: {
  readonly fields: readonly ResultField[];
  readonly note?: string | null;
}) {
  const withEvidence = fields.some(({ evidence }) => evidence !== undefined);
  return (
    <Scroll label={words.result}>
      {note !== null && <Text c="dimmed">{note}</Text>}
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.field}</Table.Th>
            <Table.Th>{words.value}</Table.Th>
            {withEvidence && <Table.Th>{words.evidence}</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {fields.map(({ name, about, value, evidence }) => (
            <Table.Tr key={name}>
              <Table.Td miw={130}>
                <Text fw={600} size="sm" className="break">
                  {name}
                </Text>
                <Text size="sm" c="dimmed" className="break">
                  {about}
                </Text>
              </Table.Td>
              <Table.Td className="break">{value}</Table.Td>
              {withEvidence && <Table.Td>{evidence}</Table.Td>}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}
