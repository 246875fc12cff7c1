import { Code, Paper, Stack, Table, Text, Title } from '@mantine/core';
import type { Scalar } from '@trunkcall/contract';
import type { ReactNode } from 'react';
import { text } from '../text.ts';
import { Copy } from './secret.tsx';

/** A titled part of a page. */
export function Part({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about?: string;
  readonly children: ReactNode;
}) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title} miw={0}>
      <Stack gap={0} mb="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {about !== undefined && (
          <Text size="sm" c="dimmed">
            {about}
          </Text>
        )}
      </Stack>
      {children}
    </Paper>
  );
}

/** Facts by name. `empty` says that there are none. */
export function Values({
  values,
  empty = '–',
}: {
  readonly values: Readonly<Record<string, ReactNode>>;
  readonly empty?: string;
}) {
  const entries = Object.entries(values);
  if (entries.length === 0) return <Text c="dimmed">{empty}</Text>;
  return (
    <Table>
      <Table.Tbody>
        {entries.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400} w="35%" miw={120} className="break">
              {name}
            </Table.Th>
            <Table.Td className="break">{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** A scalar as people read it. */
export function shownValue(value: Scalar | undefined): string {
  if (value === undefined) return text.run.missing;
  if (typeof value === 'boolean') return value ? text.common.yes : text.common.no;
  return String(value);
}

/** Text of a program: scrolled by keyboard where it is long, never run or interpreted. */
export function Verbatim({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    <Code block className="pre verbatim" tabIndex={0} role="region" aria-label={label}>
      {children}
    </Code>
  );
}

/** A command to be copied into a shell. */
export function Command({
  label,
  hint,
  command,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly command: string;
}) {
  return (
    <Stack gap="xs" align="stretch">
      {hint !== undefined && (
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
      )}
      <Verbatim label={label}>{command}</Verbatim>
      <Copy value={command} />
    </Stack>
  );
}
