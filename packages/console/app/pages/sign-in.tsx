import { Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError, ask } from '../api.ts';
import { Failure } from '../parts/page.tsx';
import { text } from '../text.ts';

const { signIn } = text;

export function SignIn({ onDone }: { readonly onDone: () => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const submit = useMutation({
    mutationFn: () => ask('POST', '/session', { json: { email, password } }),
    onSuccess: onDone,
  });
  const wrong = submit.error instanceof ApiError && submit.error.status === 401;
  useEffect(() => {
    document.title = signIn.title;
  }, []);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={400}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            submit.mutate();
          }}
        >
          <Stack>
            <Title order={1} size="h3">
              {signIn.title}
            </Title>
            <TextInput
              label={signIn.email}
              type="email"
              autoComplete="username"
              required
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <PasswordInput
              label={signIn.password}
              autoComplete="current-password"
              required
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
              error={wrong ? signIn.wrong : undefined}
            />
            {submit.error !== null && !wrong && <Failure error={submit.error} />}
            <Button type="submit" loading={submit.isPending}>
              {signIn.submit}
            </Button>
            <Text size="sm" c="dimmed">
              {signIn.lost}
            </Text>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
