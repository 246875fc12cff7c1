import { Alert, Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ConsoleLink } from '@trunkcall/contract';
import { useState } from 'react';
import { ApiError, ask } from '../api.ts';
import { Failure, Loading } from '../parts/page.tsx';
import { text } from '../text.ts';

const { join } = text;

/** Where a one-time link leads; its secret stands behind `#`, which no server sees. */
export function Join() {
  const [token] = useState(() => window.location.hash.slice(1));
  const link = useQuery({
    queryKey: ['link'],
    queryFn: () => ask<ConsoleLink>('POST', '/links/look', { json: { token } }),
    staleTime: Infinity,
  });
  const gone = link.error instanceof ApiError && [400, 404].includes(link.error.status);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={440}>
        {link.data !== undefined && <JoinForm link={link.data} token={token} />}
        {gone && <Gone />}
        {link.error !== null && !gone && <Failure error={link.error} onRetry={() => void link.refetch()} />}
        {link.isPending && <Loading />}
      </Paper>
    </Center>
  );
}

function Gone() {
  return (
    <Stack>
      <Title order={1} size="h3">
        {text.product}
      </Title>
      <Alert variant="outline" color="red">
        {join.gone}
      </Alert>
      <Text size="sm" c="dimmed">
        {join.goneFirst}
      </Text>
      <a href="/console">{join.toSignIn}</a>
    </Stack>
  );
}

function JoinForm({ link, token }: { readonly link: ConsoleLink; readonly token: string }) {
  const [email, setEmail] = useState(link.email ?? '');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const isNew = link.purpose === 'first_person' || link.purpose === 'invitation';
  const isKnown = link.purpose === 'role';
  const submit = useMutation({
    mutationFn: () =>
      ask('POST', '/links/follow', {
        json: { token, password, ...(isNew ? { name } : {}), ...(link.email === null ? { email } : {}) },
      }),
    // A full load, so that nothing of the link stays in memory or in the address.
    onSuccess: () => window.location.replace('/console'),
  });
  const titles = {
    first_person: join.firstTitle,
    invitation: join.invitedTitle,
    role: join.roleTitle,
    new_password: join.resetTitle,
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit.mutate();
      }}
    >
      <Stack>
        <Title order={1} size="h3">
          {titles[link.purpose]}
        </Title>
        {link.purpose === 'first_person' && <Text>{join.first}</Text>}
        {link.purpose === 'invitation' && link.role !== null && (
          <Text>{join.invited(text.roles[link.role])}</Text>
        )}
        {isKnown && link.role !== null && <Text>{join.role(text.roles[link.role])}</Text>}
        <TextInput
          label={text.signIn.email}
          type="email"
          autoComplete="username"
          required
          readOnly={link.email !== null}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        {isNew && (
          <TextInput
            label={join.name}
            autoComplete="name"
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
        <PasswordInput
          label={join.password}
          description={isKnown ? undefined : join.rule}
          autoComplete={isKnown ? 'current-password' : 'new-password'}
          required
          minLength={10}
          maxLength={200}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {submit.error !== null && <Failure error={submit.error} />}
        <Button type="submit" loading={submit.isPending}>
          {join.submit}
        </Button>
      </Stack>
    </form>
  );
}
