import { Alert, Button, Menu, NativeSelect, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  ConsoleRole,
  OperatorInvitation,
  OperatorList,
  OperatorPerson,
  PersonLink,
} from '@trunkcall/contract';
import { useState } from 'react';
import { ask, read } from '../api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Failure, Loaded, Page, Scroll } from '../parts/page.tsx';
import { SavedChoice } from '../parts/saved-choice.tsx';
import { Secret } from '../parts/secret.tsx';
import { useAccount, usePlace } from '../session.tsx';
import { show, text } from '../text.ts';

const { people: words } = text;

export default function People() {
  const { id } = useAccount();
  const [inviting, { open, close }] = useDisclosure();
  const query = useQuery({
    queryKey: ['people', id],
    queryFn: () => read<OperatorList<OperatorPerson>>(`/accounts/${id}/people`),
  });
  const invitations = useQuery({
    queryKey: ['people', id, 'invitations'],
    queryFn: () => read<OperatorList<OperatorInvitation>>(`/accounts/${id}/invitations`),
  });
  return (
    <Page title={words.title} actions={<Button onClick={open}>{words.invite}</Button>}>
      <Loaded query={query}>{({ data }) => <PeopleTable people={data} />}</Loaded>
      <Loaded query={invitations}>
        {({ data }) => (data.length === 0 ? null : <Invitations invitations={data} />)}
      </Loaded>
      {inviting && <Invite onClose={close} />}
    </Page>
  );
}

const accountRoles = ['viewer', 'author', 'owner'] as const;

function PeopleTable({ people }: { readonly people: readonly OperatorPerson[] }) {
  return (
    <Scroll label={words.title}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.name}</Table.Th>
            <Table.Th>{words.email}</Table.Th>
            <Table.Th>{words.role}</Table.Th>
            <Table.Th>{words.since}</Table.Th>
            <Table.Th>{text.common.actions}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {people.map((person) => (
            <PersonRow key={person.id} person={person} />
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

function Invitations({ invitations }: { readonly invitations: readonly OperatorInvitation[] }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const [withdrawn, setWithdrawn] = useState<string | null>(null);
  const withdraw = async () => {
    await ask('POST', `/accounts/${id}/invitations/withdraw`, { json: { email: withdrawn } });
    await client.invalidateQueries({ queryKey: ['people'] });
  };
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {words.invitations}
      </Title>
      <Scroll label={words.invitations}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.email}</Table.Th>
              <Table.Th>{words.role}</Table.Th>
              <Table.Th>{words.until}</Table.Th>
              <Table.Th>{text.common.actions}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {invitations.map(({ email, role, created_at, expires_at }) => (
              <Table.Tr key={`${email} ${created_at}`}>
                <Table.Td>{email}</Table.Td>
                <Table.Td>{text.roles[role]}</Table.Td>
                <Table.Td className="nowrap">{show.dateTime(expires_at)}</Table.Td>
                <Table.Td>
                  <Button size="xs" variant="default" onClick={() => setWithdrawn(email)}>
                    {words.withdraw}
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Scroll>
      {withdrawn !== null && (
        <Confirm
          title={words.withdrawTitle(withdrawn)}
          about={words.withdrawText}
          submit={words.withdraw}
          onClose={() => setWithdrawn(null)}
          onConfirm={withdraw}
        />
      )}
    </Stack>
  );
}

function PersonRow({ person }: { readonly person: OperatorPerson }) {
  const { session } = usePlace();
  const account = useAccount();
  const client = useQueryClient();
  const place = `/accounts/${account.id}/people/${person.id}`;
  const refresh = () => client.invalidateQueries({ queryKey: ['people'] });
  const setRole = useMutation({
    mutationFn: (role: string) => ask('PUT', place, { json: { role } }),
    onSettled: refresh,
  });
  const takeOut = useMutation({ mutationFn: () => ask('DELETE', place), onSettled: refresh });
  const reset = useMutation({
    mutationFn: () => ask<PersonLink>('POST', `/people/${person.id}/password-link`),
    gcTime: 0,
  });
  const [leaving, { open: leave, close: stay }] = useDisclosure();
  const [expelling, { open, close }] = useDisclosure();
  const expel = async () => {
    await ask('DELETE', `/people/${person.id}`);
    await refresh();
  };
  const [ownRole, setOwnRole] = useState<string | null>(null);
  const isYou = person.id === session.person.id;
  const error = setRole.error ?? takeOut.error ?? reset.error;
  return (
    <Table.Tr>
      <Table.Td miw={130}>
        {person.name}{' '}
        {isYou && (
          <Text span inherit c="dimmed">
            ({words.you})
          </Text>
        )}
      </Table.Td>
      <Table.Td>{person.email}</Table.Td>
      <Table.Td miw={130}>
        {person.operator ? (
          text.roles.operator
        ) : (
          <SavedChoice
            label={words.roleOf(person.name)}
            value={person.role ?? 'viewer'}
            saving={setRole.isPending}
            options={accountRoles.map((role) => ({ value: role, label: text.roles[role] }))}
            onSave={(role) => (isYou ? setOwnRole(role) : setRole.mutate(role))}
          />
        )}
        {error !== null && <Failure error={error} />}
      </Table.Td>
      <Table.Td className="nowrap">{show.dateTime(person.created_at)}</Table.Td>
      <Table.Td>
        <Menu position="bottom-end">
          <Menu.Target>
            <Button size="xs" variant="default">
              {text.common.actions}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {person.role !== null && (
              <Menu.Item onClick={() => (isYou ? leave() : takeOut.mutate())}>{words.remove}</Menu.Item>
            )}
            {session.person.operator && <Menu.Item onClick={() => reset.mutate()}>{words.reset}</Menu.Item>}
            {session.person.operator && <Menu.Item onClick={open}>{words.expel}</Menu.Item>}
          </Menu.Dropdown>
        </Menu>
        {reset.data !== undefined && <LinkShown link={reset.data} onClose={() => reset.reset()} />}
        {ownRole !== null && (
          <Confirm
            title={words.ownTitle}
            about={words.ownText}
            submit={text.common.save}
            onClose={() => setOwnRole(null)}
            onConfirm={() => setRole.mutateAsync(ownRole)}
          />
        )}
        {leaving && (
          <Confirm
            title={words.ownTitle}
            about={words.ownText}
            submit={words.remove}
            onClose={stay}
            onConfirm={() => takeOut.mutateAsync()}
          />
        )}
        {expelling && (
          <Confirm
            title={words.expelTitle(person.name)}
            about={words.expelText}
            submit={text.common.remove}
            onClose={close}
            onConfirm={expel}
          />
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function LinkShown({ link, onClose }: { readonly link: PersonLink; readonly onClose: () => void }) {
  return (
    <Dialog title={words.linkTitle} onClose={onClose}>
      <LinkText link={link} />
    </Dialog>
  );
}

function LinkText({ link: { token, expires_at } }: { readonly link: PersonLink }) {
  if (token === null) {
    return (
      <Alert variant="outline" role="status">
        {words.added}
      </Alert>
    );
  }
  const until = expires_at === null ? '' : show.dateTime(expires_at);
  return <Secret about={words.linkText(until)} value={`${window.location.origin}/console/join#${token}`} />;
}

function Invite({ onClose }: { readonly onClose: () => void }) {
  const { session } = usePlace();
  const { id } = useAccount();
  const client = useQueryClient();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<ConsoleRole>('author');
  const roles: readonly ConsoleRole[] = session.person.operator
    ? [...accountRoles, 'operator']
    : accountRoles;
  const invite = useMutation({
    mutationFn: () => ask<PersonLink>('POST', `/accounts/${id}/people`, { json: { email, role } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['people'] }),
    gcTime: 0,
  });
  return (
    <Dialog title={words.inviteTitle} onClose={onClose}>
      {invite.data !== undefined ? (
        <LinkText link={invite.data} />
      ) : (
        <DialogForm work={invite} submit={words.invite}>
          <TextInput
            label={words.email}
            type="email"
            required
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <NativeSelect
            label={words.role}
            description={text.rolesAbout[role]}
            value={role}
            data={roles.map((value) => ({ value, label: text.roles[value] }))}
            onChange={(event) => setRole(event.currentTarget.value as ConsoleRole)}
          />
        </DialogForm>
      )}
    </Dialog>
  );
}
