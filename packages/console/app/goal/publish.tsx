import { Alert, Button, Checkbox, Group, List, Stack, Table, Tabs, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConsoleGoal, GoalFile, PublicationPreview } from '@trunkcall/contract';
import { lazy, Suspense, useState } from 'react';
import { ask, read } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure, Loaded, Loading, Scroll, State } from '../parts/page.tsx';
import { text } from '../text.ts';

const { publish: words } = text;
const Difference = lazy(() => import('../parts/difference.tsx'));

interface PublishProps {
  readonly goalId: string;
  /** Of the draft on the screen. */
  readonly revision: number;
  readonly onClose: () => void;
  readonly onTakeTheirs: () => void;
}

/** What publishing would do, and the button that does it. */
export function Publish({ goalId, revision, onClose, onTakeTheirs }: PublishProps) {
  const preview = useQuery({
    queryKey: ['publication', goalId],
    queryFn: () => read<PublicationPreview>(`/goals/${goalId}/publication`),
    gcTime: 0,
    staleTime: 0,
  });
  const title = words.title(preview.data?.next_version ?? 1);
  return (
    <Dialog title={title} size="xl" onClose={onClose}>
      <Loaded query={preview}>
        {(data) =>
          data.revision === revision ? (
            <Preview goalId={goalId} preview={data} onClose={onClose} />
          ) : (
            <Alert color="red" variant="outline" title={text.goal.conflictTitle} role="alert">
              <Button size="xs" variant="default" onClick={onTakeTheirs}>
                {text.goal.takeTheirs}
              </Button>
            </Alert>
          )
        }
      </Loaded>
    </Dialog>
  );
}

function Preview({
  goalId,
  preview,
  onClose,
}: {
  readonly goalId: string;
  readonly preview: PublicationPreview;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [acknowledged, setAcknowledged] = useState(false);
  const submit = useMutation({
    mutationFn: () => ask<ConsoleGoal>('POST', `/goals/${goalId}/publish`, { revision: preview.revision }),
    onSuccess: async () => {
      await client.invalidateQueries();
      onClose();
    },
  });
  const { problems, changes } = preview;
  const breaking = changes?.some((change) => change.breaking) ?? false;
  const mayPublish = problems.length === 0 && (!breaking || acknowledged);
  return (
    <Stack>
      <Checklist preview={preview} />
      {changes !== null && <Changes changes={changes} />}
      {preview.published !== null && problems.length === 0 && (
        <SideBySide before={preview.published} after={preview.draft as GoalFile} />
      )}
      {breaking && (
        <Checkbox
          label={words.acknowledge}
          checked={acknowledged}
          onChange={(event) => setAcknowledged(event.currentTarget.checked)}
        />
      )}
      {submit.error !== null && <Failure error={submit.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {text.common.cancel}
        </Button>
        <Button disabled={!mayPublish} loading={submit.isPending} onClick={() => submit.mutate()}>
          {words.submit}
        </Button>
      </Group>
    </Stack>
  );
}

function Checklist({
  preview: { problems, not_ready, changes, published },
}: {
  readonly preview: PublicationPreview;
}) {
  const breaking = changes?.some((change) => change.breaking) ?? false;
  const valid = problems.length === 0;
  return (
    <section aria-label={words.checklist}>
      <Stack gap="xs">
        <State tone={valid ? 'good' : 'bad'}>{valid ? words.valid : words.invalid}</State>
        {!valid && (
          <List size="sm">
            {problems.map(({ pointer, message }) => (
              <List.Item key={`${pointer} ${message}`} className="break">
                {pointer} {message}
              </List.Item>
            ))}
          </List>
        )}
        {valid && (
          <State tone={not_ready.length === 0 ? 'good' : 'warn'}>
            {not_ready.length === 0 ? words.ready : words.notReady}
          </State>
        )}
        {not_ready.map((reason) => (
          <Text key={reason} size="sm">
            {reason}
          </Text>
        ))}
        {valid && published === null && <State tone="good">{words.first}</State>}
        {valid && published !== null && (
          <State tone={breaking ? 'bad' : 'good'}>{breaking ? words.breaking : words.safe}</State>
        )}
      </Stack>
    </section>
  );
}

function Changes({ changes }: { readonly changes: NonNullable<PublicationPreview['changes']> }) {
  if (changes.length === 0) return <Alert variant="outline">{words.noChanges}</Alert>;
  return (
    <Scroll label={words.changes}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.place}</Table.Th>
            <Table.Th>{words.change}</Table.Th>
            <Table.Th>{words.effect}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map(({ pointer, kind, breaking, reason }) => (
            <Table.Tr key={pointer}>
              <Table.Td>{pointer.slice(1).replace('/properties/', ' → ')}</Table.Td>
              <Table.Td>{words.kinds[kind]}</Table.Td>
              <Table.Td>
                <Text size="sm" c={breaking ? 'var(--tc-bad)' : 'dimmed'}>
                  {reason ?? words.harmless}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

const parts = ['instructions', 'input_schema', 'result_schema'] as const;

function SideBySide({ before, after }: { readonly before: GoalFile; readonly after: GoalFile }) {
  const shown = (file: GoalFile, part: (typeof parts)[number]) =>
    part === 'instructions' ? file.instructions : JSON.stringify(file[part], null, 2);
  const titles = {
    instructions: text.goal.sections.instructions,
    input_schema: text.goal.sections.input,
    result_schema: text.goal.sections.result,
  };
  return (
    <section aria-label={words.difference}>
      <Title order={3} size="h5" mb="xs">
        {words.difference}
      </Title>
      <Tabs defaultValue="instructions" keepMounted={false}>
        <Tabs.List>
          {parts.map((part) => (
            <Tabs.Tab key={part} value={part}>
              {titles[part]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {parts.map((part) => (
          <Tabs.Panel key={part} value={part} pt="xs">
            <Suspense fallback={<Loading />}>
              <Difference
                before={shown(before, part)}
                after={shown(after, part)}
                language={part === 'instructions' ? 'text' : 'json'}
                labels={[words.before, words.after]}
              />
            </Suspense>
          </Tabs.Panel>
        ))}
      </Tabs>
    </section>
  );
}
