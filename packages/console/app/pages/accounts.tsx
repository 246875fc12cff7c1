import { Button, Group, NumberInput, Stack, Table, Text, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { OperatorAccount, OperatorList } from '@trunkcall/contract';
import { useState } from 'react';
import { ask, read } from '../api.ts';
import { sessionKey } from '../client.ts';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Failure, Loaded, Page, Scroll, State } from '../parts/page.tsx';
import { usePlace } from '../session.tsx';
import { show, text } from '../text.ts';

const { accounts: words } = text;

export default function Accounts() {
  const { session } = usePlace();
  const [creating, { open, close }] = useDisclosure();
  const query = useQuery({
    queryKey: ['accounts'],
    queryFn: () => read<OperatorList<OperatorAccount>>('/accounts'),
  });
  return (
    <Page
      title={words.title}
      about={words.about}
      actions={session.person.operator && <Button onClick={open}>{words.create}</Button>}
    >
      <Loaded query={query}>
        {({ data }) => (
          <Scroll label={words.title}>
            <Table className="wrap-heads">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{words.name}</Table.Th>
                  <Table.Th ta="right">{words.calls}</Table.Th>
                  <Table.Th>{words.limit}</Table.Th>
                  <Table.Th ta="right">{words.inboundCalls}</Table.Th>
                  <Table.Th>{words.inboundLimit}</Table.Th>
                  <Table.Th>{words.disclosure}</Table.Th>
                  <Table.Th>{words.created}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map((account) => (
                  <Table.Tr key={account.id}>
                    <Table.Td miw={120}>{account.name}</Table.Td>
                    <Table.Td ta="right">{account.active_calls}</Table.Td>
                    <Table.Td>
                      <Limit account={account} of="max_active_calls" />
                    </Table.Td>
                    <Table.Td ta="right">{account.active_inbound_calls}</Table.Td>
                    <Table.Td>
                      <Limit account={account} of="max_inbound_calls" />
                    </Table.Td>
                    <Table.Td>
                      <Disclosure account={account} />
                    </Table.Td>
                    <Table.Td miw={100}>{show.dateTime(account.created_at)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Scroll>
        )}
      </Loaded>
      {creating && <CreateAccount onClose={close} />}
    </Page>
  );
}

function Limit({
  account,
  of,
}: {
  readonly account: OperatorAccount;
  readonly of: 'max_active_calls' | 'max_inbound_calls';
}) {
  const client = useQueryClient();
  const { session } = usePlace();
  const [limit, setLimit] = useState<string | number>(account[of]);
  const save = useMutation({
    mutationFn: () => ask('PATCH', `/accounts/${account.id}`, { json: { [of]: Number(limit) } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['accounts'] }),
  });
  if (!session.person.operator) return account[of];
  return (
    <>
      <Group gap="xs">
        <NumberInput
          aria-label={words.limitOf[of](account.name)}
          min={1}
          max={100_000}
          w={90}
          value={limit}
          onChange={setLimit}
        />
        {Number(limit) !== account[of] && (
          <Button size="xs" loading={save.isPending} onClick={() => save.mutate()}>
            {text.common.save}
          </Button>
        )}
      </Group>
      {save.error !== null && <Failure error={save.error} />}
    </>
  );
}

function Disclosure({ account }: { readonly account: OperatorAccount }) {
  const { session } = usePlace();
  const [changing, { open, close }] = useDisclosure();
  const { off } = account.disclosure;
  return (
    <Group gap="xs">
      <State tone={off ? 'warn' : 'good'}>{off ? words.undisclosed : words.disclosed}</State>
      {session.person.operator && (
        <Button size="compact-sm" variant="default" aria-label={words.changeOf(account.name)} onClick={open}>
          {words.change}
        </Button>
      )}
      {changing && <ChangeDisclosure account={account} onClose={close} />}
    </Group>
  );
}

const leastReason = 10;

function ChangeDisclosure({
  account: { id, name, disclosure },
  onClose,
}: {
  readonly account: OperatorAccount;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [reason, setReason] = useState('');
  const change = useMutation({
    mutationFn: () => {
      const wanted = disclosure.off ? { off: false } : { off: true, reason };
      return ask('PATCH', `/accounts/${id}`, { json: { disclosure: wanted } });
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['accounts'] });
      onClose();
    },
  });
  return (
    <Dialog title={words.disclosureTitle(name)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        <Stack>
          <Text>{words.disclosureAbout}</Text>
          {disclosure.off ? (
            <div>
              <Text c="dimmed" size="sm">
                {words.offSince(disclosure.by ?? words.operatorApi, show.dateTime(disclosure.at))}
              </Text>
              <Text className="break">{disclosure.reason}</Text>
            </div>
          ) : (
            <Textarea
              label={words.reason}
              description={words.reasonHint}
              required
              autosize
              minRows={2}
              maxLength={500}
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
          )}
          {change.error !== null && <Failure error={change.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.common.cancel}
            </Button>
            <Button
              type="submit"
              {...(disclosure.off ? {} : { color: 'red' })}
              disabled={!disclosure.off && reason.trim().length < leastReason}
              loading={change.isPending}
            >
              {disclosure.off ? words.switchOn : words.switchOff}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function CreateAccount({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () => ask('POST', '/accounts', { json: { name } }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['accounts'] });
      await client.invalidateQueries({ queryKey: sessionKey });
      onClose();
    },
  });
  return (
    <Dialog title={words.create} onClose={onClose}>
      <DialogForm work={create} submit={words.create}>
        <TextInput
          label={words.name}
          required
          maxLength={64}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </DialogForm>
    </Dialog>
  );
}
