import { Anchor, Button, Group, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ConsoleGoalDetail, GoalFile } from '@trunkcall/contract';
import { useState } from 'react';
import { Link } from 'react-router';
import { read } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Empty, Loaded, Scroll, State } from '../parts/page.tsx';
import { show, text } from '../text.ts';
import { JsonEditor } from './json-editor.tsx';

const { goal: words } = text;

export function Versions({ goal }: { readonly goal: ConsoleGoalDetail }) {
  const [shown, setShown] = useState<number | null>(null);
  if (goal.versions.length === 0) return <Empty title={words.versionsEmpty} />;
  return (
    <>
      <Scroll label={words.versions}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.version}</Table.Th>
              <Table.Th>{words.published}</Table.Th>
              <Table.Th ta="right">{words.pinned}</Table.Th>
              <Table.Th>{text.common.actions}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {goal.versions.map(({ id, version, published_at, runs }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Group gap="sm" wrap="nowrap">
                    {version}
                    {id === goal.published_run_spec?.id && <State tone="good">{words.current}</State>}
                  </Group>
                </Table.Td>
                <Table.Td className="nowrap">{show.dateTime(published_at)}</Table.Td>
                <Table.Td ta="right">
                  <Anchor component={Link} to={`/runs?goal=${goal.id}`} underline="always">
                    {runs}
                  </Anchor>
                </Table.Td>
                <Table.Td>
                  <Group gap="xs" wrap="nowrap">
                    <Button size="xs" variant="default" onClick={() => setShown(version)}>
                      {words.show}
                    </Button>
                    <Button
                      size="xs"
                      variant="default"
                      component="a"
                      href={`/console/api/goals/${goal.id}/file?version=${version}`}
                    >
                      {words.download}
                    </Button>
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Scroll>
      {shown !== null && <Version goalId={goal.id} version={shown} onClose={() => setShown(null)} />}
    </>
  );
}

function Version(props: { readonly goalId: string; readonly version: number; readonly onClose: () => void }) {
  const { goalId, version, onClose } = props;
  const query = useQuery({
    queryKey: ['version', goalId, version],
    queryFn: () => read<GoalFile>(`/goals/${goalId}/versions/${version}`),
    staleTime: Infinity,
  });
  const title = words.versionTitle(version);
  return (
    <Dialog title={title} size="xl" onClose={onClose}>
      <Loaded query={query}>
        {(content) => <JsonEditor label={title} value={content} onChange={undefined} problems={[]} />}
      </Loaded>
    </Dialog>
  );
}
