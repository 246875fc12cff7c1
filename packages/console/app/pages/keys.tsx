import { Button, Checkbox, Code, Group, NativeSelect, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConsoleKeyRequest, CreatedKey, OperatorKey, OperatorList, Scope } from '@trunkcall/contract';
import { useState } from 'react';
import { ask, read } from '../api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Empty, Failure, Loaded, Page, Scroll, State } from '../parts/page.tsx';
import { Secret } from '../parts/secret.tsx';
import { useAccount, useMay } from '../session.tsx';
import { show, text } from '../text.ts';

const { keys: words } = text;

export default function Keys() {
  const { id } = useAccount();
  const mayManage = useMay('key.manage');
  const [creating, { open, close }] = useDisclosure();
  const query = useQuery({
    queryKey: ['keys', id],
    queryFn: () => read<OperatorList<OperatorKey>>(`/accounts/${id}/keys`),
  });
  return (
    <Page
      title={words.title}
      about={words.about}
      actions={mayManage && <Button onClick={open}>{words.create}</Button>}
    >
      <Loaded query={query}>
        {({ data }) => (data.length === 0 ? <Empty title={words.empty} /> : <KeyTable keys={data} />)}
      </Loaded>
      {creating && <CreateKey onClose={close} />}
    </Page>
  );
}

function stateOf({ revoked_at, expires_at }: OperatorKey): 'good' | 'revoked' | 'expired' {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'good';
}

const dayMs = 86_400_000;

/** What its owner should do about a valid key, most urgent first; null when nothing. */
function hintOf(key: OperatorKey): keyof typeof words.hints | null {
  if (stateOf(key) !== 'good') return null;
  const daysSince = (time: string) => (Date.now() - Date.parse(time)) / dayMs;
  if (key.expires_at !== null && -daysSince(key.expires_at) < 30) return 'expiresSoon';
  if (daysSince(key.last_used_at ?? key.created_at) > 90) return 'unused';
  return daysSince(key.created_at) > 365 ? 'old' : null;
}

function Hint({ of }: { readonly of: OperatorKey }) {
  const hint = hintOf(of);
  return hint === null ? null : (
    <Text size="xs" mt={4} maw={320}>
      {words.hints[hint]}
    </Text>
  );
}

function KeyTable({ keys }: { readonly keys: readonly OperatorKey[] }) {
  const client = useQueryClient();
  const mayManage = useMay('key.manage');
  const [revoking, setRevoking] = useState<string | null>(null);
  const revoke = async (id: string) => {
    await ask('POST', `/keys/${id}/revoke`);
    await client.invalidateQueries({ queryKey: ['keys'] });
  };
  return (
    <Scroll label={words.title}>
      <Table className="wrap-heads">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.id}</Table.Th>
            <Table.Th>{words.state}</Table.Th>
            <Table.Th>{words.scopes}</Table.Th>
            <Table.Th>{words.created}</Table.Th>
            <Table.Th>{words.expires}</Table.Th>
            <Table.Th>{words.lastUsed}</Table.Th>
            {mayManage && <Table.Th>{text.common.actions}</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => (
            <Table.Tr key={key.id}>
              <Table.Td className="break" miw={150}>
                <Code>{key.id}</Code>
                <Hint of={key} />
              </Table.Td>
              <Table.Td>
                <State tone={stateOf(key) === 'good' ? 'good' : 'quiet'}>{words.states[stateOf(key)]}</State>
              </Table.Td>
              <Table.Td miw={150}>{key.scopes.map((scope) => words.scopeNames[scope]).join(', ')}</Table.Td>
              <Table.Td miw={100}>{show.dateTime(key.created_at)}</Table.Td>
              <Table.Td miw={100}>
                {key.expires_at === null ? text.common.never : show.dateTime(key.expires_at)}
              </Table.Td>
              <Table.Td miw={100}>
                {key.last_used_at === null ? text.common.never : show.dateTime(key.last_used_at)}
              </Table.Td>
              {mayManage && (
                <Table.Td>
                  {stateOf(key) === 'good' && (
                    <Button size="xs" variant="default" onClick={() => setRevoking(key.id)}>
                      {words.revoke}
                    </Button>
                  )}
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {revoking !== null && (
        <Confirm
          title={words.revokeTitle}
          about={words.revokeText}
          submit={words.revoke}
          onClose={() => setRevoking(null)}
          onConfirm={() => revoke(revoking)}
        />
      )}
    </Scroll>
  );
}

type Lifetime = keyof typeof words.lifetimes;

function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [scopes, setScopes] = useState<string[]>(['goals:read', 'runs:write', 'runs:read']);
  const [lifetime, setLifetime] = useState<Lifetime>('365');
  const create = useMutation({
    mutationFn: () => {
      const expires =
        lifetime === 'never' ? null : new Date(Date.now() + Number(lifetime) * dayMs).toISOString();
      const json: ConsoleKeyRequest = { scopes: scopes as Scope[], expires_at: expires };
      return ask<CreatedKey>('POST', `/accounts/${id}/keys`, { json });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['keys'] }),
    // Nothing of the program keeps the key once it was shown.
    gcTime: 0,
  });
  return (
    <Dialog title={create.data === undefined ? words.create : words.onceTitle} onClose={onClose}>
      {create.data !== undefined ? (
        <Secret about={words.once} value={create.data.key} />
      ) : (
        <Stack>
          <Checkbox.Group label={words.scopes} value={scopes} onChange={setScopes}>
            <Stack gap="xs" mt="xs">
              {Object.entries(words.scopeNames).map(([scope, label]) => (
                <Checkbox key={scope} value={scope} label={label} />
              ))}
            </Stack>
          </Checkbox.Group>
          <NativeSelect
            label={words.lifetime}
            value={lifetime}
            data={Object.entries(words.lifetimes).map(([value, label]) => ({ value, label }))}
            onChange={(event) => setLifetime(event.currentTarget.value as Lifetime)}
          />
          {create.error !== null && <Failure error={create.error} />}
          <Group justify="flex-end">
            <Button disabled={scopes.length === 0} loading={create.isPending} onClick={() => create.mutate()}>
              {words.create}
            </Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}
