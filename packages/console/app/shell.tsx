import {
  ActionIcon,
  Alert,
  AppShell,
  Burger,
  Button,
  Group,
  Menu,
  NativeSelect,
  NavLink,
  PasswordInput,
  Stack,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useReducedMotion } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type ReactNode } from 'react';
import { NavLink as RouterLink, useLocation, useNavigate } from 'react-router';
import { ApiError, ask } from './api.ts';
import { useLive, useProlonging } from './live.ts';
import { Dialog } from './parts/dialog.tsx';
import { Failure, State } from './parts/page.tsx';
import { usePlace } from './session.tsx';
import { text } from './text.ts';

const { nav } = text;

/** The frame around every page: where one is, in which account, and as whom. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const isLive = useLive();
  const content = useRef<HTMLElement>(null);
  useProlonging();
  const [opened, { toggle, close }] = useDisclosure();
  const calm = useReducedMotion();
  const { session, account } = usePlace();
  const noAccount = session.person.operator ? nav.noAccounts : nav.noAccount;
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
      transitionDuration={calm ? 0 : 200}
    >
      <a
        href="#content"
        className="skip"
        onClick={(event) => {
          event.preventDefault();
          content.current?.focus();
        }}
      >
        {nav.skip}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={text.common.menu}
            />
            <Text fw={700} size="lg">
              {text.product}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SchemeSwitch />
            <Profile />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="md" aria-label={nav.label} className="navigation">
        <Navigation onNavigate={close} />
      </AppShell.Navbar>
      <AppShell.Main id="content" ref={content} tabIndex={-1}>
        <div role="status">
          {!isLive && (
            <Text size="sm" mb="sm">
              <State tone="warn">{nav.notLive}</State> {nav.notLiveHint}
            </Text>
          )}
        </div>
        {account === null && (
          <Alert variant="outline" mb="md">
            {noAccount}
          </Alert>
        )}
        {children}
      </AppShell.Main>
    </AppShell>
  );
}

/** Pages that belong together, as address and name. */
interface PageGroup {
  readonly name: string | null;
  readonly links: readonly (readonly [string, string])[];
}

function Navigation({ onNavigate }: { readonly onNavigate: () => void }) {
  const { session, account, choose } = usePlace();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const may = (action: string) => account?.actions.some((one) => one === action) ?? false;
  const { operator } = session.person;
  const inAccount = account !== null;
  const groups: readonly PageGroup[] = [
    { name: null, links: inAccount ? [['/', nav.overview]] : [] },
    {
      name: nav.work,
      links: inAccount
        ? [
            ['/goals', nav.goals],
            ['/runs', nav.runs],
            ['/calls', nav.calls],
          ]
        : [],
    },
    {
      name: nav.account,
      links: [
        ...(inAccount
          ? ([
              ['/numbers', nav.numbers],
              ['/webhooks', nav.webhooks],
              ['/keys', nav.keys],
              ['/usage', nav.usage],
            ] as const)
          : []),
        ...(may('person.manage') ? [['/people', nav.people] as const] : []),
        ...(inAccount ? [['/settings', nav.settings] as const] : []),
        ...(may('audit.read') && !operator ? [['/audit', nav.audit] as const] : []),
      ],
    },
    {
      name: nav.deployment,
      links: operator
        ? [
            ['/accounts', nav.accounts],
            ['/trunks', nav.trunks],
            ['/system', nav.system],
            ['/audit', nav.audit],
          ]
        : [],
    },
  ];
  return (
    <Stack gap="xs">
      {account !== null && (
        <NativeSelect
          label={nav.account}
          value={account.id}
          data={session.accounts.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(event) => {
            choose(event.currentTarget.value);
            // What is open is an object of the other account.
            if (pathname.lastIndexOf('/') > 0) void navigate('/');
          }}
        />
      )}
      {groups
        .filter(({ links }) => links.length > 0)
        .map(({ name, links }) => (
          <div key={name} role="group" aria-label={name ?? nav.overview}>
            {name !== null && (
              <Text size="xs" c="dimmed" fw={600} px="sm" pb={2} aria-hidden>
                {name}
              </Text>
            )}
            {links.map(([to, label]) => (
              <NavLink
                key={to}
                component={RouterLink}
                to={to}
                label={label}
                active={isAt(pathname, to)}
                variant="filled"
                py={4}
                onClick={onNavigate}
              />
            ))}
          </div>
        ))}
      {session.environment === 'test' && (
        <Text size="sm" c="dimmed">
          {nav.test}
        </Text>
      )}
    </Stack>
  );
}

/** Whether a page stands behind a link of the navigation. */
function isAt(pathname: string, to: string): boolean {
  if (to === '/') return pathname === '/';
  return pathname.startsWith(to) || (to === '/webhooks' && pathname.startsWith('/deliveries/'));
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={nav.scheme}
      onClick={() => setColorScheme(scheme === 'dark' ? 'light' : 'dark')}
    >
      {scheme === 'dark' ? '☀' : '☾'}
    </ActionIcon>
  );
}

function Profile() {
  const client = useQueryClient();
  const { session } = usePlace();
  const [changing, { open, close }] = useDisclosure();
  const signOut = useMutation({
    mutationFn: () => ask('DELETE', '/session'),
    // What was shown to one person must not be there for the next.
    onSettled: () => client.clear(),
    onSuccess: () => window.location.assign('/console'),
  });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" aria-label={nav.you(session.person.name)} maw={180}>
            <Text span truncate size="sm">
              {session.person.name}
            </Text>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={open}>{nav.password}</Menu.Item>
          <Menu.Item onClick={() => signOut.mutate()}>{nav.signOut}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {changing && <ChangePassword onClose={close} />}
    </>
  );
}

function ChangePassword({ onClose }: { readonly onClose: () => void }) {
  const [present, setPresent] = useState('');
  const [next, setNext] = useState('');
  const change = useMutation({
    mutationFn: () => ask('POST', '/session/password', { json: { password: present, new_password: next } }),
  });
  const wrong = change.error instanceof ApiError && change.error.status === 403;
  return (
    <Dialog title={text.password.title} onClose={onClose}>
      {change.isSuccess ? (
        <Alert variant="outline" role="status">
          {text.password.done}
        </Alert>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate();
          }}
        >
          <Stack>
            <PasswordInput
              label={text.password.present}
              autoComplete="current-password"
              required
              value={present}
              onChange={(event) => setPresent(event.currentTarget.value)}
              error={wrong ? text.password.wrong : undefined}
            />
            <PasswordInput
              label={text.password.next}
              description={text.join.rule}
              autoComplete="new-password"
              required
              minLength={10}
              value={next}
              onChange={(event) => setNext(event.currentTarget.value)}
            />
            {change.error !== null && !wrong && <Failure error={change.error} />}
            <Button type="submit" loading={change.isPending}>
              {text.common.save}
            </Button>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
