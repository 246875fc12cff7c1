import { Alert, Button, Group, Paper, SimpleGrid, Stack, Tabs, TextInput, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { DeploymentUsage, UsageByDay, UsageByGoal, UsageCall } from '@trunkcall/contract';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { query, read } from '../api.ts';
import { DayPlot } from '../parts/day-plot.tsx';
import { Empty, Loaded, Page } from '../parts/page.tsx';
import { usePages } from '../parts/pages.ts';
import { Stat } from '../parts/stat.tsx';
import { useAccount, usePlace } from '../session.tsx';
import { show, text } from '../text.ts';
import { Budget } from '../usage/budget.tsx';
import { AccountTable, CallTable, DayTable, GoalTable, sumOf } from '../usage/tables.tsx';

const { usage: words } = text;

interface Days {
  readonly from: string;
  readonly to: string;
}

/** The days stand in the address, so that a view can be sent to somebody. */
export default function Usage() {
  const { id } = useAccount();
  const [search, setSearch] = useSearchParams();
  const days: Days = { ...monthAgo(0), ...daysOf(search) };
  const usage = useQuery({
    queryKey: ['usage', id, 'day', days],
    queryFn: () => read<UsageByDay>(`/accounts/${id}/usage${query({ ...days })}`),
    placeholderData: keepPreviousData,
  });
  const set = (next: Partial<Days>) => setSearch({ ...days, ...next }, { replace: true });
  return (
    <Page title={words.title} about={words.about}>
      <Alert variant="outline" title={words.preview}>
        {words.previewText}
      </Alert>
      <Choice days={days} set={set} />
      <Loaded query={usage}>
        {(data) => (
          <>
            <Totals totals={data.totals} />
            {data.totals.attempts > 0 && (
              <Paper withBorder p="md">
                <Title order={2} size="h4" mb="sm">
                  {words.perDay}
                </Title>
                <DayPlot from={data.from} to={data.to} days={data.data} />
              </Paper>
            )}
            <Sheets days={days} usage={data} />
            <Budget budget={data.budget} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function daysOf(search: URLSearchParams): Partial<Days> {
  const [from, to] = [search.get('from'), search.get('to')];
  return { ...(from !== null && from !== '' && { from }), ...(to !== null && to !== '' && { to }) };
}

/** A month in UTC, whole or until today. */
function monthAgo(months: number): Days {
  const now = new Date();
  const at = (monthOffset: number, day: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + monthOffset, day)).toISOString().slice(0, 10);
  return { from: at(-months, 1), to: months === 0 ? now.toISOString().slice(0, 10) : at(1 - months, 0) };
}

function Choice({ days, set }: { readonly days: Days; readonly set: (next: Partial<Days>) => void }) {
  const day = (name: keyof Days, label: string) => (
    <TextInput
      type="date"
      label={label}
      value={days[name]}
      onChange={(event) => {
        // Empty while a date is typed.
        if (event.currentTarget.value !== '') set({ [name]: event.currentTarget.value });
      }}
    />
  );
  return (
    <Group align="flex-end" gap="sm">
      {day('from', words.from)}
      {day('to', words.to)}
      <Button variant="default" onClick={() => set(monthAgo(0))}>
        {words.thisMonth}
      </Button>
      <Button variant="default" onClick={() => set(monthAgo(1))}>
        {words.lastMonth}
      </Button>
    </Group>
  );
}

function Totals({ totals }: { readonly totals: UsageByDay['totals'] }) {
  const { attempts, answered, carrier_unknown: unknown } = totals;
  const minutes = words.minutes(show.decimal(totals.answered_seconds / 60));
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Stat label={words.model} value={show.money(totals.model)} hint={words.periods(totals.model_periods)} />
      <Stat
        label={words.carrier}
        value={sumOf(totals.carrier, totals)}
        hint={unknown === 0 ? minutes : words.unknownCount(unknown)}
      />
      <Stat label={words.success} value={show.money(totals.success)} hint={words.waived} />
      <Stat label={words.total} value={sumOf(totals.total, totals)} hint={words.calls(attempts, answered)} />
    </SimpleGrid>
  );
}

/** The same sums in tables, for reading and for taking along. */
function Sheets({ days, usage }: { readonly days: Days; readonly usage: UsageByDay }) {
  const { session } = usePlace();
  const { id } = useAccount();
  const csv = (by: 'day' | 'goal' | 'call') =>
    `/accounts/${id}/usage${query({ ...days, by, format: 'csv' })}`;
  return (
    <Paper withBorder p="md">
      <Tabs defaultValue="day" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="day">{words.sheets.day}</Tabs.Tab>
          <Tabs.Tab value="goal">{words.sheets.goal}</Tabs.Tab>
          <Tabs.Tab value="call">{words.sheets.call}</Tabs.Tab>
          {session.person.operator && <Tabs.Tab value="account">{words.sheets.account}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="day" pt="md">
          <Sheet csv={csv('day')} empty={usage.data.length === 0}>
            <DayTable days={usage.data} />
          </Sheet>
        </Tabs.Panel>
        <Tabs.Panel value="goal" pt="md">
          <Goals days={days} csv={csv('goal')} />
        </Tabs.Panel>
        <Tabs.Panel value="call" pt="md">
          <Calls days={days} csv={csv('call')} />
        </Tabs.Panel>
        <Tabs.Panel value="account" pt="md">
          <Accounts days={days} />
        </Tabs.Panel>
      </Tabs>
    </Paper>
  );
}

function Sheet({
  csv,
  empty,
  children,
}: {
  readonly csv: string;
  readonly empty: boolean;
  readonly children: ReactNode;
}) {
  if (empty) return <Empty title={words.empty} hint={words.emptyHint} />;
  return (
    <Stack gap="sm">
      {children}
      <Group>
        <Button component="a" variant="default" href={`/console/api${csv}`} download>
          {words.download}
        </Button>
      </Group>
    </Stack>
  );
}

function Goals({ days, csv }: { readonly days: Days; readonly csv: string }) {
  const { id } = useAccount();
  const goals = useQuery({
    queryKey: ['usage', id, 'goal', days],
    queryFn: () => read<UsageByGoal>(`/accounts/${id}/usage${query({ ...days, by: 'goal' })}`),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded query={goals}>
      {({ data }) => (
        <Sheet csv={csv} empty={data.length === 0}>
          <GoalTable goals={data} />
        </Sheet>
      )}
    </Loaded>
  );
}

function Calls({ days, csv }: { readonly days: Days; readonly csv: string }) {
  const { id } = useAccount();
  const calls = usePages<UsageCall>(
    ['usage', id, 'call', days],
    (after) => `/accounts/${id}/usage${query({ ...days, by: 'call', limit: '50', after })}`,
  );
  return (
    <Loaded query={calls}>
      {(list) => (
        <Sheet csv={csv} empty={list.length === 0}>
          <CallTable calls={list} />
          {calls.hasMore && (
            <Group>
              <Button variant="default" loading={calls.loadingMore} onClick={calls.more}>
                {text.common.more}
              </Button>
            </Group>
          )}
        </Sheet>
      )}
    </Loaded>
  );
}

function Accounts({ days }: { readonly days: Days }) {
  const accounts = useQuery({
    queryKey: ['usage', 'accounts', days],
    queryFn: () => read<DeploymentUsage>(`/usage${query({ ...days })}`),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded query={accounts}>
      {({ data }) => (
        <Sheet csv={`/usage${query({ ...days, format: 'csv' })}`} empty={data.length === 0}>
          <AccountTable accounts={data} />
        </Sheet>
      )}
    </Loaded>
  );
}
