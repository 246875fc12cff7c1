import { Button, Group, NativeSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConsoleAccountSettings, UpdateAccountRequest } from '@trunkcall/contract';
import { useState, type ReactNode } from 'react';
import { ask, read } from '../api.ts';
import { Part } from '../parts/section.tsx';
import { Failure, Loaded, Page } from '../parts/page.tsx';
import { useAccount, useMay } from '../session.tsx';
import { text } from '../text.ts';

const { settings: words } = text;

export default function Settings() {
  const { id, name } = useAccount();
  const query = useQuery({
    queryKey: ['account-settings', id],
    queryFn: () => read<ConsoleAccountSettings>(`/accounts/${id}/settings`),
  });
  const mayManage = useMay('account.manage');
  return (
    <Page title={words.title} about={words.about(name)}>
      {!mayManage && <Text>{words.readOnly}</Text>}
      <Loaded query={query}>
        {(settings) => (
          <Stack key={id} maw={560}>
            <Calling settings={settings} />
            <Limits settings={settings} />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function Calling({ settings: { account, numbers } }: { readonly settings: ConsoleAccountSettings }) {
  const mayManage = useMay('account.manage');
  const [region, setRegion] = useState(account.region);
  const [number, setNumber] = useState(account.default_number ?? '');
  const change = { region: region.trim().toUpperCase(), default_number: number === '' ? null : number };
  const isChanged = change.region !== account.region || change.default_number !== account.default_number;
  return (
    <Form title={words.calling} accountId={account.id} change={change} canSave={mayManage && isChanged}>
      <TextInput
        label={words.region}
        description={words.regionHint}
        disabled={!mayManage}
        required
        maxLength={2}
        w={120}
        styles={{ description: { width: 'max-content', maxWidth: '80vw' } }}
        value={region}
        onChange={(event) => setRegion(event.currentTarget.value)}
      />
      <NativeSelect
        label={words.number}
        description={numbers.length === 0 ? words.noNumbers : undefined}
        disabled={!mayManage || numbers.length === 0}
        data={[
          { value: '', label: words.shared },
          ...numbers.map(({ id, phone }) => ({ value: id, label: phone })),
        ]}
        value={number}
        onChange={(event) => setNumber(event.currentTarget.value)}
      />
    </Form>
  );
}

function Limits({ settings: { account } }: { readonly settings: ConsoleAccountSettings }) {
  const mayManage = useMay('deployment.manage');
  const [calls, setCalls] = useState<string | number>(account.max_active_calls);
  const [inbound, setInbound] = useState<string | number>(account.max_inbound_calls);
  const [tasks, setTasks] = useState<string | number>(account.max_active_tasks ?? '');
  const change = {
    max_active_calls: Number(calls),
    max_inbound_calls: Number(inbound),
    max_active_tasks: tasks === '' ? null : Number(tasks),
  };
  const isChanged =
    change.max_active_calls !== account.max_active_calls ||
    change.max_inbound_calls !== account.max_inbound_calls ||
    change.max_active_tasks !== account.max_active_tasks;
  return (
    <Form
      title={words.limits}
      accountId={account.id}
      change={change}
      canSave={mayManage && isChanged && calls !== '' && inbound !== ''}
    >
      <Text size="sm" c="dimmed">
        {words.limitsAbout}
      </Text>
      <NumberInput
        label={words.calls}
        disabled={!mayManage}
        min={1}
        max={100_000}
        value={calls}
        onChange={setCalls}
      />
      <NumberInput
        label={words.inbound}
        disabled={!mayManage}
        min={1}
        max={100_000}
        value={inbound}
        onChange={setInbound}
      />
      <NumberInput
        label={words.tasks}
        description={words.tasksHint}
        disabled={!mayManage}
        min={1}
        max={1_000}
        value={tasks}
        onChange={setTasks}
      />
    </Form>
  );
}

function Form({
  title,
  accountId,
  change,
  canSave,
  children,
}: {
  readonly title: string;
  readonly accountId: string;
  readonly change: UpdateAccountRequest;
  readonly canSave: boolean;
  readonly children: ReactNode;
}) {
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () => ask('PATCH', `/accounts/${accountId}`, { json: change }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['account-settings', accountId] });
      await client.invalidateQueries({ queryKey: ['accounts'] });
    },
  });
  return (
    <Part title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          {children}
          {save.error !== null && <Failure error={save.error} />}
          <Group>
            <Button type="submit" disabled={!canSave} loading={save.isPending}>
              {text.common.save}
            </Button>
            {save.isSuccess && !canSave && <Text role="status">{words.saved}</Text>}
          </Group>
        </Stack>
      </form>
    </Part>
  );
}
