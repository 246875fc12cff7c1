import { Alert, Button, Group, List, Menu, Tabs, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConsoleGoalDetail, GoalAction } from '@trunkcall/contract';
import { useId, useState } from 'react';
import { Link, useParams } from 'react-router';
import { ask, read } from '../api.ts';
import { hindranceOf } from '../goal/draft-saver.ts';
import { DraftStatus } from '../goal/draft-status.tsx';
import { Editor } from '../goal/editor.tsx';
import { TextNotes } from '../goal/json-editor.tsx';
import { Publish } from '../goal/publish.tsx';
import { TestLab } from '../goal/test-lab.tsx';
import { useDraft } from '../goal/use-draft.ts';
import { Versions } from '../goal/versions.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { GoalState } from '../parts/goal-state.tsx';
import { Failure, Loaded, Page, State } from '../parts/page.tsx';
import { useAccountOf, useMay } from '../session.tsx';
import { text } from '../text.ts';

const { goal: words } = text;

export default function Goal() {
  const { goal: id = '' } = useParams();
  const [loads, setLoads] = useState(0);
  const query = useQuery({
    queryKey: ['goal', id],
    queryFn: () => read<ConsoleGoalDetail>(`/goals/${id}`),
    // An editor begins with what is there now: a revision that is remembered would be somebody else's change.
    gcTime: 0,
  });
  const reload = async () => {
    await query.refetch();
    setLoads((times) => times + 1);
  };
  return (
    <Loaded query={query}>
      {/* A new key begins anew with what the server has. */}
      {(goal) => <GoalPage key={`${goal.id} ${loads}`} goal={goal} onReload={() => void reload()} />}
    </Loaded>
  );
}

function GoalPage({ goal, onReload }: { readonly goal: ConsoleGoalDetail; readonly onReload: () => void }) {
  useAccountOf(goal.account_id);
  const state = useDraft(goal);
  const mayWrite = useMay('goal.write', goal.account_id);
  const mayPublish = useMay('goal.publish', goal.account_id);
  const [publishing, { open, close }] = useDisclosure();
  const reasonId = useId();
  const retired = goal.state === 'retired';
  const readOnly = !mayWrite || retired;
  const hindrance = hindranceOf(state);
  // What is published is what stands on the screen, or nothing.
  const publish = useMutation({ mutationFn: state.flush, onSuccess: (isSaved) => isSaved && open() });
  return (
    <Page
      title={goal.title}
      actions={
        <>
          <Button variant="default" component={Link} to={`/runs?goal=${goal.id}`}>
            {words.runs}
          </Button>
          <Commands goal={goal} />
          {mayPublish && !retired && (
            <Button
              disabled={hindrance !== null}
              aria-describedby={hindrance === null ? undefined : reasonId}
              loading={publish.isPending}
              onClick={() => publish.mutate()}
            >
              {words.publish}
            </Button>
          )}
          {mayPublish && hindrance !== null && (
            <Text id={reasonId} size="sm" w="100%" ta="right">
              {words.hindrances[hindrance]}
            </Text>
          )}
        </>
      }
    >
      <Group gap="lg">
        <GoalState state={goal.state} />
        {!goal.listed && <State tone="quiet">{text.goals.hidden}</State>}
        {goal.published_run_spec !== null && <span>v{goal.published_run_spec.version}</span>}
      </Group>
      {goal.not_ready.length > 0 && (
        <Alert color="red" variant="outline" title={text.goals.notReady}>
          <List size="sm">
            {goal.not_ready.map((reason) => (
              <List.Item key={reason}>{reason}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      <DraftStatus state={state} readOnly={readOnly} onTakeTheirs={onReload} />
      <TextNotes value={state.noteText}>
        {' '}
        <Tabs defaultValue="edit" keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="edit">{words.edit}</Tabs.Tab>
            <Tabs.Tab value="test">{words.test}</Tabs.Tab>
            <Tabs.Tab value="versions">{words.versions}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="edit" pt="md">
            <Editor state={state} readOnly={readOnly} />
          </Tabs.Panel>
          <Tabs.Panel value="test" pt="md">
            <TestLab goalId={goal.id} state={state} mayTest={!readOnly} />
          </Tabs.Panel>
          <Tabs.Panel value="versions" pt="md">
            <Versions goal={goal} />
          </Tabs.Panel>
        </Tabs>
      </TextNotes>
      {publishing && (
        <Publish goalId={goal.id} revision={state.revision} onClose={close} onTakeTheirs={onReload} />
      )}
    </Page>
  );
}

/** The commands that make sense in the Goal's state. */
function commandsOf({
  state,
  listed,
  published_run_spec: published,
}: ConsoleGoalDetail): Exclude<GoalAction, 'publish' | 'retire'>[] {
  if (state === 'retired') return [];
  return [
    ...(state === 'active' ? (['pause'] as const) : []),
    ...(state === 'paused' ? (['resume'] as const) : []),
    listed ? ('hide' as const) : ('list_publicly' as const),
    ...(published === null ? [] : (['unpublish'] as const)),
  ];
}

function Commands({ goal }: { readonly goal: ConsoleGoalDetail }) {
  const client = useQueryClient();
  const mayCommand = useMay('goal.command', goal.account_id);
  const mayRetire = useMay('goal.retire', goal.account_id);
  const [retiring, { open, close }] = useDisclosure();
  const command = useMutation({
    mutationFn: (action: GoalAction) => ask('POST', `/goals/${goal.id}/${action}`),
    onSuccess: () => client.invalidateQueries(),
  });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" loading={command.isPending}>
            {text.common.actions}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component="a" href={`/console/api/goals/${goal.id}/file`}>
            {words.export}
          </Menu.Item>
          {mayCommand &&
            commandsOf(goal).map((action) => (
              <Menu.Item key={action} onClick={() => command.mutate(action)}>
                {words.commands[action]}
              </Menu.Item>
            ))}
          {mayRetire && goal.state !== 'retired' && (
            <Menu.Item onClick={open}>{words.commands.retire}</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {command.error !== null && <Failure error={command.error} />}
      {retiring && (
        <Confirm
          title={words.retireTitle}
          about={words.retireText}
          submit={words.retire}
          onClose={close}
          onConfirm={() => command.mutateAsync('retire')}
        />
      )}
    </>
  );
}
