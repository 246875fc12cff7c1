import { Button, Group, NativeSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConsoleAccountSettings, UpdateAccountRequest } from '@trunkcall/contract';
import { type ReactNode } from 'react';
import { ask, read } from '../api.ts';
import { differing, useEdits } from '../parts/edits.ts';
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
  const { shown, edit, forget } = useEdits({ region: account.region, number: account.default_number ?? '' });
  const change = differing<UpdateAccountRequest>(
    {
      region: shown.region.trim().toUpperCase(),
      default_number: shown.number === '' ? null : shown.number,
    },
    account,
  );
  return (
    <Form
      title={words.calling}
      accountId={account.id}
      change={change}
      canSave={mayManage && isChange(change)}
      onSaved={forget}
    >
      <TextInput
        label={words.region}
        description={words.regionHint}
        disabled={!mayManage}
        required
        maxLength={2}
        w={120}
        styles={{ description: { width: 'max-content', maxWidth: '80vw' } }}
        value={shown.region}
        onChange={(event) => edit({ region: event.currentTarget.value })}
      />
      <NativeSelect
        label={words.number}
        description={numbers.length === 0 ? words.noNumbers : undefined}
        disabled={!mayManage || numbers.length === 0}
        data={[
          { value: '', label: words.shared },
          ...numbers.map(({ id, phone }) => ({ value: id, label: phone })),
        ]}
        value={shown.number}
        onChange={(event) => edit({ number: event.currentTarget.value })}
      />
    </Form>
  );
}

function Limits({ settings: { account } }: { readonly settings: ConsoleAccountSettings }) {
  const mayManage = useMay('deployment.manage');
  const { shown, edit, forget } = useEdits<Record<'calls' | 'inbound' | 'tasks', string | number>>({
    calls: account.max_active_calls,
    inbound: account.max_inbound_calls,
    tasks: account.max_active_tasks ?? '',
  });
  const { calls, inbound, tasks } = shown;
  const change = differing<UpdateAccountRequest>(
    {
      max_active_calls: Number(calls),
      max_inbound_calls: Number(inbound),
      max_active_tasks: tasks === '' ? null : Number(tasks),
    },
    account,
  );
  return (
    <Form
      title={words.limits}
      accountId={account.id}
      change={change}
      canSave={mayManage && isChange(change) && calls !== '' && inbound !== ''}
      onSaved={forget}
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
        onChange={(value) => edit({ calls: value })}
      />
      <NumberInput
        label={words.inbound}
        disabled={!mayManage}
        min={1}
        max={100_000}
        value={inbound}
        onChange={(value) => edit({ inbound: value })}
      />
      <NumberInput
        label={words.tasks}
        description={words.tasksHint}
        disabled={!mayManage}
        min={1}
        max={1_000}
        value={tasks}
        onChange={(value) => edit({ tasks: value })}
      />
    </Form>
  );
}

const isChange = (change: UpdateAccountRequest): boolean => Object.keys(change).length > 0;

function Form({
  title,
  accountId,
  change,
  canSave,
  onSaved,
  children,
}: {
  readonly title: string;
  readonly accountId: string;
  readonly change: UpdateAccountRequest;
  readonly canSave: boolean;
  readonly onSaved: () => void;
  readonly children: ReactNode;
}) {
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () => ask('PATCH', `/accounts/${accountId}`, { json: change }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['account-settings', accountId] });
      await client.invalidateQueries({ queryKey: ['accounts'] });
      onSaved();
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
