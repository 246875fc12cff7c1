import { Button, Code, Stack, Text, Title } from '@mantine/core';
import type { OperatorEvidence, Scalar } from '@trunkcall/contract';
import { fieldsOf, type Draft } from '../goal/draft.ts';
import { ResultTable } from '../parts/result-table.tsx';
import { shownValue } from '../parts/section.tsx';
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
  const fields = (fieldsOf(draft.result_schema) ?? []).map(({ name, property }) => ({
    name,
    about: property.description,
    value: shownValue(result[name]),
    evidence: <Evidence field={name} evidence={evidence[name]} onShow={onShow} />,
  }));
  return <ResultTable fields={fields} />;
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
