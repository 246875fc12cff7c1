import { Alert, Anchor, Button, FileButton, Group, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ConsoleGoal, GoalFileProblem } from '@trunkcall/contract';
import { useEffect, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { ask, query } from '../api.ts';
import { newGoal } from '../goal/draft.ts';
import { CodeEditor } from '../parts/code-editor.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { GoalState } from '../parts/goal-state.tsx';
import { Empty, Failure, Loaded, Page, Scroll, State } from '../parts/page.tsx';
import { usePages } from '../parts/pages.ts';
import { useAccount, useMay } from '../session.tsx';
import { show, text } from '../text.ts';

const { goals: words } = text;

export default function Goals() {
  const { id } = useAccount();
  const mayWrite = useMay('goal.write');
  const [importing, { open, close }] = useDisclosure();
  const goals = usePages<ConsoleGoal>(['goals', id], (after) => `/accounts/${id}/goals${query({ after })}`);
  return (
    <Page
      title={words.title}
      actions={
        mayWrite && (
          <>
            <Button variant="default" onClick={open}>
              {words.import}
            </Button>
            <CreateGoal />
          </>
        )
      }
    >
      <Loaded query={goals}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={words.empty} hint={words.emptyHint} />
          ) : (
            <GoalTable goals={list} />
          )
        }
      </Loaded>
      {goals.hasMore && (
        <Button variant="default" loading={goals.loadingMore} onClick={goals.more}>
          {text.common.more}
        </Button>
      )}
      {importing && <Import onClose={close} />}
    </Page>
  );
}

function GoalTable({ goals }: { readonly goals: readonly ConsoleGoal[] }) {
  return (
    <Scroll label={words.title}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.name}</Table.Th>
            <Table.Th>{words.state}</Table.Th>
            <Table.Th>{words.version}</Table.Th>
            <Table.Th>{words.changed}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {goals.map((goal) => (
            <Table.Tr key={goal.id}>
              <Table.Td miw={150}>
                <Anchor component={Link} to={`/goals/${goal.id}`} underline="always">
                  {goal.title}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <Group gap="md">
                  <GoalState state={goal.state} />
                  {!goal.listed && <State tone="quiet">{words.hidden}</State>}
                  {goal.not_ready.length > 0 && <State tone="bad">{words.notReady}</State>}
                </Group>
              </Table.Td>
              <Table.Td>
                <Group gap="md">
                  {goal.published_run_spec === null
                    ? words.unpublished
                    : `v${goal.published_run_spec.version}`}
                  {goal.published_run_spec !== null && goal.changed && (
                    <Text size="sm" c="dimmed">
                      {words.hasChanges}
                    </Text>
                  )}
                </Group>
              </Table.Td>
              <Table.Td className="nowrap">{show.dateTime(goal.updated_at)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

function useCreate() {
  const { id } = useAccount();
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (file: string) => ask<ConsoleGoal>('POST', `/accounts/${id}/goals`, { file }),
    onSuccess: async (goal) => {
      await client.invalidateQueries({ queryKey: ['goals'] });
      void navigate(`/goals/${goal.id}`);
    },
  });
}

function CreateGoal() {
  const create = useCreate();
  return (
    <Button loading={create.isPending} onClick={() => create.mutate(JSON.stringify(newGoal(words.create)))}>
      {words.create}
    </Button>
  );
}

const checkAfterMs = 400;

/** A Goal file, from the disk or pasted, checked as it is typed by what would take it in. */
function Import({ onClose }: { readonly onClose: () => void }) {
  const create = useCreate();
  const [file, setFile] = useState('');
  const [problems, setProblems] = useState<readonly GoalFileProblem[]>([]);
  useEffect(() => {
    if (file.trim() === '') return undefined;
    const timer = setTimeout(() => {
      ask<{ problems: readonly GoalFileProblem[] }>('POST', '/goals/check', { file }).then(
        (checked) => setProblems(checked.problems),
        () => undefined,
      );
    }, checkAfterMs);
    return () => clearTimeout(timer);
  }, [file]);
  return (
    <Dialog title={words.import} size="xl" onClose={onClose}>
      <Stack>
        <Text>{words.importHint}</Text>
        <Group>
          <FileButton accept=".yaml,.yml,.json" onChange={(chosen) => void chosen?.text().then(setFile)}>
            {(props) => (
              <Button variant="default" {...props}>
                {words.file}
              </Button>
            )}
          </FileButton>
        </Group>
        <CodeEditor
          label={words.importLabel}
          language="text"
          value={file}
          onChange={setFile}
          problems={file.trim() === '' ? [] : problems}
          minLines={12}
        />
        {create.error !== null && <Failure error={create.error} />}
        {problems.length > 0 && (
          <Alert color="red" variant="outline">
            {text.goal.problems(problems.length)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {text.common.cancel}
          </Button>
          <Button
            disabled={file.trim() === ''}
            loading={create.isPending}
            onClick={() => create.mutate(file)}
          >
            {words.importDo}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
