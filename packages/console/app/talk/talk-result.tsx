import { Button, Code, Stack, Table, Text, Title } from '@mantine/core';
import type { OperatorEvidence, Scalar } from '@trunkcall/contract';
import { fieldsOf, type Draft } from '../goal/draft.ts';
import { Scroll } from '../parts/page.tsx';
import { text } from '../text.ts';
import { turnId } from './conversation.tsx';
import type { TalkState } from './talk-state.ts';

const { talk: words, run: runWords } = text;

/** How the talk ended, and what a Run of it would show beside its schema. */
export function TalkResult({
  state: { phase, ended, result },
  draft,
  onShow,
}: {
  readonly state: TalkState;
  readonly draft: Draft;
  readonly onShow: (turns: readonly number[]) => void;
}) {
  if (ended === null) return null;
  const { outcome, ended_by: by, note } = ended;
  return (
    <Stack gap="sm">
      <div role="status">
        <Text>
          {words.outcomes[outcome]} {by !== null && words.endedBy[by]} {note}
        </Text>
        {phase === 'drawing' && <Text c="dimmed">{words.drawing}</Text>}
        {result !== null && result.error !== null && (
          <Text>
            {words.none} {result.error.message}{' '}
            {result.error.detail_code !== null && <Code>{result.error.detail_code}</Code>}
          </Text>
        )}
      </div>
      {result !== null && result.result !== null && (
        <section aria-label={words.result}>
          <Title order={3} size="h5" mb="xs">
            {words.result}
          </Title>
          <Fields draft={draft} result={result.result} evidence={result.evidence} onShow={onShow} />
        </section>
      )}
    </Stack>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly result: Readonly<Record<string, Scalar>>;
  readonly evidence: Readonly<Record<string, OperatorEvidence>>;
  readonly onShow: (turns: readonly number[]) => void;
}

function Fields({ draft, result, evidence, onShow }: FieldsProps) {
  const fields = fieldsOf(draft.result_schema) ?? [];
  return (
    <Scroll label={words.result}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{runWords.field}</Table.Th>
            <Table.Th>{runWords.value}</Table.Th>
            <Table.Th>{runWords.evidence}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {fields.map(({ name, property }) => (
            <Table.Tr key={name}>
              <Table.Td>
                <Text fw={600} size="sm" className="break">
                  {name}
                </Text>
                <Text size="sm" c="dimmed">
                  {property.description}
                </Text>
              </Table.Td>
              <Table.Td className="break">{shown(result[name])}</Table.Td>
              <Table.Td>
                <Evidence field={name} evidence={evidence[name]} onShow={onShow} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

function shown(value: Scalar | undefined): string {
  if (value === undefined) return runWords.missing;
  if (typeof value === 'boolean') return value ? text.common.yes : text.common.no;
  return String(value);
}

function Evidence({
  field,
  evidence,
  onShow,
}: {
  readonly field: string;
  readonly evidence: OperatorEvidence | undefined;
  readonly onShow: (turns: readonly number[]) => void;
}) {
  const [first] = evidence?.turns ?? [];
  if (evidence === undefined || first === undefined) return '–';
  const open = () => {
    onShow(evidence.turns);
    document.getElementById(turnId(first))?.focus();
  };
  return (
    <Stack gap={2} align="flex-start">
      <Text size="sm" className="break">
        “{evidence.quote}”
      </Text>
      <Button size="compact-sm" variant="default" aria-label={runWords.showTurn(field, first)} onClick={open}>
        {runWords.turn(first)}
      </Button>
    </Stack>
  );
}
