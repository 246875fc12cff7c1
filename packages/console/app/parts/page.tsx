import { Alert, Button, Center, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { Link } from 'react-router';
import { ApiError, isRefused } from '../api.ts';
import { text } from '../text.ts';
import { nameCells } from './cards.ts';

/** A page: its title, what can be done on it, its content. */
export function Page({
  title,
  actions,
  about,
  children,
}: {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly about?: string;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · ${text.product}`;
  }, [title]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div>
          <Title order={1} size="h2" className="break">
            {title}
          </Title>
          {about !== undefined && <Text c="dimmed">{about}</Text>}
        </div>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </Stack>
  );
}

export function Loading() {
  return (
    <Center p="xl" role="status" aria-label={text.common.loading}>
      <Loader aria-hidden />
    </Center>
  );
}

/** What went wrong, in words. */
function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return text.common.failed;
  if (error.status === 0) return text.common.unreachable;
  if (error.status === 429) return text.common.tooMany;
  return error.message === '' ? text.common.failed : error.message;
}

export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const message = messageOf(error);
  const title = message === text.common.failed ? undefined : text.common.failed;
  return (
    <Alert color="red" variant="outline" role="alert" title={title}>
      <Group>
        <Text>{message}</Text>
        {onRetry !== undefined && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {text.common.retry}
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** What can not be shown: its program did not come, or comes from another version. Only a reload asks for it again. */
export function Broken() {
  return (
    <Alert color="red" variant="outline" role="alert" title={text.common.broken}>
      <Group>
        <Text>{text.common.brokenHint}</Text>
        <Button size="xs" variant="default" onClick={() => window.location.reload()}>
          {text.common.reload}
        </Button>
      </Group>
    </Alert>
  );
}

/** Nothing to show, and what would change that. */
export function Empty({
  title,
  hint,
  children,
}: {
  readonly title: string;
  readonly hint?: string;
  readonly children?: ReactNode;
}) {
  return (
    <Stack align="center" gap="xs" p="xl">
      <Text fw={600} ta="center">
        {title}
      </Text>
      {hint !== undefined && (
        <Text c="dimmed" ta="center">
          {hint}
        </Text>
      )}
      {children}
    </Stack>
  );
}

/**
 * A table that scrolls by itself where it is wider than the screen; reachable by keyboard. On a phone each row becomes a
 * card, whose cells stand under one another with the heads of their columns.
 */
export function Scroll({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const region = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = region;
    if (current === null) return undefined;
    nameCells(current);
    const observer = new MutationObserver(() => nameCells(current));
    observer.observe(current, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, []);
  return (
    <div className="scroll" role="region" aria-label={label} tabIndex={0} ref={region}>
      {children}
    </div>
  );
}

/** The one of several states: a loading, failed, empty or full list. */
export function Loaded<T>({
  query,
  children,
}: {
  readonly query: { data: T | undefined; error: unknown; refetch: () => unknown };
  readonly children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined && !isRefused(query.error)) return children(query.data);
  if (query.error !== null) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  return <Loading />;
}

export function NotFound() {
  return (
    <Page title={text.notFound.title}>
      <Link to="/">{text.notFound.back}</Link>
    </Page>
  );
}

export type Tone = 'good' | 'bad' | 'busy' | 'quiet' | 'warn';

/** A state as a word with a coloured dot: never by colour alone. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return <span className={`state ${tone}`}>{children}</span>;
}
